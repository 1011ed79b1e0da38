// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::time::Duration;

use serde_json::Value;
use tenterhook_proto::v1::{FireRequest, FireResponse, HookAction};

use crate::{Client, Error};

/// An event that an agent fires.
#[derive(Debug, Clone)]
pub struct Fire {
    request: FireRequest,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Fired {
    /// The event's id, as in the ledger.
    pub event_id: String,
    /// Whether it must not happen.
    pub blocked: bool,
    /// When the tool that failed should be tried again, if it should: at `ToolError`.
    pub retry: Option<Duration>,
    /// Why.
    pub reason: Option<String>,
    /// What is to run instead, in the words of a hook's answer.
    pub modified: Option<Value>,
    /// `none`, `allow`, `defer`, `ask` or `deny`.
    pub decision: String,
    /// Whether the agent should stop altogether.
    pub stop: bool,
    /// What the model should be told.
    pub context: Option<String>,
    /// What the person should be told.
    pub message: Option<String>,
    /// All of it.
    pub outcome: Value,
}

impl Fire {
    /// An event of a type, with what it carries (`docs/spec/sdk-events.md`).
    pub fn new(event_type: impl Into<String>, payload: &Value) -> Self {
        let payload = payload.to_string().into_bytes();
        Self { request: FireRequest { event_type: event_type.into(), payload, ..FireRequest::default() } }
    }

    /// The conversation it belongs to.
    #[must_use]
    pub fn session(mut self, id: impl Into<String>) -> Self {
        self.request.session_id = id.into();
        self
    }

    /// The agent's name: lower-case letters, digits and `-`; `sdk` unless said.
    #[must_use]
    pub fn source(mut self, name: impl Into<String>) -> Self {
        self.request.source = name.into();
        self
    }

    /// The event's id, a ULID, if it has one already.
    #[must_use]
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.request.event_id = id.into();
        self
    }
}

impl Client {
    /// Takes an event through hooks, rules and record; returns once it is recorded.
    pub async fn fire(&self, event: Fire) -> Result<Fired, Error> {
        let response = self.rpc().fire(event.request).await?.into_inner();
        Fired::read(response)
    }
}

impl Fired {
    fn read(response: FireResponse) -> Result<Self, Error> {
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
