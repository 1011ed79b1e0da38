// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What an event changed, for whoever follows. Nothing is made when nobody does.

use serde_json::{Value, json};
use tenterhook_event::Event;

use super::Key;

/// News of one event, by kind: `file-changed`, `todo-update`, `tool`, `prompt`, `denied`, `hint`, `usage`,
/// `subagent`, `ended`.
#[derive(Debug, Default)]
pub(crate) struct Told(Option<Vec<(&'static str, Value)>>);

impl Told {
    /// Somebody follows.
    pub(crate) fn listening(follows: bool) -> Self {
        Self(follows.then(Vec::new))
    }

    pub(super) fn tell(&mut self, kind: &'static str, what: impl FnOnce() -> Value) {
        if let Some(news) = &mut self.0 {
            news.push((kind, what()));
        }
    }

    /// All there is, in order.
    #[cfg(test)]
    pub(crate) fn news(self) -> Vec<(&'static str, Value)> {
        self.0.unwrap_or_default()
    }

    /// All there is, each with its session and the leaf it comes from.
    pub(crate) fn named(self, key: &Key, event: &Event, seq: u64) -> Vec<(&'static str, Value)> {
        let mut news = self.0.unwrap_or_default();
        for (_, data) in &mut news {
            if let Some(fields) = data.as_object_mut() {
                fields.insert("session".to_owned(), json!(key.id));
                fields.insert("harness".to_owned(), json!(key.harness));
                fields.insert("at".to_owned(), json!({"seq": seq, "ts": event.ts}));
            }
        }
        news
    }
}
