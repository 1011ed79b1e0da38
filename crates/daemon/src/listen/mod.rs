// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where calls come in: the Unix socket for hooks and local programs, TCP for the rest.

mod admission;
mod body;
mod door;
mod guard;
mod http;
mod identity;
mod question;
mod shim;
mod socket;
mod stalled;
mod turns;
mod unix;

pub(crate) use door::Door;
pub(crate) use guard::Allowed;
pub(crate) use http::tcp;
pub(crate) use socket::bind;
pub(crate) use unix::Threads;

/// The other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A process on the Unix socket, identified by the kernel.
    Local {
        uid: u32,
        /// The process, where the kernel knows it.
        pid: Option<i32>,
        /// Start of that process, verified when the connection was accepted. `None`: unknown, or a hook
        /// call, which the gate is not asked about.
        start: Option<u64>,
    },
    /// A caller over TCP with the right token.
    Token,
    /// A browser with a cookie from a one-time link. The cookie proves nothing else.
    Browser,
}

impl Peer {
    /// The account, where the kernel knows it.
    pub(crate) fn uid(self) -> Option<u32> {
        match self {
            Self::Local { uid, .. } => Some(uid),
            Self::Token | Self::Browser => None,
        }
    }
}
