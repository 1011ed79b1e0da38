// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The trait through which the agent fires events and receives decisions.

use futures_util::future::BoxFuture;
use tenterhook_event::{HookCall, Outcome};

/// Decides events for the agent. Implemented by the daemon, by the command line and by tests.
///
/// A call contains the normalized event and the payload in the format of `docs/spec/sdk-events.md`.
pub trait EventDispatcher: Send + Sync {
    /// Fires an event. Returns once the decision is made and recorded.
    fn fire(&self, call: HookCall) -> BoxFuture<'_, Result<Outcome, DispatchError>>;
}

/// The error for an event on which no decision could be made. The agent then stops, because it never runs unguarded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DispatchError {
    /// Why no decision could be made.
    pub message: String,
}

impl DispatchError {
    /// Creates an error with the cause of the failure.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }
}
