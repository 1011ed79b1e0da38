// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What an event changed, for whoever follows. Nothing is made when nobody does.

use serde_json::Value;

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
    pub(crate) fn news(self) -> Vec<(&'static str, Value)> {
        self.0.unwrap_or_default()
    }
}
