// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Follows calls: one row for a call, its decision and its result.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use tenterhook_api::{CallSelection, ToolCallRow};
use tenterhook_ledger::{Filter, Reader};
use tenterhook_records::list_calls;
use tenterhook_report::RecordRow;
use tenterhook_terminal_text::record_row::RecordTable;

use crate::error::CommandError;

use super::read_error;

/// Time that a call waits for its result before it is printed without one.
const RESULT_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of rows per query.
const PAGE_ROWS: usize = 200;

/// Prints each call once, oldest first.
pub(super) struct CallTail {
    filter: Filter,
    show: CallSelection,
    table: RecordTable,
    /// Calls before this record have been printed.
    from: u64,
    /// Records that were read last time.
    size: u64,
    printed: BTreeSet<u64>,
    /// Calls without a result, and when they were seen first.
    waiting: BTreeMap<u64, Instant>,
}

impl CallTail {
    /// Prints calls from the end of the ledger on.
    pub(super) fn new(filter: Filter, show: CallSelection, table: RecordTable, size: u64) -> Self {
        let (printed, waiting) = (BTreeSet::new(), BTreeMap::new());
        Self { filter, show, table, from: size, size, printed, waiting }
    }

    /// Returns the latest calls as text.
    pub(super) fn latest(&self, reader: &Reader, number: usize) -> Result<String, CommandError> {
        let mut filter = Filter { before: Some(self.size), ..self.filter.clone() };
        let mut rows = Vec::new();
        while rows.len() < number {
            let page = list_calls(reader, &filter, self.show, number - rows.len()).map_err(read_error)?;
            rows.extend(page.rows);
            filter.before = page.next;
            if page.next.is_none() {
                break;
            }
        }
        rows.truncate(number);
        rows.iter().rev().map(|row| self.format_row(reader, row)).collect()
    }

    /// Returns the calls since the last time as text, oldest first. A call that may run is printed with its result.
    pub(super) fn next(&mut self, reader: &Reader) -> Result<String, CommandError> {
        let size = reader.size().map_err(read_error)?;
        if size == self.size && self.waiting.is_empty() {
            return Ok(String::new());
        }
        self.size = size;
        let now = Instant::now();
        let (mut text, mut from) = (String::new(), size);
        for row in self.rows_since(reader)?.iter().rev() {
            let key = first_record(row);
            if self.printed.contains(&key) {
                continue;
            }
            let seen = *self.waiting.entry(key).or_insert(now);
            if is_complete(row, size) || now.duration_since(seen) >= RESULT_TIMEOUT {
                text += &self.format_row(reader, row)?;
                self.printed.insert(key);
                self.waiting.remove(&key);
            } else {
                from = from.min(key);
            }
        }
        self.from = from;
        self.printed = self.printed.split_off(&from);
        self.waiting = self.waiting.split_off(&from);
        Ok(text)
    }

    /// Returns the rows that may not have been printed, newest first.
    fn rows_since(&self, reader: &Reader) -> Result<Vec<ToolCallRow>, CommandError> {
        let mut filter = Filter { before: Some(self.size), ..self.filter.clone() };
        let mut rows = Vec::new();
        loop {
            let page = list_calls(reader, &filter, self.show, PAGE_ROWS).map_err(read_error)?;
            // The call of a result that was written later can be older.
            rows.extend(page.rows.into_iter().filter(|row| {
                first_record(row) >= self.from
                    || row.result.as_ref().is_some_and(|result| result.seq >= self.from)
            }));
            match page.next {
                Some(next) if next > self.from => filter.before = Some(next),
                _ => return Ok(rows),
            }
        }
    }

    fn format_row(&self, reader: &Reader, row: &ToolCallRow) -> Result<String, CommandError> {
        if let Some(folded) = &row.folded {
            return Ok(self.table.folded_row(row.line.seq, folded));
        }
        let record = reader.get(row.line.seq).map_err(read_error)?;
        Ok(record.map_or_else(String::new, |record| {
            self.table.call_row(&RecordRow::from_record(&record), row.rewritten, row.result.as_ref())
        }))
    }
}

/// Number of the oldest record of a row.
fn first_record(row: &ToolCallRow) -> u64 {
    row.folded.as_ref().map_or(row.line.seq, |folded| folded.first)
}

/// Whether nothing will be added to a row.
fn is_complete(row: &ToolCallRow, size: u64) -> bool {
    let is_stopped = matches!(row.line.verdict.as_deref(), Some("ask" | "deny"));
    match &row.folded {
        // The newest events may be followed by more of them.
        Some(_) => row.line.seq + 1 < size,
        None => row.result.is_some() || is_stopped || row.line.tool.is_none(),
    }
}
