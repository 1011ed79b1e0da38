// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Typed routes for the HTTP API, and the OpenAPI document generated from them.
//!
//! A [`route::Route`] is one operation. Its parameters ([`extract`]) and response ([`shape`]) are read from the
//! handler's signature, so the document (feature `schema`) cannot differ from the code. [`error::ApiError`] is the
//! one place that maps errors to status codes. The caller defines the operations and the state they work on.

pub mod error;
pub mod extract;
mod objects;
#[cfg(feature = "schema")]
pub mod openapi;
pub mod route;
pub mod shape;
