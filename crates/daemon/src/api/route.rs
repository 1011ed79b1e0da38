// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One [`Route`] for each operation of the API. The router and the OpenAPI document are both made from them: what
//! a handler takes and returns is read from its signature ([`super::shape`]).

use std::sync::Arc;

use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter, on};

use super::shape::{OperationShape, TypedHandler};
use crate::daemon::Daemon;

/// One operation.
#[cfg_attr(not(feature = "schema"), expect(dead_code, reason = "only the OpenAPI document needs all of it"))]
pub(super) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    /// Name of the operation in generated clients.
    pub(super) id: &'static str,
    /// One sentence.
    pub(super) about: &'static str,
    pub(super) headers: &'static [HeaderParameter],
    /// Status of a success.
    pub(super) status: u16,
    /// Statuses of errors.
    pub(super) errors: &'static [u16],
    pub(super) shape: OperationShape,
    pub(super) serve: MethodRouter<Arc<Daemon>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Post,
    Put,
}

/// A header that an operation reads.
#[cfg_attr(not(feature = "schema"), expect(dead_code, reason = "only the OpenAPI document needs it"))]
pub(super) struct HeaderParameter {
    pub(super) name: &'static str,
    /// Its type in JSON Schema.
    pub(super) kind: &'static str,
    pub(super) about: &'static str,
}

// === impl Method ===

impl Method {
    fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Put => MethodFilter::PUT,
        }
    }
}

// === impl Route ===

impl Route {
    fn new<H, M, A>(method: Method, path: &'static str, id: &'static str, handler: H) -> Self
    where
        H: Handler<M, Arc<Daemon>> + TypedHandler<A>,
        M: 'static,
    {
        let (about, headers, status, errors) = ("", &[][..], 200, &[][..]);
        let mut shape = OperationShape::default();
        H::describe(&mut shape);
        let serve = on(method.filter(), handler);
        Self { method, path, id, about, headers, status, errors, shape, serve }
    }

    pub(super) fn get<H, M, A>(path: &'static str, id: &'static str, handler: H) -> Self
    where
        H: Handler<M, Arc<Daemon>> + TypedHandler<A>,
        M: 'static,
    {
        Self::new(Method::Get, path, id, handler)
    }

    pub(super) fn post<H, M, A>(path: &'static str, id: &'static str, handler: H) -> Self
    where
        H: Handler<M, Arc<Daemon>> + TypedHandler<A>,
        M: 'static,
    {
        Self::new(Method::Post, path, id, handler)
    }

    pub(super) fn put<H, M, A>(path: &'static str, id: &'static str, handler: H) -> Self
    where
        H: Handler<M, Arc<Daemon>> + TypedHandler<A>,
        M: 'static,
    {
        Self::new(Method::Put, path, id, handler)
    }

    pub(super) fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    pub(super) fn headers(self, headers: &'static [HeaderParameter]) -> Self {
        Self { headers, ..self }
    }

    pub(super) fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub(super) fn errors(self, errors: &'static [u16]) -> Self {
        Self { errors, ..self }
    }
}
