// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

/// Where the daemon listens. A library does not look for it in the environment: its user says it.
#[derive(Clone, PartialEq, Eq)]
pub enum Address {
    /// Its socket; the kernel tells it who we are.
    Unix(PathBuf),
    /// Its port, which needs the token of its home.
    Tcp {
        /// Such as `127.0.0.1:7878`.
        address: SocketAddr,
        /// What `run/token` in the home says.
        token: String,
    },
}

impl Address {
    /// The socket of a home: `$TENTERHOOK_HOME`, or `~/.local/state/tenterhook` on Linux.
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
            // The token is nobody's business.
            Self::Tcp { address, .. } => address.fmt(f),
        }
    }
}
