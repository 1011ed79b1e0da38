// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The changes that an event made to its session, for programs that follow the session. If no program follows it,
//! nothing is collected.

use tenterhook_api::{RecordPosition, SessionChange, SessionEvent};
use tenterhook_event::Event;

use super::SessionKey;

/// The changes of one event.
#[derive(Debug, Default)]
pub struct SessionUpdate(Option<Vec<SessionChange>>);

impl SessionUpdate {
    /// Creates an update that collects changes if the session is followed.
    pub fn new(is_followed: bool) -> Self {
        Self(is_followed.then(Vec::new))
    }

    pub(super) fn push(&mut self, change: impl FnOnce() -> SessionChange) {
        if let Some(changes) = &mut self.0 {
            changes.push(change());
        }
    }

    /// Returns the changes in order.
    #[cfg(test)]
    pub fn into_changes(self) -> Vec<SessionChange> {
        self.0.unwrap_or_default()
    }

    /// Converts the changes to events with their session and sequence number.
    pub fn into_events(self, key: &SessionKey, decided: &Event, seq: u64) -> Vec<SessionEvent> {
        let event = |change| SessionEvent {
            session: key.id.clone(),
            harness: key.harness.clone(),
            at: RecordPosition { seq, ts: decided.ts },
            change,
        };
        self.0.unwrap_or_default().into_iter().map(event).collect()
    }
}
