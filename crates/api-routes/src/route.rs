// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines [`Route`], one for each API operation. The router and the OpenAPI document are both built from the routes.
//! A handler's parameter and response types are read from its signature ([`crate::shape`]).

use axum::handler::Handler;
use axum::routing::{MethodFilter, MethodRouter, on};

use crate::shape::{OperationShape, TypedHandler};

/// One API operation.
pub struct Route<S> {
    /// HTTP method of the operation.
    pub method: OperationMethod,
    /// Path with its parameters in braces.
    pub path: &'static str,
    /// Name of the operation in generated clients.
    pub id: &'static str,
    /// Description in one sentence.
    pub about: &'static str,
    /// Request headers that the operation reads.
    pub headers: &'static [HeaderParameter],
    /// HTTP status on success.
    pub status: u16,
    /// HTTP statuses on errors.
    pub errors: &'static [u16],
    /// Parameter and response types.
    pub shape: OperationShape,
    /// Handler of the operation.
    pub serve: MethodRouter<S>,
}

/// HTTP method of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationMethod {
    /// Reads a resource.
    Get,
    /// Changes something or runs an action.
    Post,
    /// Replaces a resource.
    Put,
}

/// A request header that an operation reads.
pub struct HeaderParameter {
    /// Name of the header.
    pub name: &'static str,
    /// JSON Schema type of the header's value.
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

    /// Creates a GET operation.
    pub fn get<H, M, A>(path: &'static str, id: &'static str, handler: H) -> Self
    where
        H: Handler<M, S> + TypedHandler<A>,
        M: 'static,
    {
        Self::new(OperationMethod::Get, path, id, handler)
    }

    /// Creates a POST operation.
    pub fn post<H, M, A>(path: &'static str, id: &'static str, handler: H) -> Self
    where
        H: Handler<M, S> + TypedHandler<A>,
        M: 'static,
    {
        Self::new(OperationMethod::Post, path, id, handler)
    }

    /// Creates a PUT operation.
    pub fn put<H, M, A>(path: &'static str, id: &'static str, handler: H) -> Self
    where
        H: Handler<M, S> + TypedHandler<A>,
        M: 'static,
    {
        Self::new(OperationMethod::Put, path, id, handler)
    }

    /// Sets the description.
    #[must_use]
    pub fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    /// Sets the request headers that the operation reads.
    #[must_use]
    pub fn headers(self, headers: &'static [HeaderParameter]) -> Self {
        Self { headers, ..self }
    }

    /// Sets the HTTP status on success, if it is not 200.
    #[must_use]
    pub fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    /// Sets the HTTP statuses on errors.
    #[must_use]
    pub fn errors(self, errors: &'static [u16]) -> Self {
        Self { errors, ..self }
    }
}
