// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The seam through which everything the agent does is told and decided.

use futures_util::future::BoxFuture;
use tenterhook_event::{Call, Outcome};

/// Where the agent tells what it is about to do, and reads what was decided. The daemon, the socket and
/// a test implement it.
///
/// The call's event is our normal form; beside it is the payload in the words of `docs/spec/sdk-events.md`.
pub trait Fire: Send + Sync {
    /// Returns once it is decided and recorded.
    fn fire(&self, call: Call) -> BoxFuture<'_, Result<Outcome, FireError>>;
}

/// Nobody could decide. The agent then does not go on: it never works unguarded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FireError {
    /// What went wrong.
    pub message: String,
}

impl FireError {
    /// What went wrong.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}
