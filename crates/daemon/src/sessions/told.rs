// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What an event changed, for whoever follows. Nothing is made when nobody does.

use tenterhook_api::{RecordPosition, SessionChange, SessionEvent};
use tenterhook_event::Event;

use super::Key;

/// Changes of one event.
#[derive(Debug, Default)]
pub(crate) struct Told(Option<Vec<SessionChange>>);

impl Told {
    /// Somebody follows.
    pub(crate) fn listening(follows: bool) -> Self {
        Self(follows.then(Vec::new))
    }

    pub(super) fn tell(&mut self, change: impl FnOnce() -> SessionChange) {
        if let Some(changes) = &mut self.0 {
            changes.push(change());
        }
    }

    /// All there is, in order.
    #[cfg(test)]
    pub(crate) fn news(self) -> Vec<SessionChange> {
        self.0.unwrap_or_default()
    }

    /// All there is, each with its session and the leaf it comes from.
    pub(crate) fn named(self, key: &Key, event: &Event, seq: u64) -> Vec<SessionEvent> {
        let named = |change| SessionEvent {
            session: key.id.clone(),
            harness: key.harness.clone(),
            at: RecordPosition { seq, ts: event.ts },
            change,
        };
        self.0.unwrap_or_default().into_iter().map(named).collect()
    }
}
