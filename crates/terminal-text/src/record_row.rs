// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats records as a table.

use tenterhook_event::Decision;
use tenterhook_report::RecordRow;

use crate::{BOLD, DIM, TableLayout, WARN, fit, style_of};

/// A table of records with these columns: number, time, source, verdict, the name of a stopped call, the call, and the
/// rule or hook that decided.
pub struct RecordTable {
    layout: TableLayout,
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
const NAME_WIDTH: usize = 5;
/// Most ids of built-in rules fit this width.
const MIN_BY_WIDTH: usize = 16;
/// Narrower tables show the call instead of the rule, and the time without year and seconds.
const NARROW_TABLE: usize = 96;
/// Characters of a time such as `2026-11-16 07:52:42` that a narrow table shows.
const SHORT_TIME: std::ops::Range<usize> = 5..16;

impl RecordTable {
    /// Creates a table with this layout.
    pub fn new(layout: TableLayout) -> Self {
        let is_narrow = layout.is_truncated && layout.width < NARROW_TABLE;
        let time_width = if is_narrow { SHORT_TIME.len() } else { TIME_WIDTH };
        let room = layout
            .width
            .saturating_sub(SEQ_WIDTH + time_width + SOURCE_WIDTH + VERDICT_WIDTH + NAME_WIDTH + 6);
        let by_width = if is_narrow { 0 } else { (room / 3).max(MIN_BY_WIDTH).min(room) };
        Self { layout, is_narrow, time_width, call_width: room - by_width, by_width }
    }

    /// Formats the header line.
    pub fn head(&self) -> String {
        let decided_by = if self.is_narrow { String::new() } else { fit("DECIDED BY", self.by_width) };
        format!(
            "{BOLD}{:>SEQ_WIDTH$} {} {} {} {} {} {}{BOLD:#}\n",
            "RECORD",
            fit("TIME (UTC)", self.time_width),
            fit("SOURCE", SOURCE_WIDTH),
            fit("VERDICT", VERDICT_WIDTH),
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
        let time = if self.is_narrow { SHORT_TIME } else { 0..row.at.len() };
        let decided_by =
            if self.is_narrow { String::new() } else { self.layout.cell(&row.by, self.by_width) };
        format!(
            "{DIM}{:>SEQ_WIDTH$} {} {}{DIM:#} {style}{}{style:#} {} {} {}\n",
            row.seq,
            fit(row.at.get(time).unwrap_or(&row.at), self.time_width),
            self.layout.cell(&row.from, SOURCE_WIDTH),
            fit(word, VERDICT_WIDTH),
            fit(&row.name, NAME_WIDTH),
            self.layout.cell(&row.what, self.call_width),
            decided_by.trim_end()
        )
    }
}
