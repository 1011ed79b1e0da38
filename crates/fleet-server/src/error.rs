// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Errors of the fleet server: a kind that callers can match on, a message, and a hint on its own line.

use std::fmt;

use tenterhook_files::FileRefused;

/// Kind of a failure. The program maps it to an exit code, the HTTP API to a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FleetErrorKind {
    /// An option, a file or a request is invalid.
    Invalid,
    /// An engine or another program is missing, has the wrong version or the wrong settings.
    Incompatible,
    /// NATS or PostgreSQL cannot be reached or failed.
    Unavailable,
    /// The caller may not do this.
    Forbidden,
    /// The resource does not exist.
    NotFound,
    /// The resource exists already or has changed.
    Conflict,
    /// A failure that a caller cannot do anything about.
    Internal,
}

/// Error of the fleet server.
#[derive(Debug, thiserror::Error)]
pub struct FleetError {
    kind: FleetErrorKind,
    message: String,
    hint: Option<String>,
}

impl FleetError {
    /// Creates an error.
    pub fn new(kind: FleetErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None }
    }

    /// Sets the hint that says what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the error's kind.
    pub fn kind(&self) -> FleetErrorKind {
        self.kind
    }

    /// Returns the hint, if there is one.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Creates an error for invalid input.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(FleetErrorKind::Invalid, message)
    }

    /// Creates an error for an engine that cannot be used.
    pub fn incompatible(message: impl Into<String>) -> Self {
        Self::new(FleetErrorKind::Incompatible, message)
    }

    /// Creates an error for an engine that cannot be reached.
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(FleetErrorKind::Unavailable, message)
    }

    /// Creates an error for a caller without permission.
    pub fn forbidden(message: impl Into<String>) -> Self {
        Self::new(FleetErrorKind::Forbidden, message)
    }

    /// Creates an error for a missing resource.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(FleetErrorKind::NotFound, message)
    }

    /// Creates an error for a conflict.
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(FleetErrorKind::Conflict, message)
    }

    /// Creates an error for a failure of the server itself.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(FleetErrorKind::Internal, message)
    }

    /// Creates an error for a file that cannot be read or written.
    pub fn file(path: &std::path::Path, source: &std::io::Error) -> Self {
        let path = path.display();
        Self::invalid(match FileRefused::reason_of(source) {
            Some(reason) => format!("`{path}` {reason}"),
            None => format!("`{path}`: {source}"),
        })
    }
}

impl fmt::Display for FleetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Returns an error with its sources, because `tokio-postgres` puts the server's message into a source.
fn error_chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let more = inner.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        source = inner.source();
    }
    text
}

impl From<tokio_postgres::Error> for FleetError {
    fn from(error: tokio_postgres::Error) -> Self {
        let message = format!("PostgreSQL: {}", error_chain(&error));
        // Classes 22 and 54: the data itself cannot be stored, now or later.
        let is_data =
            error.code().is_some_and(|code| ["22", "54"].iter().any(|class| code.code().starts_with(class)));
        if is_data { Self::invalid(message) } else { Self::unavailable(message) }
    }
}

impl From<deadpool_postgres::PoolError> for FleetError {
    fn from(error: deadpool_postgres::PoolError) -> Self {
        Self::unavailable(format!("PostgreSQL: {}", error_chain(&error)))
    }
}

/// Creates an error of NATS.
pub(crate) fn nats_error(what: &str, error: &dyn std::error::Error) -> FleetError {
    FleetError::unavailable(format!("NATS: {what}: {}", error_chain(error)))
}
