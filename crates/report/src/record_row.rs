// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::Value;
use tenterhook_event::Decision;
use tenterhook_event::plain_text::strip_control_characters;
use tenterhook_ledger::StoredRecord;
use tenterhook_records::id_reference::short_name;
use tenterhook_records::recorded::{JsonField as _, decided_by, envelope, payload, tool};

/// A record as one row of a table.
#[derive(Debug)]
pub struct RecordRow {
    /// Sequence number of the record.
    pub seq: u64,
    /// Short name of a call that was stopped; empty for other records.
    pub name: String,
    /// Time in UTC, to the second.
    pub at: String,
    /// The harness, or the user who made a change.
    pub from: String,
    /// The agent's call, or the change that was made.
    pub what: String,
    /// Verdict, for decisions only.
    pub verdict: Option<Decision>,
    /// Id of the rule that decided, or `hook:<id>`.
    pub by: String,
    /// Reason for the decision.
    pub reason: String,
}

impl RecordRow {
    /// Summarises a record. Control characters are removed, because agents choose the text.
    pub fn from_record(record: &StoredRecord) -> Self {
        let fields = envelope(record);
        let payload = payload(record);
        let text = |value: &Value| strip_control_characters(value.as_str().unwrap_or_default());
        let verdict = serde_json::from_value(fields.field("verdict").clone()).ok();
        let at = text(fields.field("ts")).chars().take(19).collect::<String>().replace('T', " ");
        let what = match (fields.field("kind").as_str(), tool(&fields, &payload)) {
            (None, _) => "pruned; its hash is kept".to_owned(),
            (Some("decision" | "seen"), Some(tool)) => {
                strip_control_characters(&format!("{} {}", tool.name, tool.gist()))
            }
            (Some("decision" | "seen"), None) => {
                let detail = payload.field("detail");
                let keys = ["prompt", "response", "message", "error", "cause"];
                let text_of_event =
                    keys.iter().find_map(|key| detail.field(key).as_str()).unwrap_or_default();
                strip_control_characters(&format!("{} {text_of_event}", text(fields.field("native_event"))))
            }
            (Some("change"), _) => strip_control_characters(&format!(
                "{} {}",
                text(fields.field("what")),
                format_detail(fields.field("detail"))
            )),
            (Some("start"), _) => format!("ledger created: {}", text(fields.field("log"))),
            (Some("rotate"), _) => format!("signing key changed to {}", text(fields.field("new_key"))),
            (Some(kind), _) => {
                format!("{kind} of records {} to {}", fields.field("from"), fields.field("to"))
            }
        };
        let from = match fields.field("source").as_str() {
            Some(source) => strip_control_characters(source),
            None => text(fields.field("who")),
        };
        let by = strip_control_characters(&decided_by(&fields).unwrap_or_default());
        let reason = text(fields.field("reason"));
        // The decision was not delivered: the harness received the decision in another record.
        let what = if record.undelivered { format!("(not delivered) {what}") } else { what };
        let is_foreign = fields.field("session_check").as_str() == Some("unverified");
        let what = if is_foreign { format!("(unverified session) {what}") } else { what };
        let name = short_name(&fields).unwrap_or_default();
        Self { seq: record.seq, name, at, from, what: what.trim().to_owned(), verdict, by, reason }
    }
}

fn format_detail(detail: &Value) -> String {
    let Some(fields) = detail.as_object() else { return String::new() };
    let word = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    fields.iter().map(|(name, value)| format!("{name}={}", word(value))).collect::<Vec<_>>().join(" ")
}
