// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Metadata of a hook call that is known before the payload is read.

use tenterhook_event::{EventId, Timestamp};

/// Metadata of a hook call that is known before the payload is read: a new id, the time, and the process's context.
#[derive(Debug, Clone)]
pub struct CallMeta {
    /// Id of the event.
    pub id: EventId,
    /// Time of the call.
    pub ts: Timestamp,
    /// Event name given by the hook command. A name in the payload takes precedence.
    pub event: String,
    /// Project root, if the harness reports it outside the payload.
    pub project: Option<String>,
    /// User account that the harness runs under.
    pub user: Option<String>,
    /// Whether the harness runs without a prompt, so that it cannot ask the user.
    pub headless: bool,
}

impl CallMeta {
    /// Creates metadata with only an id, a time and an event name.
    pub fn new(id: EventId, ts: Timestamp, event: &str) -> Self {
        Self { id, ts, event: event.to_owned(), project: None, user: None, headless: false }
    }
}
