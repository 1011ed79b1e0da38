// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Errors of a cluster.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tenterhook_fleet_server::FleetError;

/// Error of a cluster or of one of its parts.
#[derive(Debug, thiserror::Error)]
pub enum ClusterError {
    /// Programs that a cluster needs are not installed: one line for each.
    #[error("the cluster cannot start:\n{}", .0.join("\n"))]
    Missing(Vec<String>),
    /// A file cannot be read or written.
    #[error("`{}`: {source}", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A process ended, or a command failed.
    #[error("{name}: {why}")]
    Process {
        /// Name of the process.
        name: String,
        /// The end of its output.
        why: String,
    },
    /// Something did not happen in time.
    #[error("timeout after {} s: {what}", waited.as_secs())]
    Timeout {
        /// What was waited for.
        what: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// The database cannot be queried.
    #[error("PostgreSQL: {0}")]
    Database(#[from] tokio_postgres::Error),
    /// The ledger of a machine cannot be read.
    #[error("ledger: {0}")]
    Ledger(String),
    /// A reply of a daemon is not the expected one.
    #[error("daemon: {0}")]
    Reply(String),
    /// The fleet's keys cannot be created.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// The user ended the process.
    #[error("interrupted")]
    Cancelled,
    /// The database differs from a ledger.
    #[error("{machine}: {why}")]
    Evidence {
        /// Name and id of the machine.
        machine: String,
        /// Description of the difference.
        why: String,
    },
}

impl ClusterError {
    /// Creates an error about a file.
    pub(crate) fn file(path: &Path, source: std::io::Error) -> Self {
        Self::File { path: path.to_owned(), source }
    }

    /// Creates an error about a process.
    pub(crate) fn process(name: &str, why: impl Into<String>) -> Self {
        Self::Process { name: name.to_owned(), why: why.into() }
    }
}
