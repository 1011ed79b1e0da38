// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tenterhook_proto::v1;

use crate::Error;

/// The event for which a hook is called.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HookEvent {
    /// Id of the hook that is called.
    pub hook_id: String,
    /// Type of the event, such as `PreToolUse`.
    pub event_type: String,
    /// Session id assigned by the harness; may be empty.
    pub session_id: String,
    /// Id of the event in the ledger.
    pub event_id: String,
    /// When the event happened, in milliseconds since the Unix epoch.
    pub timestamp: i64,
    /// How long the daemon waits for the response; `None` for an observing hook.
    pub timeout: Option<Duration>,
    /// How many times the hook has been called for this event, including this call.
    pub attempt: i32,
    /// Whether the event was sent before, or happened while the stream was disconnected.
    pub redelivered: bool,
    /// The whole event as JSON.
    pub payload: Map<String, Value>,
}

impl HookEvent {
    pub(crate) fn decode(event: &v1::HookEvent) -> Result<Self, Error> {
        let timeout = u64::try_from(event.timeout_ms).ok().filter(|ms| *ms > 0).map(Duration::from_millis);
        Ok(Self {
            hook_id: event.hook_id.clone(),
            event_type: event.event_type.clone(),
            session_id: event.session_id.clone(),
            event_id: event.event_id.clone(),
            timestamp: event.timestamp,
            timeout,
            attempt: event.attempt,
            redelivered: event.redelivered,
            payload: serde_json::from_slice(&event.payload)?,
        })
    }

    /// Returns the name of the tool, for events about a tool call.
    pub fn tool(&self) -> Option<&str> {
        self.payload.get("tool")?.as_str()
    }

    /// Returns a string argument of the tool.
    pub fn arg(&self, name: &str) -> Option<&str> {
        self.payload.get("args")?.get(name)?.as_str()
    }

    /// Converts the payload into one of the types in [`events`](crate::events).
    pub fn as_type<T: DeserializeOwned>(&self) -> Result<T, Error> {
        Ok(serde_json::from_value(Value::Object(self.payload.clone()))?)
    }
}
