// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::Value;

use super::{array_field, field, pretty_lines, text_field, text_lines, time_ms};
use crate::message::ShownCall;

/// A call that waits for approval.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PendingApproval {
    pub(crate) id: String,
    /// Short name of the call.
    pub(crate) name: String,
    pub(crate) digest: String,
    pub(crate) since: u64,
    pub(crate) until: u64,
    pub(crate) harness: String,
    pub(crate) session: String,
    pub(crate) cwd: String,
    pub(crate) user: String,
    pub(crate) tool: String,
    /// The call on one line.
    pub(crate) wants: String,
    /// The complete call with its line breaks.
    pub(crate) whole: Vec<String>,
    pub(crate) args: Vec<String>,
    /// Rules and hooks that ask, with their reasons.
    pub(crate) reasons: Vec<(String, String)>,
}

impl PendingApproval {
    /// Parses the list of pending approvals.
    pub(crate) fn parse_list(answer: &Value) -> Vec<Self> {
        array_field(answer, "pending").iter().map(Self::parse).collect()
    }

    fn parse(card: &Value) -> Self {
        Self {
            id: text_field(card, "id"),
            name: text_field(card, "name"),
            digest: text_field(card, "digest"),
            since: time_ms(card, "since"),
            until: time_ms(card, "until"),
            harness: text_field(card, "source"),
            session: text_field(card, "session"),
            cwd: text_field(card, "cwd"),
            user: text_field(card, "user"),
            tool: text_field(card, "tool"),
            wants: text_field(card, "wants"),
            whole: text_lines(card, "wants"),
            args: if field(card, "args").is_null() { Vec::new() } else { pretty_lines(field(card, "args")) },
            reasons: array_field(card, "reasons")
                .iter()
                .map(|said| (text_field(said, "by"), text_field(said, "said")))
                .collect(),
        }
    }

    /// Identifies the shown call in an approval.
    pub(crate) fn shown(&self) -> ShownCall {
        ShownCall { id: self.id.clone(), digest: self.digest.clone() }
    }

    /// Whether this is the shown call, and not another call with the same id.
    pub(crate) fn is_shown(&self, shown: &ShownCall) -> bool {
        self.id == shown.id && self.digest == shown.digest
    }

    pub(crate) fn matches(&self, words: &[String]) -> bool {
        let parts = [&self.harness, &self.session, &self.tool, &self.wants, &self.cwd];
        let search_text = parts.map(String::as_str).join(" ").to_lowercase();
        words.iter().all(|word| search_text.contains(word))
    }
}
