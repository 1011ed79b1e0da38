// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The leaf index, organized in blocks.
//!
//! With an SQL index per column, every append would write a page of each index. Instead, leaves are indexed when a
//! block is full: every id with its number, and every other value once per block. A query reads the blocks that
//! contain a value, and the leaves after the last full block. The commit that fills a block also indexes it.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::counters::{self, BlockCounts, CounterKey};
use super::rows::{get_u64, sql_i64};
use super::text_filter::{self, TextFilter};

/// Number of leaves in a block.
pub(crate) const BLOCK_RECORDS: u64 = 256;

/// Indexed columns besides id and time.
pub(crate) const INDEXED_FIELDS: [&str; 6] = ["kind", "source", "session", "tool", "verdict", "rule"];

/// Columns that a block reads from a row, in this order.
const BLOCK_COLUMNS: &str = "seq, id, ts, kind, source, session, tool, verdict, rule";

/// Indexed values of a block's leaves.
#[derive(Debug, Default)]
pub(crate) struct BlockValues {
    /// Distinct values of each field.
    distinct: [Vec<String>; INDEXED_FIELDS.len()],
    /// Times of the earliest and latest event.
    times: Option<(i64, i64)>,
}

/// The last block, which is not full yet.
#[derive(Debug, Default)]
pub(crate) struct OpenBlock {
    number: u64,
    values: BlockValues,
    /// Texts and counts of all leaves in the block; `None` if an earlier run wrote some of them.
    index: Option<OpenIndex>,
    ids: HashMap<String, u64>,
    /// The largest indexed id. An id greater than this is not in the index.
    newest: String,
}

/// Text filter and counters of a block that is not full yet.
#[derive(Debug, Default)]
struct OpenIndex {
    texts: TextFilter,
    counts: BlockCounts,
}

/// Returns the number of the first leaf that is not indexed.
pub(crate) fn indexed_end(connection: &Connection) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached("SELECT coalesce(max(block) + 1, 0) FROM blocks")?;
    statement.query_row([], |row| get_u64(row, 0)).map(|blocks| blocks * BLOCK_RECORDS)
}

/// Looks up an event id in the index.
pub(crate) fn find(connection: &Connection, id: &str) -> rusqlite::Result<Option<u64>> {
    let mut statement = connection.prepare_cached("SELECT seq FROM ids WHERE id = ?1")?;
    statement.query_row([id], |row| get_u64(row, 0)).optional()
}

/// Returns the full blocks that contain records `from..=to`.
fn full_blocks(connection: &Connection, from: u64, to: u64) -> rusqlite::Result<std::ops::Range<u64>> {
    Ok(from / BLOCK_RECORDS..(indexed_end(connection)? / BLOCK_RECORDS).min(to / BLOCK_RECORDS + 1))
}

/// Removes the values of the full blocks with records `from..=to` from the index, before these records are pruned.
/// Each value is deleted by its key, because a search by block would read the whole index.
pub(crate) fn remove_values(connection: &Connection, from: u64, to: u64) -> rusqlite::Result<()> {
    let sql = "DELETE FROM filed WHERE field = ?1 AND value = ?2 AND block = ?3";
    let mut delete = connection.prepare_cached(sql)?;
    for number in full_blocks(connection, from, to)? {
        for (field, value) in BlockValues::of_block(connection, number)?.iter() {
            delete.execute(params![field, value, sql_i64(number)])?;
        }
    }
    Ok(())
}

/// Adds the values of the full blocks with records `from..=to` to the index.
pub(crate) fn index_values(connection: &Connection, from: u64, to: u64) -> rusqlite::Result<()> {
    for number in full_blocks(connection, from, to)? {
        BlockValues::of_block(connection, number)?.write_index(connection, number)?;
    }
    Ok(())
}

/// Adds counters and text filters for all full blocks of a store in an older format.
pub(crate) fn index_blocks(connection: &Connection) -> rusqlite::Result<()> {
    for number in 0..indexed_end(connection)? / BLOCK_RECORDS {
        counters::count_block(connection, number)?;
        text_filter::store(connection, number, &TextFilter::of_block(connection, number)?)?;
    }
    Ok(())
}

/// Rebuilds the text filters of the blocks with leaves `from..=to`, after text was removed.
pub(crate) fn rebuild_text_filters(connection: &Connection, from: u64, to: u64) -> rusqlite::Result<()> {
    for number in full_blocks(connection, from, to)? {
        text_filter::store(connection, number, &TextFilter::of_block(connection, number)?)?;
    }
    Ok(())
}

/// Rebuilds the index and counters of all full blocks from the leaves.
pub(crate) fn rebuild_index(connection: &Connection) -> rusqlite::Result<()> {
    for table in ["ids", "filed", "blocks", "counters", "text_filters"] {
        connection.execute(&format!("DELETE FROM {table}"), [])?;
    }
    for number in 0..super::rows::size(connection)? / BLOCK_RECORDS {
        let mut block = OpenBlock { number, ..OpenBlock::default() };
        each_row(connection, number, |row| block.add_row(row))?;
        block.write_index(connection)?;
    }
    Ok(())
}

fn each_row(
    connection: &Connection,
    number: u64,
    mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let sql = format!("SELECT {BLOCK_COLUMNS} FROM leaves WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement
        .query([sql_i64(number * BLOCK_RECORDS), sql_i64(number * BLOCK_RECORDS + BLOCK_RECORDS - 1)])?;
    while let Some(row) = rows.next()? {
        each(row)?;
    }
    Ok(())
}

impl BlockValues {
    /// Reads the indexed values of a block.
    fn of_block(connection: &Connection, number: u64) -> rusqlite::Result<Self> {
        let mut values = Self::default();
        each_row(connection, number, |row| values.add_row(row))?;
        Ok(values)
    }

    /// Adds a leaf: its time, and its values in the order of [`INDEXED_FIELDS`].
    pub(crate) fn add(&mut self, ts: i64, values: [Option<&str>; INDEXED_FIELDS.len()]) {
        let (first, last) = self.times.unwrap_or((ts, ts));
        self.times = Some((first.min(ts), last.max(ts)));
        for (known, value) in self.distinct.iter_mut().zip(values) {
            if let Some(value) = value
                && !known.iter().rev().any(|other| other == value)
            {
                known.push(value.to_owned());
            }
        }
    }

    fn add_row(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        let mut values = [None; INDEXED_FIELDS.len()];
        for (index, value) in values.iter_mut().enumerate() {
            *value = row.get_ref(3 + index)?.as_str_or_null()?;
        }
        self.add(row.get(2)?, values);
        Ok(())
    }

    /// Returns all pairs of field and value.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        INDEXED_FIELDS
            .into_iter()
            .zip(&self.distinct)
            .flat_map(|(field, values)| values.iter().map(move |value| (field, value.as_str())))
    }

    /// Returns the times of the earliest and latest event.
    pub(crate) fn times(&self) -> (i64, i64) {
        self.times.unwrap_or_default()
    }

    fn write_index(&self, connection: &Connection, number: u64) -> rusqlite::Result<()> {
        let mut insert = connection
            .prepare_cached("INSERT OR IGNORE INTO filed (field, value, block) VALUES (?1, ?2, ?3)")?;
        for (field, value) in self.iter() {
            insert.execute(params![field, value, sql_i64(number)])?;
        }
        Ok(())
    }
}

impl OpenBlock {
    /// Loads the leaves that are not indexed yet.
    pub(crate) fn load(connection: &Connection) -> rusqlite::Result<Self> {
        let newest: Option<String> =
            connection.prepare_cached("SELECT max(id) FROM ids")?.query_row([], |row| row.get(0))?;
        let number = indexed_end(connection)? / BLOCK_RECORDS;
        let mut block = Self { number, newest: newest.unwrap_or_default(), ..Self::default() };
        each_row(connection, number, |row| block.add_row(row))?;
        // The texts of these leaves are read when the block is full, so that opening stays fast.
        block.index = block.ids.is_empty().then(OpenIndex::default);
        Ok(block)
    }

    fn add_row(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        self.ids.insert(row.get(1)?, get_u64(row, 0)?);
        self.values.add_row(row)
    }

    /// Returns the number of the leaf with this event id.
    pub(crate) fn find(&self, connection: &Connection, id: &str) -> rusqlite::Result<Option<u64>> {
        match self.ids.get(id) {
            Some(seq) => Ok(Some(*seq)),
            None if id > self.newest.as_str() => Ok(None),
            None => find(connection, id),
        }
    }

    /// Adds a leaf that was just written, and indexes the block if it is now full.
    pub(crate) fn add(
        &mut self,
        connection: &Connection,
        (id, seq): (String, u64),
        ts: i64,
        values: [Option<&str>; INDEXED_FIELDS.len()],
        (bytes, payload): (&[u8], Option<&[u8]>),
    ) -> rusqlite::Result<()> {
        if let Some(index) = &mut self.index {
            index.texts.add(bytes);
            index.texts.add(payload.unwrap_or_default());
            let [kind, source, session, tool, verdict, rule] = values;
            let hour = u64::try_from(ts).unwrap_or(0) / counters::HOUR_MS;
            index.counts.add(&CounterKey { hour, session, source, kind, tool, verdict, rule }, payload);
        }
        self.ids.insert(id, seq);
        self.values.add(ts, values);
        if (seq + 1).is_multiple_of(BLOCK_RECORDS) { self.write_index(connection) } else { Ok(()) }
    }

    fn write_index(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.values.write_index(connection, self.number)?;
        let bits = if let Some(index) = &mut self.index {
            index.counts.store(connection, self.number)?;
            index.texts.take()
        } else {
            counters::count_block(connection, self.number)?;
            TextFilter::of_block(connection, self.number)?
        };
        text_filter::store(connection, self.number, &bits)?;
        self.index.get_or_insert_default();
        let (first, last) = self.values.times();
        connection
            .prepare_cached("INSERT INTO blocks (block, first_ts, last_ts) VALUES (?1, ?2, ?3)")?
            .execute([sql_i64(self.number), first, last])?;
        // Sorted ids are written to one or two pages.
        let mut ids: Vec<_> = std::mem::take(&mut self.ids).into_iter().collect();
        ids.sort_unstable();
        let mut insert = connection.prepare_cached("INSERT INTO ids (id, seq) VALUES (?1, ?2)")?;
        for (id, seq) in &ids {
            insert.execute(params![id, sql_i64(*seq)])?;
        }
        if let Some((id, _)) = ids.pop()
            && id > self.newest
        {
            self.newest = id;
        }
        (self.number, self.values) = (self.number + 1, BlockValues::default());
        Ok(())
    }
}
