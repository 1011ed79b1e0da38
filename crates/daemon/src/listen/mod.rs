// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Listens on the Unix socket (for hooks and local programs) and on TCP.

mod admission;
mod counted_body;
mod http;
mod identity;
mod question;
mod request_check;
mod shim;
mod socket;
mod stalled;
mod tcp_access;
mod thread_shares;
mod unix;

pub(crate) use http::serve_tcp;
pub(crate) use request_check::RequestCheck;
pub(crate) use socket::bind_socket;
pub(crate) use tcp_access::TcpAccess;
pub(crate) use unix::HookThreads;

/// The other end of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A process on the Unix socket, identified by the kernel.
    Local {
        uid: u32,
        /// Pid of the process, if the kernel knows it.
        pid: Option<i32>,
        /// Verified start time of that process. `None` for hook calls, which cannot perform privileged actions.
        start: Option<u64>,
    },
    /// A caller over TCP with the correct token.
    Token,
    /// A browser with a cookie from a one-time link. The cookie proves nothing beyond the possession of that link.
    Browser,
}

impl Peer {
    /// Returns the peer's account, if the kernel knows it.
    pub(crate) fn uid(self) -> Option<u32> {
        match self {
            Self::Local { uid, .. } => Some(uid),
            Self::Token | Self::Browser => None,
        }
    }
}
