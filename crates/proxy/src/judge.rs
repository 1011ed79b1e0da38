// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the proxy asks before it connects.

use std::fmt;
use std::future::Future;

use crate::{AddressClass, ConnectionRefusal, ConnectionTarget};

/// Decides which connections are made.
pub trait ConnectionJudge: Send + Sync + 'static {
    /// Judges one connection. A name is judged before it is resolved. If it resolves to an address that is not public,
    /// the address is judged too.
    fn judge(&self, request: &ConnectionRequest) -> impl Future<Output = ConnectionVerdict> + Send;
}

/// A connection that a client wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionRequest {
    /// Number of the connection, unique in one proxy. All requests and events about a connection have the same number.
    pub id: u64,
    /// How the client asked for the connection.
    pub protocol: ProxyProtocol,
    /// Host and port.
    pub target: ConnectionTarget,
    /// Class of the address; `None` for a name that is not resolved yet.
    pub class: Option<AddressClass>,
    /// The name that resolved to this address, if the client gave a name.
    pub resolved_from: Option<String>,
    /// Method of a plain HTTP request.
    pub method: Option<String>,
    /// Address of a plain HTTP request.
    pub url: Option<String>,
}

/// How a client asks for a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProxyProtocol {
    /// A tunnel through HTTP `CONNECT`.
    HttpConnect,
    /// A plain HTTP request.
    Http,
    /// A tunnel through SOCKS5.
    Socks5,
}

/// The answer of a [`ConnectionJudge`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionVerdict {
    /// The connection may be made.
    Allow {
        /// Whether a rule allows this very target. Without it, only public addresses are connected to.
        explicit: bool,
    },
    /// The connection is refused.
    Refuse(ConnectionRefusal),
}

// === impl ConnectionRequest ===

impl ConnectionRequest {
    /// Whether the target must be allowed explicitly.
    pub fn needs_explicit_allow(&self) -> bool {
        self.class.is_some_and(|class| !class.is_public())
    }
}

// === impl ProxyProtocol ===

impl ProxyProtocol {
    /// Returns the name used in events.
    pub fn name(self) -> &'static str {
        match self {
            Self::HttpConnect => "http-connect",
            Self::Http => "http",
            Self::Socks5 => "socks5",
        }
    }
}

impl fmt::Display for ProxyProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
