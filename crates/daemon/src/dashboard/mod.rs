// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The dashboard: its files, who may look, and what browsers are told to keep from each other.
//!
//! The files hold no secret, and are given to everybody who names us rightly. What they show comes from
//! the API, which a browser may ask once a one-time link let it in.

mod access;
mod files;
mod headers;
mod neighbour;

pub(crate) use access::{Access, LINK, Visit};
pub(crate) use files::{is_file, router};
pub(crate) use headers::{add, cookie, key, presented};
pub(crate) use neighbour::Neighbour;
