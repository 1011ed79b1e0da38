// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The dashboard for browsers: its files, one-time links, cookies and security headers.
//!
//! The files hold no secret, and are given to everybody who names us rightly. What they show comes from
//! the API, which a browser may ask once a one-time link let it in.

mod access;
mod files;
mod headers;
mod neighbour;

use sha2::{Digest as _, Sha256};

pub use access::{Access, BrowserKeys, LINK_LIFETIME, SESSION_LIFETIME, Visit};
pub use files::{is_file, router};
pub use headers::{add, cookie, key, presented};
pub use neighbour::Neighbour;

/// SHA-256 in hexadecimal.
fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
