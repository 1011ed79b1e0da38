// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The table of snapshots that `undo list` prints.

use std::fmt::Write as _;

use tenterhook_guard::LedgerHandle;
use tenterhook_ledger::Reader;
use tenterhook_report::RecordRow;
use tenterhook_terminal_text::{TableLayout, fit};
use tenterhook_undo::{SnapshotManifest, format_age, format_bytes};

use crate::terminal::{BOLD, DIM, tame};

/// Maximum number of snapshots in the table.
const MAX_ROWS: usize = 50;

const ID_WIDTH: usize = 24;
const AGE_WIDTH: usize = 7;
const FILES_WIDTH: usize = 6;
const SIZE_WIDTH: usize = 9;
const RECORD_WIDTH: usize = 6;
/// Minimum width of the last column, which names the call.
const MIN_CALL_WIDTH: usize = 16;

/// Finds the records of calls.
pub(crate) struct CallNames(Option<Reader>);

impl CallNames {
    /// Opens a ledger. Without one, the table names the rules instead of the calls.
    pub(crate) fn of(ledger: &LedgerHandle) -> Self {
        Self(ledger.reader().ok())
    }

    /// Returns the number of a snapshot's record, and the call.
    fn find(&self, snapshot: &SnapshotManifest) -> Option<(u64, String)> {
        let (reader, event) = (self.0.as_ref()?, snapshot.event.as_ref()?);
        let seq = reader.find(event).ok()??;
        let record = reader.get(seq).ok()??;
        Some((seq, RecordRow::from_record(&record).what))
    }
}

/// Formats snapshots, one line each.
pub(crate) fn table(
    snapshots: &[SnapshotManifest],
    calls: &CallNames,
    layout: TableLayout,
    now_ms: u64,
) -> String {
    let used = ID_WIDTH + AGE_WIDTH + FILES_WIDTH + SIZE_WIDTH + RECORD_WIDTH + 5;
    let call_width = layout.width.saturating_sub(used).max(MIN_CALL_WIDTH);
    let mut text = format!(
        "{BOLD}{} {:>AGE_WIDTH$} {:>FILES_WIDTH$} {:>SIZE_WIDTH$} {:>RECORD_WIDTH$} CALL{BOLD:#}\n",
        fit("SNAPSHOT", ID_WIDTH),
        "AGE",
        "FILES",
        "SIZE",
        "RECORD"
    );
    for snapshot in snapshots.iter().take(MAX_ROWS) {
        let (record, call) = match calls.find(snapshot) {
            Some((seq, call)) => (seq.to_string(), call),
            None => (String::new(), snapshot.reason.clone()),
        };
        let _ = writeln!(
            text,
            "{DIM}{}{DIM:#} {:>AGE_WIDTH$} {:>FILES_WIDTH$} {:>SIZE_WIDTH$} {record:>RECORD_WIDTH$} {}",
            fit(&snapshot.id, ID_WIDTH),
            format_age(now_ms.saturating_sub(snapshot.taken_ms)),
            snapshot.entries,
            format_bytes(snapshot.bytes),
            layout.cell(&tame(&call), call_width).trim_end()
        );
    }
    if snapshots.len() > MAX_ROWS {
        let more = snapshots.len() - MAX_ROWS;
        let _ = writeln!(text, "{DIM}and {more} older ones, which `--json` lists{DIM:#}");
    }
    text
}
