// SPDX-License-Identifier: Apache-2.0 OR MIT

use tenterhook_proto::v1::{ErrorCode, HookError};
use tonic::Code;

/// What can go wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no daemon, or it does not answer.
    #[error("no daemon answers at {address}: {why} (`tenterhook start` starts one)")]
    Unreachable {
        /// Where we looked.
        address: String,
        /// What the system said.
        why: String,
    },
    /// The daemon says no.
    #[error("{message}{}", in_brackets(.hint))]
    Refused {
        /// Which kind of no.
        code: ErrorCode,
        /// Why.
        message: String,
        /// What to do next.
        hint: String,
    },
    /// The call as such could not be made.
    #[error("the daemon answered {code:?}: {message}")]
    Status {
        /// The gRPC status.
        code: Code,
        /// Its text.
        message: String,
    },
    /// Another stream with the same client id took over.
    #[error("another program uses this client id")]
    TakenOver,
    /// The client was closed.
    #[error("the client is closed")]
    Closed,
    /// Something that was sent or should be sent is no JSON.
    #[error("no JSON: {0}")]
    Json(String),
}

fn in_brackets(hint: &str) -> String {
    if hint.is_empty() { String::new() } else { format!(" ({hint})") }
}

impl Error {
    /// Whether trying again later may help.
    pub(crate) fn passes(&self) -> bool {
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
