// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Addresses a call would connect to.
//!
//! A rule about a host is only worth something if the host is the one that is reached, so
//! addresses are read as browsers read them, with every trick that makes one host look like another.

pub(super) mod arguments;
mod command;
mod git;
mod host;
mod read;
mod text;

use serde::Serialize;

pub(crate) use command::urls_of;
pub(crate) use text::urls_in;

/// One address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct UrlFact {
    /// As written.
    pub text: String,
    /// Small letters; empty for `host:port` and `user@host:path`, which have none.
    pub scheme: String,
    /// The host that would really be reached: small letters, no port, no user, no trailing dot;
    /// `*` for whatever of it is not known.
    pub host: String,
    /// The port, if it is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub port: Option<u16>,
    /// What stands before an `@`: often there to look like the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user: Option<String>,
    /// Whether the host is a number, in whatever form (`127.1`, `0x7f000001`, `[::1]`).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub numeric: bool,
    /// Whether it can only be this machine.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub loopback: bool,
    /// Whether part of it is only known when it runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dynamic: bool,
}

/// Reads one address. `None` when the text is none.
pub fn url(text: &str) -> Option<UrlFact> {
    read::address(text)
}

#[cfg(test)]
mod tests;
