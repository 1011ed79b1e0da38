// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::Value;

use super::{at, lines, list, moment, pretty, text};
use crate::message::ShownCall;

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Card {
    pub(crate) id: String,
    pub(crate) digest: String,
    pub(crate) since: u64,
    pub(crate) until: u64,
    pub(crate) harness: String,
    pub(crate) session: String,
    pub(crate) cwd: String,
    pub(crate) user: String,
    pub(crate) tool: String,
    /// What it wants, on one line.
    pub(crate) wants: String,
    /// The same with its lines, never cut.
    pub(crate) whole: Vec<String>,
    pub(crate) args: Vec<String>,
    /// Who asks, and why.
    pub(crate) reasons: Vec<(String, String)>,
}

impl Card {
    /// All that wait.
    pub(crate) fn all(answer: &Value) -> Vec<Self> {
        list(answer, "pending").iter().map(Self::read).collect()
    }

    fn read(card: &Value) -> Self {
        Self {
            id: text(card, "id"),
            digest: text(card, "digest"),
            since: moment(card, "since"),
            until: moment(card, "until"),
            harness: text(card, "source"),
            session: text(card, "session"),
            cwd: text(card, "cwd"),
            user: text(card, "user"),
            tool: text(card, "tool"),
            wants: text(card, "wants"),
            whole: lines(card, "wants"),
            args: if at(card, "args").is_null() { Vec::new() } else { pretty(at(card, "args")) },
            reasons: list(card, "reasons")
                .iter()
                .map(|said| (text(said, "by"), text(said, "said")))
                .collect(),
        }
    }

    /// What an approval of it names.
    pub(crate) fn shown(&self) -> ShownCall {
        ShownCall { id: self.id.clone(), digest: self.digest.clone() }
    }

    /// Whether it is the call that was shown, and not another one under its id.
    pub(crate) fn is_shown(&self, shown: &ShownCall) -> bool {
        self.id == shown.id && self.digest == shown.digest
    }

    pub(crate) fn fits(&self, words: &[String]) -> bool {
        let parts = [&self.harness, &self.session, &self.tool, &self.wants, &self.cwd];
        let sought = parts.map(String::as_str).join(" ").to_lowercase();
        words.iter().all(|word| sought.contains(word))
    }
}
