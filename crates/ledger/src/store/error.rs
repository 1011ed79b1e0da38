// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Errors of the store.

use std::path::PathBuf;

use rusqlite::ErrorCode;

use crate::sign::SignError;

/// Error for a ledger that cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Another process has the ledger open for writing.
    #[error("another process{} writes to this ledger", pid.map(|pid| format!(" ({pid})")).unwrap_or_default())]
    Locked {
        /// Id of the process, if known.
        pid: Option<u32>,
    },
    /// A file or the directory cannot be used.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Error reported by the operating system.
        source: std::io::Error,
    },
    /// Other users can write to the directory.
    #[error("`{}` is writable by other users: its mode is {mode:o}", path.display())]
    Permissions {
        /// Directory of the ledger.
        path: PathBuf,
        /// Permission bits of the directory.
        mode: u32,
    },
    /// The key cannot be used.
    #[error(transparent)]
    Key(#[from] SignError),
    /// The given key is not the key that signs this ledger.
    #[error("wrong key `{given}`: this ledger is signed with `{expected}`")]
    OtherKey {
        /// Id of the given key.
        given: String,
        /// The key that signs the ledger.
        expected: String,
    },
    /// A newer program wrote the store's format.
    #[error("the store has format {found}, but this program supports formats up to {known}")]
    Newer {
        /// Format of the store.
        found: i64,
        /// Newest supported format.
        known: i64,
    },
    /// The ledger has fewer leaves than were signed. Appending would sign a second history.
    #[error("the ledger was rolled back: {signed} records were signed, {here} are present")]
    RolledBack {
        /// Number of signed leaves.
        signed: u64,
        /// Number of leaves in the ledger.
        here: u64,
    },
    /// The last leaves are not signed. Appending would sign leaves that another program wrote.
    #[error("the last {} records, from record {signed} on, are not signed: another program wrote them, or their signature was removed", here - signed)]
    Unsigned {
        /// Number of signed leaves.
        signed: u64,
        /// Number of leaves in the ledger.
        here: u64,
    },
    /// The content of the store is inconsistent.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// SQLite cannot open the store.
    #[error("cannot open the store: {0}")]
    Store(String),
}

/// Error for an entry that was not recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The store failed; nothing was recorded.
    #[error("not recorded: {}{why}", cause.message_prefix())]
    Refused {
        /// Cause of the failure.
        cause: StoreRefusal,
        /// SQLite's error message.
        why: String,
    },
    /// The entry or command is invalid, or could not be sealed or signed.
    #[error("not recorded: {0}")]
    Rejected(String),
    /// The ledger is closed.
    #[error("not recorded: the ledger is closed")]
    Closed,
}

/// Cause of a failed write to the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreRefusal {
    /// The disk is full or a size limit was reached.
    Full,
    /// The store is read-only.
    ReadOnly,
    /// The database file is damaged.
    Damaged,
    /// The disk reports errors.
    Disk,
    /// Any other cause.
    Other,
}

/// Error for a store that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ReadError(pub(crate) String);

impl StoreRefusal {
    pub(super) fn message_prefix(self) -> &'static str {
        match self {
            Self::Full => "the disk is full: ",
            Self::ReadOnly => "the ledger is read-only: ",
            Self::Damaged => "the store is damaged: ",
            Self::Disk => "the disk reports an error: ",
            Self::Other => "",
        }
    }
}

impl From<rusqlite::Error> for AppendError {
    fn from(error: rusqlite::Error) -> Self {
        let cause = match error.sqlite_error_code() {
            _ if is_disk_full(&error) => StoreRefusal::Full,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => StoreRefusal::ReadOnly,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => StoreRefusal::Damaged,
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => StoreRefusal::Disk,
            _ => StoreRefusal::Other,
        };
        Self::Refused { cause, why: error.to_string() }
    }
}

/// Whether the disk is full. The WAL index is a separate file with its own error code.
fn is_disk_full(error: &rusqlite::Error) -> bool {
    let extended = error.sqlite_error().map(|error| error.extended_code);
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
        || extended == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

impl From<SignError> for AppendError {
    fn from(error: SignError) -> Self {
        Self::Rejected(error.to_string())
    }
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(error.to_string()),
            _ if is_disk_full(&error) => {
                Self::Store(format!("{}{error}", StoreRefusal::Full.message_prefix()))
            }
            _ => Self::Store(error.to_string()),
        }
    }
}

impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> Self {
        Self(match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                format!("the store is damaged: {error}")
            }
            _ => format!("cannot read the store: {error}"),
        })
    }
}
