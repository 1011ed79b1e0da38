// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::time::Duration;

use serde_json::Value;
use tenterhook_proto::v1::{FireRequest, FireResponse, HookAction};

use crate::{Client, Error};

/// An event that an agent sends to the daemon for evaluation.
#[derive(Debug, Clone)]
pub struct FiredEvent {
    request: FireRequest,
}

/// The outcome of a fired event.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FireResult {
    /// Id of the event in the ledger.
    pub event_id: String,
    /// Whether the action is blocked.
    pub blocked: bool,
    /// Delay after which the tool should be called again. Set only for `ToolError`.
    pub retry: Option<Duration>,
    /// Reason for the decision.
    pub reason: Option<String>,
    /// Changes to apply, in the format of [`HookResponse::modified`](crate::HookResponse::modified).
    pub modified: Option<Value>,
    /// The decision: `none`, `allow`, `defer`, `ask` or `deny`.
    pub decision: String,
    /// Whether the agent must stop.
    pub stop: bool,
    /// Additional text for the model.
    pub context: Option<String>,
    /// Message for the user.
    pub message: Option<String>,
    /// The complete outcome (`docs/spec/outcome.schema.json`).
    pub outcome: Value,
}

impl FiredEvent {
    /// Creates an event of a type with its payload (`docs/spec/sdk-events.md`).
    pub fn new(event_type: impl Into<String>, payload: &Value) -> Self {
        let payload = payload.to_string().into_bytes();
        Self { request: FireRequest { event_type: event_type.into(), payload, ..FireRequest::default() } }
    }

    /// Sets the session id.
    #[must_use]
    pub fn session(mut self, id: impl Into<String>) -> Self {
        self.request.session_id = id.into();
        self
    }

    /// Sets the agent's name: lower-case letters, digits and `-`. The default is `sdk`.
    #[must_use]
    pub fn source(mut self, name: impl Into<String>) -> Self {
        self.request.source = name.into();
        self
    }

    /// Sets the id of the event, a ULID. By default the daemon generates one.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.request.event_id = id.into();
        self
    }
}

impl Client {
    /// Runs an event through hooks and rules, and returns once the outcome is recorded.
    pub async fn fire(&self, event: FiredEvent) -> Result<FireResult, Error> {
        let response = self.rpc().fire(event.request).await?.into_inner();
        FireResult::decode(response)
    }
}

impl FireResult {
    fn decode(response: FireResponse) -> Result<Self, Error> {
        let action = response.action();
        if let Some(error) = response.error {
            return Err(error.into());
        }
        let blocked = action == HookAction::Block;
        let delay = response.retry_delay_ms.and_then(|ms| u64::try_from(ms).ok()).unwrap_or_default();
        let retry = (action == HookAction::Retry).then(|| Duration::from_millis(delay));
        let FireResponse { event_id, reason, modified, decision, stop, outcome, context, message, .. } =
            response;
        let modified = modified.map(|bytes| serde_json::from_slice(&bytes)).transpose()?;
        let outcome = serde_json::from_slice(&outcome)?;
        Ok(Self { event_id, blocked, retry, reason, modified, decision, stop, context, message, outcome })
    }
}
