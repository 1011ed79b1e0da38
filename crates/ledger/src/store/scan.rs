// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Scans decisions, oldest first and without copying, for callers that aggregate many of them.

use std::collections::BTreeSet;
use std::ops::Range;

use rusqlite::types::ValueRef;
use rusqlite::{Row, Rows, params};

use super::block::BLOCK_RECORDS;
use super::error::ReadError;
use super::reader::Reader;
use super::rows::{get_u64, sql_i64};

/// Columns of a decision. Large columns come last, so that they are read only if needed.
const DECISION_COLUMNS: &str = "l.seq, l.source, l.session, l.erased, l.bytes, l.payload FROM leaves l";

/// A decision, borrowed from its row.
#[derive(Debug, Clone, Copy)]
pub struct DecisionRef<'a> {
    /// Number of the record.
    pub seq: u64,
    /// The envelope's bytes.
    pub bytes: &'a [u8],
    /// The payload; `None` if there is none, it was too large, or it was erased.
    pub payload: Option<&'a [u8]>,
    /// Whether the payload was erased.
    pub erased: bool,
}

impl Reader {
    /// Calls `each` for the decisions in sessions for which `wanted` returns true; its arguments are harness and
    /// session id. Skips undelivered decisions. Returns the number after the last record read.
    pub fn scan_decisions(
        &self,
        range: Range<u64>,
        wanted: impl Fn(&str, &str) -> bool,
        mut each: impl FnMut(DecisionRef<'_>),
    ) -> Result<u64, ReadError> {
        let undelivered = self.undelivered_in(&range)?;
        let sql = format!("SELECT {DECISION_COLUMNS} WHERE l.seq >= ?1 AND l.seq < ?2 ORDER BY l.seq");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let rows = statement.query(params![sql_i64(range.start), sql_i64(range.end)])?;
        let last = visit_rows(rows, &undelivered, wanted, &mut each)?;
        Ok(last.map_or(range.start, |last| last + 1))
    }

    /// Calls `each` for all delivered decisions in one session.
    pub fn scan_session(
        &self,
        harness: &str,
        session: &str,
        mut each: impl FnMut(DecisionRef<'_>),
    ) -> Result<(), ReadError> {
        // One transaction gives a consistent view of the index.
        let transaction = self.connection.unchecked_transaction()?;
        let undelivered = self.undelivered_in(&(0..u64::MAX))?;
        let indexed_end = self.first_unindexed()?;
        let mut blocks = Vec::new();
        if indexed_end > 0 {
            let sql = "SELECT block FROM filed WHERE field = 'session' AND value = ?1 ORDER BY block";
            let mut statement = self.connection.prepare_cached(sql)?;
            let rows = statement.query_map([session], |row| get_u64(row, 0))?;
            blocks = rows.collect::<Result<_, _>>()?;
        }
        let sql = format!(
            "SELECT {DECISION_COLUMNS} WHERE l.seq >= ?1 AND l.seq < ?2 AND l.session = ?3 AND l.source = ?4 ORDER BY l.seq"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let ranges = blocks.into_iter().map(|block| block * BLOCK_RECORDS..(block + 1) * BLOCK_RECORDS);
        for range in ranges.chain(std::iter::once(indexed_end..u64::MAX)) {
            let rows =
                statement.query(params![sql_i64(range.start), sql_i64(range.end), session, harness])?;
            visit_rows(rows, &undelivered, |_, _| true, &mut each)?;
        }
        drop(statement);
        transaction.commit()?;
        Ok(())
    }

    fn undelivered_in(&self, range: &Range<u64>) -> Result<BTreeSet<u64>, ReadError> {
        if !self.knows_undelivered() {
            return Ok(BTreeSet::new());
        }
        let sql = "SELECT seq FROM undelivered WHERE seq >= ?1 AND seq < ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([sql_i64(range.start), sql_i64(range.end)], |row| get_u64(row, 0))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// Calls `each` for the rows. Returns the number of the last row.
fn visit_rows(
    mut rows: Rows<'_>,
    undelivered: &BTreeSet<u64>,
    wanted: impl Fn(&str, &str) -> bool,
    each: &mut impl FnMut(DecisionRef<'_>),
) -> Result<Option<u64>, ReadError> {
    let mut last = None;
    while let Some(row) = rows.next()? {
        let seq = get_u64(row, 0)?;
        last = Some(seq);
        // Pruned leaves and leaves of other kinds have no session.
        let (Some(source), Some(session)) = (text(row, 1)?, text(row, 2)?) else { continue };
        if !wanted(source, session) || undelivered.contains(&seq) {
            continue;
        }
        let erased = row.get::<_, i64>(3)? != 0;
        let (Some(bytes), payload) = (blob(row, 4)?, blob(row, 5)?) else { continue };
        each(DecisionRef { seq, bytes, payload, erased });
    }
    Ok(last)
}

fn text<'a>(row: &'a Row<'_>, column: usize) -> Result<Option<&'a str>, ReadError> {
    match row.get_ref(column)? {
        ValueRef::Text(text) => Ok(std::str::from_utf8(text).ok()),
        _ => Ok(None),
    }
}

fn blob<'a>(row: &'a Row<'_>, column: usize) -> Result<Option<&'a [u8]>, ReadError> {
    match row.get_ref(column)? {
        ValueRef::Blob(bytes) => Ok(Some(bytes)),
        _ => Ok(None),
    }
}
