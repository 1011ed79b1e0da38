// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What an event changed, for whoever follows. Nothing is made when nobody does.

use tenterhook_api::{RecordPosition, SessionChange, SessionEvent};
use tenterhook_event::Event;

use super::SessionKey;

/// Changes of one event.
#[derive(Debug, Default)]
pub struct SessionUpdate(Option<Vec<SessionChange>>);

impl SessionUpdate {
    /// Somebody follows.
    pub fn listening(follows: bool) -> Self {
        Self(follows.then(Vec::new))
    }

    pub(super) fn tell(&mut self, change: impl FnOnce() -> SessionChange) {
        if let Some(changes) = &mut self.0 {
            changes.push(change());
        }
    }

    /// All there is, in order.
    #[cfg(test)]
    pub fn news(self) -> Vec<SessionChange> {
        self.0.unwrap_or_default()
    }

    /// All there is, each with its session and the leaf it comes from.
    pub fn named(self, key: &SessionKey, event: &Event, seq: u64) -> Vec<SessionEvent> {
        let named = |change| SessionEvent {
            session: key.id.clone(),
            harness: key.harness.clone(),
            at: RecordPosition { seq, ts: event.ts },
            change,
        };
        self.0.unwrap_or_default().into_iter().map(named).collect()
    }
}
