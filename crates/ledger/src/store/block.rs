// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Filing leaves, a block at a time.
//!
//! An index for each column would cost every append a page of each. So leaves are filed when a
//! block of them is full: every id with its place, and every other value once, with the block. Who
//! looks for something reads the blocks that have it, and the leaves behind the last full block.
//! A block is filed by the commit that fills it, so nothing is ever half filed.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension, Row, params};

use super::counters::{self, BlockCounts, CounterKey};
use super::rows::{signed, unsigned};
use super::text_filter::{self, TextFilter};

/// Leaves in a block.
pub(crate) const BLOCK: u64 = 256;

/// What leaves are found by, besides their id and time.
pub(crate) const FIELDS: [&str; 6] = ["kind", "source", "session", "tool", "verdict", "rule"];

/// The columns of a row that a block needs, in this order.
const COLUMNS: &str = "seq, id, ts, kind, source, session, tool, verdict, rule";

/// What some leaves are found by.
#[derive(Debug, Default)]
pub(crate) struct Values {
    /// Each value once, by field.
    seen: [Vec<String>; FIELDS.len()],
    /// The earliest and the latest event.
    times: Option<(i64, i64)>,
}

/// The leaves behind the last full block.
#[derive(Debug, Default)]
pub(crate) struct Block {
    number: u64,
    values: Values,
    /// Texts and counts of all its leaves; nothing if some were written by an earlier run.
    index: Option<OpenIndex>,
    ids: HashMap<String, u64>,
    /// The largest id that is filed: larger ones need not be looked for.
    newest: String,
}

/// What the leaves of a block will be searched and counted by.
#[derive(Debug, Default)]
struct OpenIndex {
    texts: TextFilter,
    counts: BlockCounts,
}

/// The first leaf that is not filed.
pub(crate) fn end(connection: &Connection) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached("SELECT coalesce(max(block) + 1, 0) FROM blocks")?;
    statement.query_row([], |row| unsigned(row, 0)).map(|blocks| blocks * BLOCK)
}

/// Where a filed event is.
pub(crate) fn find(connection: &Connection, id: &str) -> rusqlite::Result<Option<u64>> {
    let mut statement = connection.prepare_cached("SELECT seq FROM ids WHERE id = ?1")?;
    statement.query_row([id], |row| unsigned(row, 0)).optional()
}

/// The full blocks that records `from..=to` are in.
fn full_blocks(connection: &Connection, from: u64, to: u64) -> rusqlite::Result<std::ops::Range<u64>> {
    Ok(from / BLOCK..(end(connection)? / BLOCK).min(to / BLOCK + 1))
}

/// Removes the values of the full blocks of records `from..=to` from the index, before these records are pruned.
/// Each is deleted by its key: a search by block would read the whole index.
pub(crate) fn remove_values(connection: &Connection, from: u64, to: u64) -> rusqlite::Result<()> {
    let sql = "DELETE FROM filed WHERE field = ?1 AND value = ?2 AND block = ?3";
    let mut delete = connection.prepare_cached(sql)?;
    for number in full_blocks(connection, from, to)? {
        for (field, value) in Values::of_block(connection, number)?.each() {
            delete.execute(params![field, value, signed(number)])?;
        }
    }
    Ok(())
}

/// Adds the values of the full blocks of records `from..=to` to the index.
pub(crate) fn file_values(connection: &Connection, from: u64, to: u64) -> rusqlite::Result<()> {
    for number in full_blocks(connection, from, to)? {
        Values::of_block(connection, number)?.file(connection, number)?;
    }
    Ok(())
}

/// Counts all full blocks and makes their filters: an older store has none.
pub(crate) fn index_blocks(connection: &Connection) -> rusqlite::Result<()> {
    for number in 0..end(connection)? / BLOCK {
        counters::count_block(connection, number)?;
        text_filter::store(connection, number, &TextFilter::of_block(connection, number)?)?;
    }
    Ok(())
}

/// Makes the filters of the blocks of these leaves again: some of their text is gone.
pub(crate) fn filter_anew(connection: &Connection, from: u64, to: u64) -> rusqlite::Result<()> {
    for number in full_blocks(connection, from, to)? {
        text_filter::store(connection, number, &TextFilter::of_block(connection, number)?)?;
    }
    Ok(())
}

/// Writes everything that full blocks are found and counted by again, from the leaves alone.
pub(crate) fn rebuild(connection: &Connection) -> rusqlite::Result<()> {
    for table in ["ids", "filed", "blocks", "counters", "text_filters"] {
        connection.execute(&format!("DELETE FROM {table}"), [])?;
    }
    for number in 0..super::rows::size(connection)? / BLOCK {
        let mut block = Block { number, ..Block::default() };
        each_row(connection, number, |row| block.add_row(row))?;
        block.file(connection)?;
    }
    Ok(())
}

/// The rows of a block, as far as there are any.
fn each_row(
    connection: &Connection,
    number: u64,
    mut each: impl FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let sql = format!("SELECT {COLUMNS} FROM leaves WHERE seq BETWEEN ?1 AND ?2 ORDER BY seq");
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query([signed(number * BLOCK), signed(number * BLOCK + BLOCK - 1)])?;
    while let Some(row) = rows.next()? {
        each(row)?;
    }
    Ok(())
}

// === impl Values ===

impl Values {
    /// What the leaves of one block are found by.
    fn of_block(connection: &Connection, number: u64) -> rusqlite::Result<Self> {
        let mut values = Self::default();
        each_row(connection, number, |row| values.add_row(row))?;
        Ok(values)
    }

    /// Takes in one leaf: its time, and its values in the order of [`FIELDS`].
    pub(crate) fn add(&mut self, ts: i64, values: [Option<&str>; FIELDS.len()]) {
        let (first, last) = self.times.unwrap_or((ts, ts));
        self.times = Some((first.min(ts), last.max(ts)));
        for (seen, value) in self.seen.iter_mut().zip(values) {
            if let Some(value) = value
                && !seen.iter().rev().any(|known| known == value)
            {
                seen.push(value.to_owned());
            }
        }
    }

    fn add_row(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        let mut values = [None; FIELDS.len()];
        for (place, value) in values.iter_mut().enumerate() {
            *value = row.get_ref(3 + place)?.as_str_or_null()?;
        }
        self.add(row.get(2)?, values);
        Ok(())
    }

    /// Each field with one of its values.
    pub(crate) fn each(&self) -> impl Iterator<Item = (&'static str, &str)> {
        FIELDS
            .into_iter()
            .zip(&self.seen)
            .flat_map(|(field, seen)| seen.iter().map(move |value| (field, value.as_str())))
    }

    /// The earliest and the latest event.
    pub(crate) fn times(&self) -> (i64, i64) {
        self.times.unwrap_or_default()
    }

    fn file(&self, connection: &Connection, number: u64) -> rusqlite::Result<()> {
        let mut insert = connection
            .prepare_cached("INSERT OR IGNORE INTO filed (field, value, block) VALUES (?1, ?2, ?3)")?;
        for (field, value) in self.each() {
            insert.execute(params![field, value, signed(number)])?;
        }
        Ok(())
    }
}

// === impl Block ===

impl Block {
    /// What is not filed yet.
    pub(crate) fn load(connection: &Connection) -> rusqlite::Result<Self> {
        let newest: Option<String> =
            connection.prepare_cached("SELECT max(id) FROM ids")?.query_row([], |row| row.get(0))?;
        let number = end(connection)? / BLOCK;
        let mut block = Self { number, newest: newest.unwrap_or_default(), ..Self::default() };
        each_row(connection, number, |row| block.add_row(row))?;
        // Reading their texts would make every opening slower; it is done when the block is full.
        block.index = block.ids.is_empty().then(OpenIndex::default);
        Ok(block)
    }

    fn add_row(&mut self, row: &Row<'_>) -> rusqlite::Result<()> {
        self.ids.insert(row.get(1)?, unsigned(row, 0)?);
        self.values.add_row(row)
    }

    /// Where an event is recorded.
    pub(crate) fn find(&self, connection: &Connection, id: &str) -> rusqlite::Result<Option<u64>> {
        match self.ids.get(id) {
            Some(seq) => Ok(Some(*seq)),
            None if id > self.newest.as_str() => Ok(None),
            None => find(connection, id),
        }
    }

    /// Takes in the leaf that was just written, and files the block if that fills it.
    pub(crate) fn add(
        &mut self,
        connection: &Connection,
        (id, seq): (String, u64),
        ts: i64,
        values: [Option<&str>; FIELDS.len()],
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
        if (seq + 1).is_multiple_of(BLOCK) { self.file(connection) } else { Ok(()) }
    }

    fn file(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        self.values.file(connection, self.number)?;
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
            .execute([signed(self.number), first, last])?;
        // In order they land on one page or two.
        let mut ids: Vec<_> = std::mem::take(&mut self.ids).into_iter().collect();
        ids.sort_unstable();
        let mut insert = connection.prepare_cached("INSERT INTO ids (id, seq) VALUES (?1, ?2)")?;
        for (id, seq) in &ids {
            insert.execute(params![id, signed(*seq)])?;
        }
        if let Some((id, _)) = ids.pop()
            && id > self.newest
        {
            self.newest = id;
        }
        (self.number, self.values) = (self.number + 1, Values::default());
        Ok(())
    }
}
