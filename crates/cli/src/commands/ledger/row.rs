// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One leaf as one line: for people a row of a table, for programs an object.

use serde_json::Value;
use tenterhook_event::Decision;
use tenterhook_ledger::Record;
use tenterhook_records::recorded::{Field as _, decided_by, payload, tool};
pub(super) use tenterhook_records::recorded::{leaf, ledger_record};

use crate::layout::fit;
use crate::terminal::{BOLD, DIM, Terminal, WARN, style_of, tame};

/// What a row says.
pub(super) struct Row {
    pub(super) seq: u64,
    /// In UTC, to the second.
    pub(super) at: String,
    pub(super) from: String,
    /// What the agent wanted, or what somebody changed.
    pub(super) what: String,
    /// Of decisions only.
    pub(super) verdict: Option<Decision>,
    /// Who decided: the id of a rule, or `hook:<id>`.
    pub(super) by: String,
    pub(super) reason: String,
}

impl Row {
    pub(super) fn of(record: &Record) -> Self {
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
pub(super) struct Table {
    what: usize,
    by: usize,
}

const SEQ: usize = 7;
const AT: usize = 19;
const FROM: usize = 12;
const VERDICT: usize = 7;

impl Table {
    pub(super) fn new() -> Self {
        let room = Terminal::width().saturating_sub(SEQ + AT + FROM + VERDICT + 5);
        Self { what: room * 2 / 3, by: room - room * 2 / 3 }
    }

    pub(super) fn head(&self) -> String {
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

    pub(super) fn row(&self, row: &Row) -> String {
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
