// SPDX-License-Identifier: Apache-2.0 OR MIT

use tenterhook_proto::v1::{ErrorCode, HookError};
use tonic::Code;

/// Why a client operation failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The daemon is not running or does not answer.
    #[error("cannot reach the daemon at {address}: {why} (start it with `tenterhook start`)")]
    Unreachable {
        /// Address that was tried.
        address: String,
        /// Error reported by the operating system.
        why: String,
    },
    /// The daemon refused the request.
    #[error("{message}{}", parenthesize(.hint))]
    Refused {
        /// Machine-readable kind of the refusal.
        code: ErrorCode,
        /// Reason for the refusal.
        message: String,
        /// What the caller can do about the refusal; may be empty.
        hint: String,
    },
    /// The gRPC call failed.
    #[error("the daemon answered {code:?}: {message}")]
    Status {
        /// gRPC status code.
        code: Code,
        /// Message of the status.
        message: String,
    },
    /// Another stream with the same client id replaced this one.
    #[error("another program uses this client id")]
    TakenOver,
    /// The client was closed.
    #[error("the client is closed")]
    Closed,
    /// A payload is not valid JSON.
    #[error("invalid JSON: {0}")]
    Json(String),
}

fn parenthesize(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!(" ({hint})") }
}

impl Error {
    /// Returns whether the error may be temporary.
    pub(crate) fn is_temporary(&self) -> bool {
        match self {
            Self::Unreachable { .. } => true,
            Self::Status { code, .. } => !matches!(
                code,
                Code::InvalidArgument | Code::PermissionDenied | Code::Unauthenticated | Code::Unimplemented
            ),
            Self::Refused { .. } | Self::TakenOver | Self::Closed | Self::Json(_) => false,
        }
    }
}

impl From<HookError> for Error {
    fn from(error: HookError) -> Self {
        let code = error.code();
        Self::Refused { code, message: error.message, hint: error.hint }
    }
}

impl From<tonic::Status> for Error {
    fn from(status: tonic::Status) -> Self {
        match status.code() {
            Code::Aborted => Self::TakenOver,
            code => Self::Status { code, message: status.message().to_owned() },
        }
    }
}

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Json(error.to_string())
    }
}
