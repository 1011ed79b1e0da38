// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tenterhook_proto::v1::HookEvent;

use crate::Error;

/// What a hook is asked about.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// The hook that is asked.
    pub hook_id: String,
    /// Such as `PreToolUse`.
    pub event_type: String,
    /// The harness's id of the conversation; may be empty.
    pub session_id: String,
    /// The event's id, as in the ledger.
    pub event_id: String,
    /// When it happened, in milliseconds since 1970.
    pub timestamp: i64,
    /// How long somebody waits for the answer; `None`: nobody does.
    pub timeout: Option<Duration>,
    /// How often the hook has been asked about it, from 1.
    pub attempt: i32,
    /// Whether it was sent before, or happened while the stream was broken.
    pub redelivered: bool,
    /// All of it.
    pub payload: Map<String, Value>,
}

impl Event {
    pub(crate) fn read(event: &HookEvent) -> Result<Self, Error> {
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

    /// The tool, where there is one.
    pub fn tool(&self) -> Option<&str> {
        self.payload.get("tool")?.as_str()
    }

    /// An argument of the tool that is a text.
    pub fn arg(&self, name: &str) -> Option<&str> {
        self.payload.get("args")?.get(name)?.as_str()
    }

    /// The payload as one of the types in [`events`](crate::events).
    pub fn as_type<T: DeserializeOwned>(&self) -> Result<T, Error> {
        Ok(serde_json::from_value(Value::Object(self.payload.clone()))?)
    }
}
