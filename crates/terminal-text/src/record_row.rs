// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The table of records in the terminal.

use tenterhook_event::Decision;
use tenterhook_report::RecordRow;

use crate::{BOLD, DIM, WARN, fit, style_of};

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
