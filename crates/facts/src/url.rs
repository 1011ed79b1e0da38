// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finds the addresses that a call would connect to.
//!
//! A rule on a host must be checked against the host that is actually reached. Addresses are therefore parsed as
//! browsers parse them, including every trick that makes one host look like another.

mod command;
mod git;
mod host;
mod parse;
mod text;
pub(super) mod word_fragment;

use serde::Serialize;

pub(crate) use command::urls_of_command;
pub(crate) use text::urls_in;

/// An address that a call would connect to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UrlFact {
    /// The address as written.
    pub text: String,
    /// Scheme in lower case; empty for `host:port` and `user@host:path`.
    pub scheme: String,
    /// The host that is actually reached: lower case, without port, user and trailing dot; `*` for unknown parts.
    pub host: String,
    /// The port, if the address contains one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// User name before an `@`, which is often used to imitate a host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Whether the host is an IP address in any notation (`127.1`, `0x7f000001`, `[::1]`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub numeric: bool,
    /// Whether the address certainly refers to this machine.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub loopback: bool,
    /// Whether part of the address is known only at run time.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dynamic: bool,
}

/// Parses one address. `None` if the text is not an address.
pub fn parse_url(text: &str) -> Option<UrlFact> {
    parse::parse_address(text)
}

#[cfg(test)]
mod tests;
