// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What can go wrong with a store, in words.

use std::path::PathBuf;

use rusqlite::ErrorCode;

use crate::sign::SignError;

/// The ledger cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Somebody else writes to it.
    #[error("another process{} writes to this ledger", pid.map(|pid| format!(" ({pid})")).unwrap_or_default())]
    Locked {
        /// Who, if it says.
        pid: Option<u32>,
    },
    /// A file or the directory cannot be used.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Others could write to it.
    #[error("others can write to `{}` (its mode is {mode:o})", path.display())]
    Permissions {
        /// The directory.
        path: PathBuf,
        /// What its mode is.
        mode: u32,
    },
    /// The key cannot be used.
    #[error(transparent)]
    Key(#[from] SignError),
    /// The key is not the one that signs this ledger.
    #[error("the key `{given}` does not sign this ledger, `{expected}` does")]
    OtherKey {
        /// The id of the key that was given.
        given: String,
        /// The key that signs it.
        expected: String,
    },
    /// The store was made by a newer program.
    #[error("the store has format {found}; this program knows formats up to {known}")]
    Newer {
        /// What it has.
        found: i64,
        /// What we know.
        known: i64,
    },
    /// There are fewer leaves than were signed, so going on would sign a second history.
    #[error("{signed} leaves were signed, {here} are here: the ledger was rolled back")]
    RolledBack {
        /// How many were signed.
        signed: u64,
        /// How many are here.
        here: u64,
    },
    /// There are leaves at the end that nobody signed, so going on would sign what somebody else wrote.
    #[error("nobody signed the last {} leaves, from leaf {signed} on: this ledger did not write them, or its signature was taken away", here - signed)]
    Unsigned {
        /// How many were signed.
        signed: u64,
        /// How many are here.
        here: u64,
    },
    /// What is stored does not fit together.
    #[error("the store is damaged: {0}")]
    Damaged(String),
    /// SQLite says no.
    #[error("the store cannot be opened: {0}")]
    Store(String),
}

/// The leaf was not recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AppendError {
    /// The store did not take it; nothing of it is there.
    #[error("not recorded: {}{why}", cause.words())]
    Refused {
        /// What kind of trouble it is.
        cause: Refused,
        /// What the store said.
        why: String,
    },
    /// The entry could not be sealed.
    #[error("not recorded: {0}")]
    Entry(String),
    /// The ledger was closed.
    #[error("not recorded: the ledger is closed")]
    Closed,
}

/// Why a store refuses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// The disk is full, or a limit is reached.
    Full,
    /// It may not be written.
    ReadOnly,
    /// Its file is damaged.
    Damaged,
    /// The disk reports errors.
    Disk,
    /// Anything else.
    Other,
}

/// The store cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ReadFailed(pub(crate) String);

// === impl Refused ===

impl Refused {
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Full => "the disk is full: ",
            Self::ReadOnly => "the ledger may not be written: ",
            Self::Damaged => "the store is damaged: ",
            Self::Disk => "the disk reports an error: ",
            Self::Other => "",
        }
    }
}

impl From<rusqlite::Error> for AppendError {
    fn from(error: rusqlite::Error) -> Self {
        let cause = match error.sqlite_error_code() {
            _ if no_room(&error) => Refused::Full,
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => Refused::ReadOnly,
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Refused::Damaged,
            Some(ErrorCode::SystemIoFailure | ErrorCode::CannotOpen) => Refused::Disk,
            _ => Refused::Other,
        };
        Self::Refused { cause, why: error.to_string() }
    }
}

/// The disk is full. The index of the journal lives in a file too, and has an error of its own.
fn no_room(error: &rusqlite::Error) -> bool {
    let extended = error.sqlite_error().map(|error| error.extended_code);
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
        || extended == Some(rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

impl From<SignError> for AppendError {
    fn from(error: SignError) -> Self {
        Self::Entry(error.to_string())
    }
}

impl From<rusqlite::Error> for OpenError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Self::Damaged(error.to_string()),
            _ if no_room(&error) => Self::Store(format!("{}{error}", Refused::Full.words())),
            _ => Self::Store(error.to_string()),
        }
    }
}

impl From<rusqlite::Error> for ReadFailed {
    fn from(error: rusqlite::Error) -> Self {
        Self(match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                format!("the store is damaged: {error}")
            }
            _ => format!("the store cannot be read: {error}"),
        })
    }
}
