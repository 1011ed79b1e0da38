// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats records and calls as a table.

use anstyle::Style;
use tenterhook_api::{FoldedRecords, ToolRunResult};
use tenterhook_event::Decision;
use tenterhook_report::RecordRow;

use crate::{BAD, BOLD, DIM, GOOD, TableLayout, WARN, fit, style_of};

/// A table of records with these columns: number, time, source, verdict, the name of a stopped call, the call, and the
/// rule or hook that decided. A table of calls also has a column for their results.
pub struct RecordTable {
    layout: TableLayout,
    /// Whether the table shows calls with their results.
    has_results: bool,
    /// Whether the table is narrow.
    is_narrow: bool,
    time_width: usize,
    /// Width of the call column.
    call_width: usize,
    /// Width of the column that names the rule or hook that decided.
    by_width: usize,
}

const SEQ_WIDTH: usize = 7;
const TIME_WIDTH: usize = 19;
const SOURCE_WIDTH: usize = 12;
const VERDICT_WIDTH: usize = 8;
/// Width of the verdict in a table of calls, whose calls can also be `rewritten`.
const CALL_VERDICT_WIDTH: usize = 9;
const NAME_WIDTH: usize = 5;
/// Width of results such as `failed 1.2 s`.
const RESULT_WIDTH: usize = 13;
/// Maximum number of kinds of events that a folded row names.
const MAX_FOLDED_KINDS: usize = 3;
/// Most ids of built-in rules fit this width.
const MIN_BY_WIDTH: usize = 16;
/// Narrower tables show the call instead of the rule, and the time without year and seconds.
const NARROW_TABLE: usize = 96;
/// Characters of a time such as `2026-11-16 07:52:42` that a narrow table shows.
const SHORT_TIME: std::ops::Range<usize> = 5..16;

impl RecordTable {
    /// Creates a table of records with this layout.
    pub fn new(layout: TableLayout) -> Self {
        Self::with_results(layout, false)
    }

    /// Creates a table of calls, one row for a call and its result.
    pub fn of_calls(layout: TableLayout) -> Self {
        Self::with_results(layout, true)
    }

    fn with_results(layout: TableLayout, has_results: bool) -> Self {
        let is_narrow = layout.is_truncated && layout.width < NARROW_TABLE;
        let time_width = if is_narrow { SHORT_TIME.len() } else { TIME_WIDTH };
        let room = layout
            .width
            .saturating_sub(SEQ_WIDTH + time_width + SOURCE_WIDTH + VERDICT_WIDTH + NAME_WIDTH + 6)
            .saturating_sub(if has_results {
                RESULT_WIDTH + 1 + CALL_VERDICT_WIDTH - VERDICT_WIDTH
            } else {
                0
            });
        let by_width = if is_narrow { 0 } else { (room / 3).max(MIN_BY_WIDTH).min(room) };
        Self { layout, has_results, is_narrow, time_width, call_width: room - by_width, by_width }
    }

    /// Formats the header line.
    pub fn head(&self) -> String {
        let decided_by = if self.is_narrow { String::new() } else { fit("DECIDED BY", self.by_width) };
        let result = if self.has_results { fit("RESULT", RESULT_WIDTH) + " " } else { String::new() };
        format!(
            "{BOLD}{:>SEQ_WIDTH$} {} {} {} {} {} {result}{}{BOLD:#}\n",
            "RECORD",
            fit("TIME (UTC)", self.time_width),
            fit("SOURCE", SOURCE_WIDTH),
            fit("VERDICT", self.verdict_width()),
            fit("NAME", NAME_WIDTH),
            fit("CALL", self.call_width),
            decided_by.trim_end()
        )
    }

    /// Formats a record as one line.
    pub fn row(&self, row: &RecordRow) -> String {
        let (style, word) = match row.verdict {
            Some(Decision::None) => (DIM, "·"),
            Some(decision) => (style_of(decision), decision.label()),
            None => (WARN, "–"),
        };
        self.line(row, style, word, "")
    }

    /// Formats a call and its result as one line.
    pub fn call_row(&self, row: &RecordRow, is_rewritten: bool, result: Option<&ToolRunResult>) -> String {
        let (style, word) = match row.verdict {
            Some(decision @ (Decision::Ask | Decision::Deny)) => (style_of(decision), decision.label()),
            _ if is_rewritten => (WARN, "rewritten"),
            Some(Decision::None) => (DIM, "·"),
            Some(decision) => (style_of(decision), decision.label()),
            None => (WARN, "–"),
        };
        let result = match result {
            None => fit("", RESULT_WIDTH),
            Some(result) => {
                let ran = result.ran_ms.map(|ms| format!(" {}", format_run_time(ms))).unwrap_or_default();
                let (style, word) = if result.failed { (BAD, "failed") } else { (GOOD, "ok") };
                format!("{style}{}{style:#}", fit(&format!("{word}{ran}"), RESULT_WIDTH))
            }
        };
        self.line(row, style, word, &(result + " "))
    }

    /// Formats events that are not calls as one line.
    pub fn folded_row(&self, seq: u64, folded: &FoldedRecords) -> String {
        let mut kinds: Vec<_> = folded.events.iter().collect();
        kinds.sort_by(|(a, many), (b, more)| more.cmp(many).then(a.cmp(b)));
        let name = |(name, count): &(&String, &u64)| match count {
            1 => (*name).clone(),
            count => format!("{count} × {name}"),
        };
        let names: Vec<_> = kinds.iter().take(MAX_FOLDED_KINDS).map(name).collect();
        let more = if kinds.len() > MAX_FOLDED_KINDS { ", …" } else { "" };
        format!("{DIM}{seq:>SEQ_WIDTH$} {}{more}{DIM:#}\n", names.join(", "))
    }

    fn verdict_width(&self) -> usize {
        if self.has_results { CALL_VERDICT_WIDTH } else { VERDICT_WIDTH }
    }

    fn line(&self, row: &RecordRow, style: Style, word: &str, result: &str) -> String {
        let time = if self.is_narrow { SHORT_TIME } else { 0..row.at.len() };
        let decided_by =
            if self.is_narrow { String::new() } else { self.layout.cell(&row.by, self.by_width) };
        format!(
            "{DIM}{:>SEQ_WIDTH$} {} {}{DIM:#} {style}{}{style:#} {} {} {result}{}\n",
            row.seq,
            fit(row.at.get(time).unwrap_or(&row.at), self.time_width),
            self.layout.cell(&row.from, SOURCE_WIDTH),
            fit(word, self.verdict_width()),
            fit(&row.name, NAME_WIDTH),
            self.layout.cell(&row.what, self.call_width),
            decided_by.trim_end()
        )
    }
}

/// Formats the run time of a tool: `8 ms`, `1.2 s`, `3 min`.
fn format_run_time(ms: u64) -> String {
    match ms {
        0..1000 => format!("{ms} ms"),
        1000..100_000 => format!("{}.{} s", ms / 1000, ms % 1000 / 100),
        _ => format!("{} min", ms / 60_000),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_call_and_its_result_are_one_line_and_other_events_are_counted() {
        let table = RecordTable::of_calls(TableLayout { width: 120, is_truncated: true });
        let row = RecordRow {
            seq: 7,
            name: String::new(),
            at: "2026-11-16 07:52:42".to_owned(),
            from: "codex".to_owned(),
            what: "Bash cargo test".to_owned(),
            verdict: Some(Decision::None),
            by: "hook:guard".to_owned(),
            reason: String::new(),
        };
        let failed = ToolRunResult { seq: 8, failed: true, ran_ms: Some(1250), error: None };
        let line = table.call_row(&row, true, Some(&failed));
        for text in ["rewritten", "Bash cargo test", "failed 1.2 s", "hook:guard"] {
            assert!(line.contains(text), "{line}");
        }
        assert!(table.head().contains("RESULT") && !RecordTable::new(table.layout).head().contains("RESULT"));
        let events = BTreeMap::from([("stop".to_owned(), 1), ("notification".to_owned(), 8)]);
        let folded = table.folded_row(20, &FoldedRecords { first: 12, count: 9, events });
        assert!(folded.contains("20 8 × notification, stop"), "{folded}");
        assert_eq!(format_run_time(190_000), "3 min");
    }
}
