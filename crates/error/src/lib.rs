// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One error type for operations that a user or an API caller starts.
//!
//! A [`Failure`] has a message, hints and an [`ErrorKind`]. Callers match on the kind. The command line maps it to an
//! exit code and the HTTP API maps it to a status; no other crate knows either.
//!
//! ```
//! use tenterhook_error::{ErrorKind, Failure};
//!
//! let failure = Failure::conflict("a daemon already listens on this socket").hint("stop it with `tenterhook stop`");
//! assert_eq!(failure.kind, ErrorKind::Conflict);
//! assert_eq!(failure.to_string(), "a daemon already listens on this socket");
//! ```

/// The cause of an error, as far as a caller can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The input cannot be used: an argument, one of the user's files, or the content of a request.
    User,
    /// The named thing does not exist.
    NotFound,
    /// The operation does not fit the current state: it exists already, or it was changed meanwhile.
    Conflict,
    /// A resource is in use or did not answer in time; a retry may succeed.
    Busy,
    /// The caller may not do this.
    Denied,
    /// Any other cause: the system refused an operation, a file is damaged, or this program has a bug.
    Internal,
}

/// An operation that failed, with hints on what to do next.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The cause, for callers.
    pub kind: ErrorKind,
    /// The cause, for people: lower case, no full stop.
    pub message: String,
    /// What to do next, one sentence each.
    pub hints: Vec<String>,
}

impl Failure {
    /// A failure of this kind, without hints.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hints: Vec::new() }
    }

    /// The input cannot be used.
    pub fn user(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::User, message)
    }

    /// The named thing does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// The operation does not fit the current state.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    /// A resource is in use or did not answer in time.
    pub fn busy(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Busy, message)
    }

    /// The caller may not do this.
    pub fn denied(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Denied, message)
    }

    /// An operation failed for a reason that the caller did not cause.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        // An error directly from the operating system names neither the operation nor the file.
        match error.raw_os_error() {
            Some(_) => Self::internal(format!("the system refused an operation: {error}"))
                .hint("`tenterhook doctor` looks at files, permissions and the daemon"),
            None => Self::internal(error.to_string()),
        }
    }
}
