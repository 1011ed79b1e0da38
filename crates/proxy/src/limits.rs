// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Limits on time, memory and connections.

use std::time::Duration;

/// Limits of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProxyLimits {
    /// Maximum size of a request or response head.
    pub head_bytes: usize,
    /// Maximum time from accepting a connection until its request is complete.
    pub head_timeout: Duration,
    /// Maximum time to resolve a name.
    pub resolve_timeout: Duration,
    /// Maximum time to connect to all addresses of a target together.
    pub connect_timeout: Duration,
    /// Maximum time until the target of a plain HTTP request answers.
    pub response_timeout: Duration,
    /// Maximum time without a byte in either direction.
    pub idle_timeout: Duration,
    /// The same, after one side has closed its direction.
    pub half_open_timeout: Duration,
    /// Maximum number of clients that have not sent a request yet. The oldest is closed when there are more.
    pub waiting_clients: usize,
    /// Maximum number of connections that are judged or open.
    pub connections: usize,
}

impl Default for ProxyLimits {
    fn default() -> Self {
        Self {
            head_bytes: 32 * 1024,
            head_timeout: Duration::from_secs(15),
            resolve_timeout: Duration::from_secs(10),
            connect_timeout: Duration::from_secs(20),
            response_timeout: Duration::from_mins(10),
            idle_timeout: Duration::from_mins(30),
            half_open_timeout: Duration::from_mins(5),
            waiting_clients: 256,
            connections: 512,
        }
    }
}
