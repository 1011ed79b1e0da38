// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Verifying what leaves are filed under: who looks for one must find it.

use std::hash::{BuildHasher, RandomState};

use rusqlite::{Connection, OptionalExtension, params};

use super::block::{BLOCK, FIELDS, Values};
use super::counters::{CounterKey, CounterSum, Counts};
use super::rows::{signed, unsigned};
use super::text_filter::{self, TextFilter};
use crate::problem::{Problem, Wrong};

/// Goes along with the verifier, leaf by leaf.
pub(super) struct Filing<'c> {
    connection: &'c Connection,
    values: Values,
    /// Leaves so far.
    size: u64,
    /// Rows that blocks should have so far.
    rows: u64,
    /// Ids and places in any order, added up under a key that nobody knows before: of full blocks,
    /// and of the block that is not full yet.
    ids: u64,
    open: u64,
    key: RandomState,
    /// Counters and filters, where the store has them.
    index: Option<BlockIndex>,
}

/// What full blocks are counted and searched by, computed from the leaves.
struct BlockIndex {
    texts: TextFilter,
    /// Of full blocks, and of the block that is not full yet.
    counters: CounterSum,
    open: CounterSum,
}

/// A leaf's row, as it is filed.
pub(super) struct FiledRow<'r> {
    pub(super) id: &'r str,
    pub(super) ts: i64,
    pub(super) values: [Option<&'r str>; FIELDS.len()],
    pub(super) bytes: Option<&'r [u8]>,
    pub(super) payload: Option<&'r [u8]>,
    pub(super) is_erased: bool,
    pub(super) is_undelivered: bool,
}

impl<'c> Filing<'c> {
    pub(super) fn new(connection: &'c Connection, has_index: bool) -> Self {
        let (values, key) = (Values::default(), RandomState::new());
        let index = has_index.then(BlockIndex::new);
        Self { connection, values, size: 0, rows: 0, ids: 0, open: 0, key, index }
    }

    /// Takes in the next leaf's row.
    pub(super) fn leaf(&mut self, row: &FiledRow<'_>) -> Result<(), Problem> {
        self.values.add(row.ts, row.values);
        self.open = self.open.wrapping_add(self.key.hash_one((row.id, self.size)));
        if let Some(index) = &mut self.index {
            index.add(row);
        }
        self.size += 1;
        if self.size.is_multiple_of(BLOCK) { self.block() } else { Ok(()) }
    }

    /// The block that just became full.
    fn block(&mut self) -> Result<(), Problem> {
        let block = self.size / BLOCK - 1;
        let wrong = |what: String| Wrong::Unfound(what).between(block * BLOCK, self.size);
        let mut filed = self
            .connection
            .prepare_cached("SELECT 1 FROM filed WHERE field = ?1 AND value = ?2 AND block = ?3")
            .map_err(super::check::unreadable)?;
        for (field, value) in self.values.each() {
            if !filed.exists(params![field, value, signed(block)]).map_err(super::check::unreadable)? {
                return Err(wrong(format!("{field} `{value}`")));
            }
            self.rows += 1;
        }
        let times =
            self.connection.prepare_cached("SELECT first_ts, last_ts FROM blocks WHERE block = ?1").and_then(
                |mut times| times.query_row([signed(block)], |row| Ok((row.get(0)?, row.get(1)?))).optional(),
            );
        if times.map_err(super::check::unreadable)? != Some(self.values.times()) {
            return Err(wrong("their time".to_owned()));
        }
        if let Some(index) = &mut self.index
            && !index.close_block(self.connection, block).map_err(super::check::unreadable)?
        {
            return Err(wrong("their text".to_owned()));
        }
        self.ids = self.ids.wrapping_add(std::mem::take(&mut self.open));
        self.values = Values::default();
        Ok(())
    }

    /// After the last leaf: nothing more may be filed than what there is.
    pub(super) fn finish(self) -> Result<(), Problem> {
        let count = |table: &str| {
            let sql = format!("SELECT count(*) FROM {table}");
            self.connection.query_row(&sql, [], |row| unsigned(row, 0)).map_err(super::check::unreadable)
        };
        let mut ids = 0_u64;
        let mut statement =
            self.connection.prepare("SELECT id, seq FROM ids").map_err(super::check::unreadable)?;
        let mut rows = statement.query([]).map_err(super::check::unreadable)?;
        while let Some(row) = rows.next().map_err(super::check::unreadable)? {
            let pair = row.get_ref(0).and_then(|id| Ok((id.as_str()?, unsigned(row, 1)?)));
            ids = ids.wrapping_add(self.key.hash_one(pair.map_err(super::check::unreadable)?));
        }
        if ids != self.ids {
            return Err(self.first_unfound()?);
        }
        if (count("filed")?, count("blocks")?) != (self.rows, self.size / BLOCK) {
            return Err(Wrong::Misfiled.here());
        }
        let Some(index) = &self.index else { return Ok(()) };
        if count("text_filters")? != self.size / BLOCK {
            return Err(Wrong::Misfiled.here());
        }
        if !index.counters.is_stored(self.connection).map_err(super::check::unreadable)? {
            return Err(Wrong::Counters.here());
        }
        Ok(())
    }

    /// The first leaf that is not where its id says.
    fn first_unfound(&self) -> Result<Problem, Problem> {
        let sql = "SELECT l.seq FROM leaves l LEFT JOIN ids i ON i.id = l.id
            WHERE l.seq < ?1 AND i.seq IS NOT l.seq ORDER BY l.seq LIMIT 1";
        let end = signed(self.size / BLOCK * BLOCK);
        let first = self.connection.query_row(sql, [end], |row| unsigned(row, 0)).optional();
        let first = first.map_err(super::check::unreadable)?;
        Ok(first.map_or(Wrong::Misfiled.here(), |seq| Wrong::Unfound("its id".to_owned()).at(seq)))
    }
}

// === impl BlockIndex ===

impl BlockIndex {
    fn new() -> Self {
        let counters = CounterSum::default();
        Self { texts: TextFilter::default(), open: counters.clone(), counters }
    }

    fn add(&mut self, row: &FiledRow<'_>) {
        let [kind, source, session, tool, verdict, rule] = row.values;
        let hour = u64::try_from(row.ts).unwrap_or(0) / super::counters::HOUR_MS;
        let counts = Counts {
            records: 1,
            undelivered: row.is_undelivered.into(),
            payloads: row.payload.is_some().into(),
            payload_bytes: row.payload.map_or(0, |bytes| u64::try_from(bytes.len()).unwrap_or(u64::MAX)),
            erased: row.is_erased.into(),
            pruned: row.bytes.is_none().into(),
        };
        self.open.add(&CounterKey { hour, session, source, kind, tool, verdict, rule }, &counts);
        [row.bytes, row.payload].into_iter().flatten().for_each(|text| self.texts.add(text));
    }

    /// Whether the stored filter of the block that is now full is the one of its leaves.
    fn close_block(&mut self, connection: &Connection, block: u64) -> rusqlite::Result<bool> {
        self.counters.take(&mut self.open);
        text_filter::is_stored(connection, block, &self.texts.take())
    }
}
