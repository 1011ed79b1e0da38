// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Typed routes of the HTTP API, and the OpenAPI document that is made from them.
//!
//! A [`route::Route`] is one operation. What its handler takes ([`extract`]) and returns ([`shape`]) is read from the
//! handler's signature, so that the document (feature `schema`) cannot differ from the code. [`error::ApiError`] is the
//! one place that maps errors to status codes. The operations themselves, and the state they work on, are the caller's.

pub mod error;
pub mod extract;
mod objects;
#[cfg(feature = "schema")]
pub mod openapi;
pub mod route;
pub mod shape;
