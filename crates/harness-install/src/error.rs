// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Errors of an installation. Unless stated otherwise, nothing has been changed when one is returned.

use std::{io, path::PathBuf};

use tenterhook_error::{ErrorKind, Failure};

/// Reason why hooks could not be installed or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The settings cannot be edited as written.
    #[error("`{}` line {line}, column {column}: {what}", path.display())]
    Settings {
        /// Path of the settings file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// Description of the problem.
        what: String,
    },
    /// The settings are not UTF-8 text.
    #[error("`{}` is not UTF-8 (first bad byte at offset {offset})", path.display())]
    NotUtf8 {
        /// Path of the settings file.
        path: PathBuf,
        /// Offset of the first invalid byte.
        offset: usize,
    },
    /// A directory, device or pipe where a regular file is expected.
    #[error("`{}` is not a regular file", path.display())]
    NotAFile {
        /// Path of the directory, device or pipe.
        path: PathBuf,
    },
    /// A file that Tenterhook did not write has the path of a file that Tenterhook wants to write.
    #[error("`{}` already exists and was not written by Tenterhook", path.display())]
    NotOurs {
        /// Path of the file.
        path: PathBuf,
    },
    /// A file that is too large for a settings file.
    #[error("`{}` is larger than {} MiB", path.display(), limit / (1024 * 1024))]
    TooLarge {
        /// Path of the file.
        path: PathBuf,
        /// Largest accepted size in bytes.
        limit: u64,
    },
    /// A chain of symbolic links without an end.
    #[error("`{}` is a loop of symbolic links", path.display())]
    LinkLoop {
        /// Path of the first link.
        path: PathBuf,
    },
    /// The file was changed between reading and writing it.
    #[error("`{}` changed while the change was being prepared", path.display())]
    Changed {
        /// Path of the file.
        path: PathBuf,
    },
    /// A path that cannot be written into JSON.
    #[error("`{}` is not UTF-8, so it cannot be written into a JSON file", path.display())]
    PathNotUtf8 {
        /// The path itself.
        path: PathBuf,
    },
    /// A relative path, which would name a different file in every working directory.
    #[error("`{}` is not an absolute path", path.display())]
    RelativePath {
        /// The path itself.
        path: PathBuf,
    },
    /// The receipt was written by a newer version of Tenterhook.
    #[error("`{}` has version {found}, but this program supports versions up to {known}", path.display())]
    ReceiptTooNew {
        /// Path of the receipt.
        path: PathBuf,
        /// Version of the receipt.
        found: u32,
        /// Newest supported version.
        known: u32,
    },
    /// The edited text failed its check. This is a bug in Tenterhook.
    #[error("the new text for `{}` failed its check: {what}", path.display())]
    SelfCheck {
        /// Path of the settings file.
        path: PathBuf,
        /// What is missing or wrong.
        what: String,
    },
    /// A change failed, and files that had already been changed could not be restored.
    #[error("{error}; files that were changed before could not be restored: {left}")]
    NotUndone {
        /// Error that stopped the change.
        error: Box<InstallError>,
        /// Errors from restoring the files.
        left: String,
    },
    /// A file system operation failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl InstallError {
    pub(super) fn not_undone(error: Self, left: &[Self]) -> Self {
        let left: Vec<_> = left.iter().map(ToString::to_string).collect();
        Self::NotUndone { error: Box::new(error), left: left.join("; ") }
    }

    /// Kind of the error, which callers can match on.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::PathNotUtf8 { .. } | Self::RelativePath { .. } => ErrorKind::User,
            // The command is correct; a file on the machine prevents it.
            Self::Settings { .. }
            | Self::NotUtf8 { .. }
            | Self::TooLarge { .. }
            | Self::LinkLoop { .. }
            | Self::NotAFile { .. }
            | Self::NotOurs { .. }
            | Self::Changed { .. }
            | Self::ReceiptTooNew { .. } => ErrorKind::Conflict,
            Self::Io(error) if error.kind() == io::ErrorKind::PermissionDenied => ErrorKind::Denied,
            Self::SelfCheck { .. } | Self::NotUndone { .. } | Self::Io(_) => ErrorKind::Internal,
        }
    }

    /// Hint for the user.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Settings { path, line, .. } => {
                format!("open `{}` at line {line}, correct it, and run the command again", path.display())
            }
            Self::NotUtf8 { path, .. } => format!("save `{}` as UTF-8, and run the command again", path.display()),
            Self::NotAFile { path } => format!("move `{}` out of the way, or name another file", path.display()),
            Self::NotOurs { path } => {
                format!("move `{}` out of the way if you do not need it, and run the command again", path.display())
            }
            Self::TooLarge { path, .. } => {
                format!("check that `{}` is the settings file you meant", path.display())
            }
            Self::LinkLoop { path } => format!("look at `ls -l {}` and remove the loop", path.display()),
            Self::Changed { .. } => "nothing was written; run the command again, it starts from the new text".into(),
            Self::PathNotUtf8 { .. } => "choose a state directory whose path is valid UTF-8".into(),
            Self::RelativePath { .. } => "give an absolute path".into(),
            Self::ReceiptTooNew { .. } => "use the newer Tenterhook that made this installation".into(),
            Self::SelfCheck { .. } => "nothing was written; please report this, with the settings file if you can".into(),
            Self::NotUndone { .. } => "run `tenterhook uninstall`, then run the command again".into(),
            Self::Io(error) => match error.kind() {
                io::ErrorKind::PermissionDenied => {
                    "nothing was changed; check who owns the file and its directory".into()
                }
                io::ErrorKind::ReadOnlyFilesystem => {
                    "nothing was changed; the file lies on a read-only file system (a generated configuration?), \
                     so make the change where it is generated"
                        .into()
                }
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "nothing was changed; free some space and run the command again".into()
                }
                _ => return None,
            },
        };
        Some(hint)
    }
}

impl From<InstallError> for Failure {
    fn from(error: InstallError) -> Self {
        let failure = Self::new(error.kind(), error.to_string());
        match error.hint() {
            Some(hint) => failure.hint(hint),
            None => failure,
        }
    }
}
