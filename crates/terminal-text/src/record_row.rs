// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One record of the ledger as a row of a table.

use serde_json::Value;
use tenterhook_event::Decision;
use tenterhook_ledger::Record;
use tenterhook_records::recorded::{Field as _, decided_by, leaf, payload, tool};

use crate::{BOLD, DIM, WARN, fit, style_of, tame};

/// What a row contains.
pub struct RecordRow {
    /// Number of the record.
    pub seq: u64,
    /// In UTC, to the second.
    pub at: String,
    /// The harness, or who changed something.
    pub from: String,
    /// What the agent wanted, or what somebody changed.
    pub what: String,
    /// Of decisions only.
    pub verdict: Option<Decision>,
    /// Who decided: the id of a rule, or `hook:<id>`.
    pub by: String,
    /// Reason of the decision.
    pub reason: String,
}

impl RecordRow {
    /// The row of a record.
    pub fn of(record: &Record) -> Self {
        let leaf = leaf(record);
        let payload = payload(record);
        let text = |value: &Value| tame(value.as_str().unwrap_or_default());
        let verdict = serde_json::from_value(leaf.field("verdict").clone()).ok();
        let at = text(leaf.field("ts")).chars().take(19).collect::<String>().replace('T', " ");
        let what = match (leaf.field("kind").as_str(), tool(&leaf, &payload)) {
            (None, _) => "pruned; its hash is kept".to_owned(),
            (Some("decision" | "seen"), Some(tool)) => tame(&format!("{} {}", tool.name, tool.gist())),
            (Some("decision" | "seen"), None) => {
                let detail = payload.field("detail");
                let said = ["prompt", "response", "message", "error", "cause"];
                let said = said.iter().find_map(|key| detail.field(key).as_str()).unwrap_or_default();
                tame(&format!("{} {said}", text(leaf.field("native_event"))))
            }
            (Some("change"), _) => {
                tame(&format!("{} {}", text(leaf.field("what")), brief(leaf.field("detail"))))
            }
            (Some("start"), _) => format!("the log begins: {}", text(leaf.field("log"))),
            (Some("rotate"), _) => format!("another key signs: {}", text(leaf.field("new_key"))),
            (Some(kind), _) => format!("{kind} of leaves {} to {}", leaf.field("from"), leaf.field("to")),
        };
        let from = match leaf.field("source").as_str() {
            Some(source) => tame(source),
            None => text(leaf.field("who")),
        };
        let by = tame(&decided_by(&leaf).unwrap_or_default());
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

/// Columns: the leaf, when, from whom, the verdict, what it was about, who decided.
pub struct RecordTable {
    what: usize,
    by: usize,
}

const SEQ: usize = 7;
const AT: usize = 19;
const FROM: usize = 12;
const VERDICT: usize = 7;

impl RecordTable {
    /// A table for a terminal of this many columns.
    pub fn new(width: usize) -> Self {
        let room = width.saturating_sub(SEQ + AT + FROM + VERDICT + 5);
        Self { what: room * 2 / 3, by: room - room * 2 / 3 }
    }

    /// The line above the rows.
    pub fn head(&self) -> String {
        format!(
            "{BOLD}{:>SEQ$} {} {} {} {} {}{BOLD:#}\n",
            "RECORD",
            fit("TIME (UTC)", AT),
            fit("FROM", FROM),
            fit("VERDICT", VERDICT),
            fit("WHAT", self.what),
            fit("BY", self.by).trim_end()
        )
    }

    /// One line.
    pub fn row(&self, row: &RecordRow) -> String {
        let (style, word) = match row.verdict {
            Some(Decision::None) => (DIM, "·"),
            Some(decision) => (style_of(decision), decision.word()),
            None => (WARN, "–"),
        };
        format!(
            "{DIM}{:>SEQ$} {} {}{DIM:#} {style}{}{style:#} {} {}\n",
            row.seq,
            fit(&row.at, AT),
            fit(&row.from, FROM),
            fit(word, VERDICT),
            fit(&row.what, self.what),
            fit(&row.by, self.by).trim_end()
        )
    }
}
