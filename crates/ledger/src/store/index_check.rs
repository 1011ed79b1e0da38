// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Verifies the index: it must contain every leaf and nothing else.

use std::hash::{BuildHasher, RandomState};

use rusqlite::{Connection, OptionalExtension, params};

use super::block::{BLOCK_RECORDS, BlockValues, INDEXED_FIELDS};
use super::counters::{CounterKey, CounterSum, CounterValues};
use super::rows::{get_u64, sql_i64};
use super::text_filter::{self, TextFilter};
use crate::problem::{Defect, LogProblem};

/// Recomputes the index leaf by leaf and compares the result with the stored index.
pub(super) struct IndexCheck<'c> {
    connection: &'c Connection,
    values: BlockValues,
    /// Number of leaves checked so far.
    size: u64,
    /// Number of index rows that the full blocks must have.
    rows: u64,
    /// Keyed checksums of ids and numbers: one for full blocks and one for the block that is not full yet. The key is
    /// random, so that the sums cannot be predicted.
    ids: u64,
    open_ids: u64,
    key: RandomState,
    /// Counters and text filters, if the store has them.
    index: Option<BlockIndex>,
}

/// Counters and text filters, computed from the leaves.
struct BlockIndex {
    texts: TextFilter,
    /// Counters for full blocks and for the block that is not full yet.
    counters: CounterSum,
    open_counters: CounterSum,
}

/// A leaf row's indexed columns and content.
pub(super) struct IndexedRow<'r> {
    pub(super) id: &'r str,
    pub(super) ts: i64,
    pub(super) values: [Option<&'r str>; INDEXED_FIELDS.len()],
    pub(super) bytes: Option<&'r [u8]>,
    pub(super) payload: Option<&'r [u8]>,
    pub(super) is_erased: bool,
    pub(super) is_undelivered: bool,
}

impl<'c> IndexCheck<'c> {
    pub(super) fn new(connection: &'c Connection, has_index: bool) -> Self {
        let (values, key) = (BlockValues::default(), RandomState::new());
        let index = has_index.then(BlockIndex::new);
        Self { connection, values, size: 0, rows: 0, ids: 0, open_ids: 0, key, index }
    }

    /// Adds the row of the next leaf.
    pub(super) fn check_row(&mut self, row: &IndexedRow<'_>) -> Result<(), LogProblem> {
        self.values.add(row.ts, row.values);
        self.open_ids = self.open_ids.wrapping_add(self.key.hash_one((row.id, self.size)));
        if let Some(index) = &mut self.index {
            index.add(row);
        }
        self.size += 1;
        if self.size.is_multiple_of(BLOCK_RECORDS) { self.check_block() } else { Ok(()) }
    }

    /// Checks the block that just became full.
    fn check_block(&mut self) -> Result<(), LogProblem> {
        let block = self.size / BLOCK_RECORDS - 1;
        let wrong =
            |what: String| Defect::MissingIndexEntry(what).in_leaves(block * BLOCK_RECORDS, self.size);
        let mut find_value = self
            .connection
            .prepare_cached("SELECT 1 FROM filed WHERE field = ?1 AND value = ?2 AND block = ?3")
            .map_err(super::verify_store::unreadable)?;
        for (field, value) in self.values.iter() {
            if !find_value
                .exists(params![field, value, sql_i64(block)])
                .map_err(super::verify_store::unreadable)?
            {
                return Err(wrong(format!("{field} `{value}`")));
            }
            self.rows += 1;
        }
        let times = self
            .connection
            .prepare_cached("SELECT first_ts, last_ts FROM blocks WHERE block = ?1")
            .and_then(|mut times| {
                times.query_row([sql_i64(block)], |row| Ok((row.get(0)?, row.get(1)?))).optional()
            });
        if times.map_err(super::verify_store::unreadable)? != Some(self.values.times()) {
            return Err(wrong("time".to_owned()));
        }
        if let Some(index) = &mut self.index
            && !index.close_block(self.connection, block).map_err(super::verify_store::unreadable)?
        {
            return Err(wrong("text".to_owned()));
        }
        self.ids = self.ids.wrapping_add(std::mem::take(&mut self.open_ids));
        self.values = BlockValues::default();
        Ok(())
    }

    /// Ends the check after the last leaf: the index must not have any further entries.
    pub(super) fn finish(self) -> Result<(), LogProblem> {
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table}");
            self.connection
                .query_row(&sql, [], |row| get_u64(row, 0))
                .map_err(super::verify_store::unreadable)
        };
        let mut ids = 0_u64;
        let mut statement =
            self.connection.prepare("SELECT id, seq FROM ids").map_err(super::verify_store::unreadable)?;
        let mut rows = statement.query([]).map_err(super::verify_store::unreadable)?;
        while let Some(row) = rows.next().map_err(super::verify_store::unreadable)? {
            let pair = row.get_ref(0).and_then(|id| Ok((id.as_str()?, get_u64(row, 1)?)));
            ids = ids.wrapping_add(self.key.hash_one(pair.map_err(super::verify_store::unreadable)?));
        }
        if ids != self.ids {
            return Err(self.first_missing_id()?);
        }
        if (count("filed")?, count("blocks")?) != (self.rows, self.size / BLOCK_RECORDS) {
            return Err(Defect::ExtraIndexEntry.in_log());
        }
        let Some(index) = &self.index else { return Ok(()) };
        if count("text_filters")? != self.size / BLOCK_RECORDS {
            return Err(Defect::ExtraIndexEntry.in_log());
        }
        if !index.counters.is_stored(self.connection).map_err(super::verify_store::unreadable)? {
            return Err(Defect::CounterMismatch.in_log());
        }
        Ok(())
    }

    /// Finds the first leaf whose id is not in the index.
    fn first_missing_id(&self) -> Result<LogProblem, LogProblem> {
        let sql = "SELECT l.seq FROM leaves l LEFT JOIN ids i ON i.id = l.id
            WHERE l.seq < ?1 AND i.seq IS NOT l.seq ORDER BY l.seq LIMIT 1";
        let end = sql_i64(self.size / BLOCK_RECORDS * BLOCK_RECORDS);
        let first = self.connection.query_row(sql, [end], |row| get_u64(row, 0)).optional();
        let first = first.map_err(super::verify_store::unreadable)?;
        Ok(first.map_or(Defect::ExtraIndexEntry.in_log(), |seq| {
            Defect::MissingIndexEntry("id".to_owned()).at_leaf(seq)
        }))
    }
}

impl BlockIndex {
    fn new() -> Self {
        let counters = CounterSum::default();
        Self { texts: TextFilter::default(), open_counters: counters.clone(), counters }
    }

    fn add(&mut self, row: &IndexedRow<'_>) {
        let [kind, source, session, tool, verdict, rule] = row.values;
        let hour = u64::try_from(row.ts).unwrap_or(0) / super::counters::HOUR_MS;
        let counts = CounterValues {
            records: 1,
            undelivered: row.is_undelivered.into(),
            payloads: row.payload.is_some().into(),
            payload_bytes: row.payload.map_or(0, |bytes| u64::try_from(bytes.len()).unwrap_or(u64::MAX)),
            erased: row.is_erased.into(),
            pruned: row.bytes.is_none().into(),
        };
        self.open_counters.add(&CounterKey { hour, session, source, kind, tool, verdict, rule }, &counts);
        [row.bytes, row.payload].into_iter().flatten().for_each(|text| self.texts.add(text));
    }

    /// Closes a full block. Returns whether its stored text filter matches.
    fn close_block(&mut self, connection: &Connection, block: u64) -> rusqlite::Result<bool> {
        self.counters.take(&mut self.open_counters);
        text_filter::is_stored(connection, block, &self.texts.take())
    }
}
