// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::Value;
use tenterhook_event::Decision;
use tenterhook_event::plain_text::strip_control_characters;
use tenterhook_ledger::Record;
use tenterhook_records::recorded::{Field as _, decided_by, leaf, payload, tool};

/// A record as one row of a table.
#[derive(Debug)]
pub struct RecordRow {
    /// Number of the record.
    pub seq: u64,
    /// In UTC, to the second.
    pub at: String,
    /// The harness, or who made a change.
    pub from: String,
    /// The call of the agent, or the change that was made.
    pub what: String,
    /// The verdict; only decisions have one.
    pub verdict: Option<Decision>,
    /// Who decided: the id of a rule, or `hook:<id>`.
    pub by: String,
    /// The reason that was given.
    pub reason: String,
}

impl RecordRow {
    /// Summarises a record. Control characters are removed, because agents choose the text.
    pub fn of(record: &Record) -> Self {
        let leaf = leaf(record);
        let payload = payload(record);
        let text = |value: &Value| strip_control_characters(value.as_str().unwrap_or_default());
        let verdict = serde_json::from_value(leaf.field("verdict").clone()).ok();
        let at = text(leaf.field("ts")).chars().take(19).collect::<String>().replace('T', " ");
        let what = match (leaf.field("kind").as_str(), tool(&leaf, &payload)) {
            (None, _) => "pruned; its hash is kept".to_owned(),
            (Some("decision" | "seen"), Some(tool)) => {
                strip_control_characters(&format!("{} {}", tool.name, tool.gist()))
            }
            (Some("decision" | "seen"), None) => {
                let detail = payload.field("detail");
                let said = ["prompt", "response", "message", "error", "cause"];
                let said = said.iter().find_map(|key| detail.field(key).as_str()).unwrap_or_default();
                strip_control_characters(&format!("{} {said}", text(leaf.field("native_event"))))
            }
            (Some("change"), _) => strip_control_characters(&format!(
                "{} {}",
                text(leaf.field("what")),
                brief(leaf.field("detail"))
            )),
            (Some("start"), _) => format!("the log begins: {}", text(leaf.field("log"))),
            (Some("rotate"), _) => format!("another key signs: {}", text(leaf.field("new_key"))),
            (Some(kind), _) => format!("{kind} of leaves {} to {}", leaf.field("from"), leaf.field("to")),
        };
        let from = match leaf.field("source").as_str() {
            Some(source) => strip_control_characters(source),
            None => text(leaf.field("who")),
        };
        let by = strip_control_characters(&decided_by(&leaf).unwrap_or_default());
        let reason = text(leaf.field("reason"));
        // Another leaf has what the harness heard.
        let what = if record.undelivered { format!("(nobody heard) {what}") } else { what };
        let is_foreign = leaf.field("session_check").as_str() == Some("unverified");
        let what = if is_foreign { format!("(unverified session) {what}") } else { what };
        Self { seq: record.seq, at, from, what: what.trim().to_owned(), verdict, by, reason }
    }
}

fn brief(detail: &Value) -> String {
    let Some(fields) = detail.as_object() else { return String::new() };
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    fields.iter().map(|(name, value)| format!("{name}={}", word(value))).collect::<Vec<_>>().join(" ")
}
