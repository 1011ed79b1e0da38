// SPDX-License-Identifier: Apache-2.0 OR MIT
//! What can stop an installation. Nothing has been changed when one of these is returned.

use std::{io, path::PathBuf};

use tenterhook_error::{ErrorKind, Failure};

/// Why hooks could not be installed or removed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstallError {
    /// The settings cannot be edited as they stand.
    #[error("`{}` line {line}, column {column}: {what}", path.display())]
    Settings {
        /// The settings file.
        path: PathBuf,
        /// Line, from 1.
        line: usize,
        /// Column in characters, from 1.
        column: usize,
        /// What is wrong there.
        what: String,
    },
    /// The settings are not text.
    #[error("`{}` is not UTF-8 (first bad byte at offset {offset})", path.display())]
    NotUtf8 {
        /// The settings file.
        path: PathBuf,
        /// Where the first invalid byte is.
        offset: usize,
    },
    /// A directory, device or pipe where a file should be.
    #[error("`{}` is not a regular file", path.display())]
    NotAFile {
        /// What was found.
        path: PathBuf,
    },
    /// A file of somebody else's in the place of one of ours.
    #[error("`{}` is there already, and it is not one that we wrote", path.display())]
    NotOurs {
        /// What was found.
        path: PathBuf,
    },
    /// Larger than any settings file ought to be.
    #[error("`{}` is larger than {} MiB", path.display(), limit / (1024 * 1024))]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit in bytes.
        limit: u64,
    },
    /// A chain of symbolic links without an end.
    #[error("`{}` is a loop of symbolic links", path.display())]
    LinkLoop {
        /// Where the chain starts.
        path: PathBuf,
    },
    /// Somebody else wrote the file between our look and our write.
    #[error("`{}` changed while the change was being prepared", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// A path that cannot be written into JSON.
    #[error("`{}` is not UTF-8, and a JSON file can only name paths that are", path.display())]
    PathNotUtf8 {
        /// The path.
        path: PathBuf,
    },
    /// A relative path would mean another file in every working directory.
    #[error("`{}` is not an absolute path", path.display())]
    RelativePath {
        /// The path.
        path: PathBuf,
    },
    /// The receipt was written by a newer Tenterhook.
    #[error("`{}` has version {found}, and this program knows versions up to {known}", path.display())]
    ReceiptTooNew {
        /// The receipt.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest version this program reads.
        known: u32,
    },
    /// The text we produced does not say what it should: our own mistake.
    #[error("the new text for `{}` failed its check: {what}", path.display())]
    SelfCheck {
        /// The settings file.
        path: PathBuf,
        /// What was found missing or wrong.
        what: String,
    },
    /// A change failed, and files that were changed before it could not be put back.
    #[error("{error}; and a file that was changed before could not be put back: {left}")]
    NotUndone {
        /// Why the change failed.
        error: Box<InstallError>,
        /// Why the files could not be put back.
        left: String,
    },
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl InstallError {
    pub(super) fn not_undone(error: Self, left: &[Self]) -> Self {
        let left: Vec<_> = left.iter().map(ToString::to_string).collect();
        Self::NotUndone { error: Box::new(error), left: left.join("; ") }
    }

    /// The cause, as far as a caller can act on it.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::PathNotUtf8 { .. } | Self::RelativePath { .. } => ErrorKind::User,
            // The command is right; a file on the machine is in its way.
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

    /// What the reader can do next.
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
            Self::PathNotUtf8 { .. } => "choose a home whose path is valid UTF-8".into(),
            Self::RelativePath { .. } => "give the path from `/` on".into(),
            Self::ReceiptTooNew { .. } => "use the newer Tenterhook that made this installation".into(),
            Self::SelfCheck { .. } => "nothing was written; please report this, with the settings file if you can".into(),
            Self::NotUndone { .. } => "run `tenterhook uninstall`, which takes out what is there, and the command again".into(),
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
