// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What happened to a connection.

use std::net::SocketAddr;
use std::time::Duration;

use crate::{ConnectionRefusal, ConnectionTarget, ProxyProtocol};

/// What happened to a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConnectionEvent {
    /// The connection was made.
    Opened {
        /// Number of the connection.
        id: u64,
        /// How the client asked for it.
        protocol: ProxyProtocol,
        /// Host and port as the client named them.
        target: ConnectionTarget,
        /// The address that was connected to.
        address: SocketAddr,
    },
    /// The connection was refused, by the judge or because the request is invalid.
    Refused {
        /// Number of the connection.
        id: u64,
        /// The target, if the request named one.
        target: Option<ConnectionTarget>,
        /// Reason and suggestion of the refusal.
        refusal: ConnectionRefusal,
        /// Whether the judge refused it, and not the proxy itself.
        judged: bool,
    },
    /// An allowed connection could not be made.
    Failed {
        /// Number of the connection.
        id: u64,
        /// Host and port.
        target: ConnectionTarget,
        /// Reason why the connection failed.
        reason: String,
    },
    /// A connection that was made has ended.
    Closed {
        /// Number of the connection.
        id: u64,
        /// Host and port.
        target: ConnectionTarget,
        /// Bytes from the client to the target.
        sent: u64,
        /// Bytes from the target to the client.
        received: u64,
        /// Time between opening and end.
        duration: Duration,
        /// Why the connection ended.
        end: ConnectionEnd,
    },
}

/// Why a connection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionEnd {
    /// Both sides closed it.
    Finished,
    /// Nothing was transferred for too long.
    Idle,
    /// One side reset it.
    Failed,
    /// The request or its body is invalid.
    Invalid,
}

// === impl ConnectionEnd ===

impl ConnectionEnd {
    /// Returns the name used in events.
    pub fn name(self) -> &'static str {
        match self {
            Self::Finished => "finished",
            Self::Idle => "idle",
            Self::Failed => "failed",
            Self::Invalid => "invalid",
        }
    }
}
