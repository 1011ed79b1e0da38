// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One row for each thing the API can do. The router and the OpenAPI document are both made of these
//! rows, so that the two cannot differ.

use std::sync::Arc;

use axum::routing::{MethodFilter, MethodRouter};

use crate::daemon::Daemon;

/// One operation: where it is, what it takes and gives, and who does it.
pub(crate) struct Route {
    pub(super) method: Method,
    pub(super) path: &'static str,
    /// Its name in programs that are generated from the document.
    pub(super) id: &'static str,
    /// One sentence.
    pub(super) about: &'static str,
    pub(super) query: &'static [&'static [Query]],
    pub(super) headers: &'static [Query],
    pub(super) takes: Option<Takes>,
    pub(super) status: u16,
    pub(super) gives: Gives,
    /// What else may come of it.
    pub(super) refuses: &'static [u16],
    pub(super) serve: fn(MethodFilter) -> MethodRouter<Arc<Daemon>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    Get,
    Post,
    Put,
}

/// One part of a query, or one header.
pub(super) struct Query {
    pub(super) name: &'static str,
    /// Its type in JSON Schema.
    pub(super) kind: &'static str,
    pub(super) about: &'static str,
}

/// What the body has to be.
pub(super) enum Takes {
    /// JSON of this schema.
    Json(&'static str),
    /// A harness's own payload.
    Native,
    /// Text of this media type.
    Text(&'static str),
}

/// What comes back.
pub(super) enum Gives {
    /// JSON of this schema.
    Json(&'static str),
    /// A harness's own reply.
    Native,
    /// Server-sent events whose data has this schema.
    Stream(&'static str),
    /// Text of this media type.
    Text(&'static str),
}

pub(super) const fn query(name: &'static str, kind: &'static str, about: &'static str) -> Query {
    Query { name, kind, about }
}

// === impl Method ===

impl Method {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Put => "put",
        }
    }

    fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Put => MethodFilter::PUT,
        }
    }
}

// === impl Route ===

type Serve = fn(MethodFilter) -> MethodRouter<Arc<Daemon>>;

impl Route {
    const fn new(method: Method, path: &'static str, id: &'static str, serve: Serve) -> Self {
        let gives = Gives::Json("Anything");
        Self {
            method,
            path,
            id,
            about: "",
            query: &[],
            headers: &[],
            takes: None,
            status: 200,
            gives,
            refuses: &[],
            serve,
        }
    }

    pub(super) const fn get(path: &'static str, id: &'static str, serve: Serve) -> Self {
        Self::new(Method::Get, path, id, serve)
    }

    pub(super) const fn post(path: &'static str, id: &'static str, serve: Serve) -> Self {
        Self::new(Method::Post, path, id, serve)
    }

    pub(super) const fn put(path: &'static str, id: &'static str, serve: Serve) -> Self {
        Self::new(Method::Put, path, id, serve)
    }

    pub(super) const fn about(self, about: &'static str) -> Self {
        Self { about, ..self }
    }

    pub(super) const fn query(self, query: &'static [&'static [Query]]) -> Self {
        Self { query, ..self }
    }

    pub(super) const fn headers(self, headers: &'static [Query]) -> Self {
        Self { headers, ..self }
    }

    pub(super) const fn takes(self, takes: Takes) -> Self {
        Self { takes: Some(takes), ..self }
    }

    pub(super) const fn gives(self, gives: Gives) -> Self {
        Self { gives, ..self }
    }

    pub(super) const fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub(super) const fn refuses(self, refuses: &'static [u16]) -> Self {
        Self { refuses, ..self }
    }

    /// The part of a router that serves it.
    pub(super) fn serve(&self) -> MethodRouter<Arc<Daemon>> {
        (self.serve)(self.method.filter())
    }

    /// The names in its path.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &'static str> {
        self.path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
    }
}
