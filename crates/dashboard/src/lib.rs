// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The dashboard for browsers: its files, one-time links, cookies and security headers.
//!
//! The files contain no secrets and are served for every request with a valid `Host`. The dashboard's data comes from
//! the API, which a browser may use after it has opened a one-time link. A daemon keeps links and sessions in memory
//! ([`BrowserAccess`]); a fleet server keeps the hashes of the same secrets in its database.

mod access;
mod files;
mod headers;
mod peer_account;

use sha2::{Digest as _, Sha256};

pub use access::{
    BrowserAccess, BrowserKeys, BrowserVisit, LINK_LIFETIME, SESSION_LIFETIME, create_link_secret,
    hash_secret,
};
pub use files::{DashboardPages, is_file_path, router};
pub use headers::{SessionCookie, add_security_headers, page_key, presented_cookies, session_cookie};
pub use peer_account::PeerAccount;

/// SHA-256 in hexadecimal.
fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}
