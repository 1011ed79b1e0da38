// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Errors of snapshots and of their restoration.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// Why a snapshot was not taken. The call that it was meant for has to be confirmed by the user.
#[derive(Debug, thiserror::Error)]
pub enum SnapshotError {
    /// The call changes more files than a snapshot may contain.
    #[error("the call affects more than {limit} files")]
    TooManyFiles {
        /// Maximum number of files of a snapshot.
        limit: usize,
    },
    /// The files together are too large.
    #[error("the affected files have more than {} MiB", limit / MIB)]
    TooManyBytes {
        /// Maximum size of a snapshot.
        limit: u64,
    },
    /// More would have to be copied than the time limit permits.
    #[error("more than {} MiB would have to be copied", limit / MIB)]
    TooMuchToCopy {
        /// Maximum size of the copies.
        limit: u64,
    },
    /// One file would have to be copied and is too large for that.
    #[error("`{}` is too large to copy", path.display())]
    FileTooLarge {
        /// Path of the file.
        path: PathBuf,
    },
    /// A file changed each time it was copied.
    #[error("`{}` changes while it is copied", path.display())]
    FileInUse {
        /// Path of the file.
        path: PathBuf,
    },
    /// The time limit was reached.
    #[error("the snapshot takes longer than {limit_ms} ms")]
    TimedOut {
        /// Time limit in milliseconds.
        limit_ms: u128,
    },
    /// The disk of the state directory is full, or would be almost full.
    #[error("too little free space in the state directory")]
    StorageFull,
    /// The call affects a path outside the project.
    #[error("`{}` is outside the project", path.display())]
    OutsideProject {
        /// Path that the call affects.
        path: PathBuf,
    },
    /// The call writes into a tree with symbolic links, so it may write to other files too.
    #[error("`{}` contains symbolic links", path.display())]
    LinkInTree {
        /// Path that the call affects.
        path: PathBuf,
    },
    /// The git repository cannot be saved.
    #[error("the git repository of `{}` cannot be saved: {reason}", path.display())]
    UnsupportedRepository {
        /// Directory in which git runs.
        path: PathBuf,
        /// What is missing or unknown.
        reason: String,
    },
    /// A file cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Unreadable {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
    /// The snapshot cannot be written.
    #[error("cannot write the snapshot: {0}")]
    Storage(#[source] io::Error),
}

const MIB: u64 = 1024 * 1024;

/// Class of a [`SnapshotError`], for callers that treat the causes differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SnapshotErrorKind {
    /// A limit on files, bytes or time was exceeded.
    LimitExceeded,
    /// There is too little free space.
    StorageFull,
    /// The call affects something that snapshots do not cover.
    NotCovered,
    /// A file could not be read or written.
    Io,
}

/// Why a stored snapshot cannot be read, compared or restored.
#[derive(Debug, thiserror::Error)]
pub enum UndoError {
    /// There is no such snapshot.
    #[error("unknown snapshot `{0}`")]
    UnknownSnapshot(String),
    /// A file of the snapshot is damaged, or was written by a newer version.
    #[error("snapshot `{id}` cannot be read: {reason}")]
    InvalidSnapshot {
        /// Id of the snapshot.
        id: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The files that would be replaced could not be saved first.
    #[error("the current files cannot be saved before they are replaced: {0}")]
    CannotSaveCurrent(#[source] SnapshotError),
    /// A file operation failed.
    #[error("`{}`: {source}", path.display())]
    Io {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        source: io::Error,
    },
}

// === impl SnapshotError ===

impl SnapshotError {
    /// Returns the class of the error.
    pub fn kind(&self) -> SnapshotErrorKind {
        match self {
            Self::TooManyFiles { .. }
            | Self::TooManyBytes { .. }
            | Self::TooMuchToCopy { .. }
            | Self::FileTooLarge { .. }
            | Self::TimedOut { .. } => SnapshotErrorKind::LimitExceeded,
            Self::StorageFull => SnapshotErrorKind::StorageFull,
            Self::OutsideProject { .. } | Self::LinkInTree { .. } | Self::UnsupportedRepository { .. } => {
                SnapshotErrorKind::NotCovered
            }
            Self::FileInUse { .. } | Self::Unreadable { .. } | Self::Storage(_) => SnapshotErrorKind::Io,
        }
    }

    pub(crate) fn unreadable(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Unreadable { path: path.to_owned(), source: source.into() }
    }

    pub(crate) fn unsupported(path: &Path, reason: impl Into<String>) -> Self {
        Self::UnsupportedRepository { path: path.to_owned(), reason: reason.into() }
    }

    /// Converts an error while the snapshot is written.
    pub(crate) fn storage(error: impl Into<io::Error>) -> Self {
        let error = error.into();
        match Errno::from_io_error(&error) {
            Some(Errno::NOSPC | Errno::DQUOT | Errno::FBIG) => Self::StorageFull,
            _ => Self::Storage(error),
        }
    }
}

// === impl UndoError ===

impl UndoError {
    pub(crate) fn io(path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io { path: path.to_owned(), source: source.into() }
    }

    pub(crate) fn invalid(id: &str, reason: &dyn std::fmt::Display) -> Self {
        Self::InvalidSnapshot { id: id.to_owned(), reason: reason.to_string() }
    }
}
