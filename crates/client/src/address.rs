// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Address of the daemon. The caller provides the address; this crate never reads the environment.
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// Unix socket; the daemon authenticates the process by its user id.
    Unix(PathBuf),
    /// TCP port, which requires the token from the state directory.
    Tcp {
        /// IP address and port, such as `127.0.0.1:7878`.
        address: SocketAddr,
        /// Content of `run/token` in the state directory.
        token: String,
    },
}

impl Address {
    /// Returns the address of the socket in a state directory: `$TENTERHOOK_HOME`, or `~/.local/state/tenterhook` on
    /// Linux.
    pub fn in_home(home: impl AsRef<Path>) -> Self {
        Self::Unix(home.as_ref().join("run").join("tenterhook.sock"))
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "{}", path.display()),
            // The token is a secret and must not appear in logs.
            Self::Tcp { address, .. } => address.fmt(f),
        }
    }
}
