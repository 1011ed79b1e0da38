// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One [`Route`] for each operation of the API. The router and the OpenAPI document are both made from them: what
//! a handler takes and returns is read from its signature ([`crate::shape`]).

use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter, on};

use crate::shape::{OperationShape, TypedHandler};

/// One operation of the API.
pub struct Route<S> {
    /// Method of the request.
    pub method: OperationMethod,
    /// Path with its variable parts in braces.
    pub path: &'static str,
    /// Name of the operation in generated clients.
    pub id: &'static str,
    /// Description in one sentence.
    pub about: &'static str,
    /// Headers that it reads.
    pub headers: &'static [HeaderParameter],
    /// Status of a success.
    pub status: u16,
    /// Statuses of errors.
    pub errors: &'static [u16],
    /// Types of its parameters and its response.
    pub shape: OperationShape,
    /// Handler of the operation.
    pub serve: MethodRouter<S>,
}

/// Method of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationMethod {
    /// Reads a resource.
    Get,
    /// Changes something or runs an action.
    Post,
    /// Replaces a resource.
    Put,
}

/// A header that an operation reads.
pub struct HeaderParameter {
    /// Name of the header.
    pub name: &'static str,
    /// Its type in JSON Schema.
    pub kind: &'static str,
    /// Description in one sentence.
    pub about: &'static str,
}

// === impl OperationMethod ===

impl OperationMethod {
    fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Put => MethodFilter::PUT,
        }
    }
}

// === impl Route ===

impl<S: Clone + Send + Sync + 'static> Route<S> {
    fn new<H, M, A>(method: OperationMethod, path: &'static str, id: &'static str, handler: H) -> Self
    where
        H: Handler<M, S> + TypedHandler<A>,
        M: 'static,
    {
        let (about, headers, status, errors) = ("", &[][..], 200, &[][..]);
        let mut shape = OperationShape::default();
        H::describe(&mut shape);
        let serve = on(method.filter(), handler);
        Self { method, path, id, about, headers, status, errors, shape, serve }
    }

    /// An operation that reads.
    pub fn get<H, M, A>(path: &'static str, id: &'static str, handler: H) -> Self
    where
        H: Handler<M, S> + TypedHandler<A>,
        M: 'static,
    {
        Self::new(OperationMethod::Get, path, id, handler)
    }

    /// An operation that does something.
    pub fn post<H, M, A>(path: &'static str, id: &'static str, handler: H) -> Self
    where
        H: Handler<M, S> + TypedHandler<A>,
        M: 'static,
    {
        Self::new(OperationMethod::Post, path, id, handler)
    }

    /// An operation that replaces a resource.
    pub fn put<H, M, A>(path: &'static str, id: &'static str, handler: H) -> Self
    where
        H: Handler<M, S> + TypedHandler<A>,
        M: 'static,
    {
        Self::new(OperationMethod::Put, path, id, handler)
    }

    /// Says what it is for.
    #[must_use]
    pub fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// Names the headers that it reads.
    #[must_use]
    pub fn headers(self, headers: &'static [HeaderParameter]) -> Self {
        Self { headers, ..self }
    }

    /// Status of a success, if it is not 200.
    #[must_use]
    pub fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// Statuses of its errors.
    #[must_use]
    pub fn errors(self, errors: &'static [u16]) -> Self {
        Self { errors, ..self }
    }
}
