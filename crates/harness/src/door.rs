// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the binary knows at the door, before the payload is read.

use tenterhook_event::{EventId, Timestamp};

/// What the binary knows at the door: a fresh id, the clock, and what the process was told.
#[derive(Debug, Clone)]
pub struct Door {
    /// The event's id.
    pub id: EventId,
    /// Now.
    pub ts: Timestamp,
    /// The event as the hook command names it; the payload's own name wins.
    pub event: String,
    /// The project root, where the harness says it outside the payload.
    pub project: Option<String>,
    /// The account the harness runs under.
    pub user: Option<String>,
}

impl Door {
    /// A door that knows no more than an id, a time and a name.
    pub fn new(id: EventId, ts: Timestamp, event: &str) -> Self {
        Self { id, ts, event: event.to_owned(), project: None, user: None }
    }
}
