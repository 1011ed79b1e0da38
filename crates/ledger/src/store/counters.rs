// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Counts the records in full blocks, by hour and indexed columns.
//!
//! The transaction that fills a block writes its counters, so statistics read the counters and at most 255
//! records. When records are removed, their old counts are subtracted and the counts of what remains are
//! added. `verify` compares checksums over all counters, which needs constant memory.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::hash::{BuildHasher, RandomState};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, params};

use super::block::BLOCK_RECORDS;
use super::rows::{get_u64, sql_i64};

/// Period covered by one counter, in milliseconds.
pub(crate) const HOUR_MS: u64 = 3_600_000;

/// Key columns of a counter, in the order of [`CounterKey`]. A missing value is 0, which differs from every string.
const KEY_COLUMNS: &str = "hour, session, source, kind, tool, verdict, rule";
/// Count columns, in the order of [`CounterValues`].
const COUNT_COLUMNS: &str = "records, undelivered, payloads, payload_bytes, erased, pruned";

/// Number of columns that [`read_counter`] reads.
pub(crate) const COUNTER_COLUMNS: usize = 13;

/// Key of a counter: the values that its records share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CounterKey<'r> {
    /// Hours since the Unix epoch.
    pub(crate) hour: u64,
    pub(crate) session: Option<&'r str>,
    pub(crate) source: Option<&'r str>,
    pub(crate) kind: Option<&'r str>,
    pub(crate) tool: Option<&'r str>,
    pub(crate) verdict: Option<&'r str>,
    pub(crate) rule: Option<&'r str>,
}

/// Sums over the records of one counter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct CounterValues {
    pub(crate) records: u64,
    /// Number of decisions superseded by a later record.
    pub(crate) undelivered: u64,
    pub(crate) payloads: u64,
    pub(crate) payload_bytes: u64,
    pub(crate) erased: u64,
    pub(crate) pruned: u64,
}

/// Returns the SQL columns that [`read_counter`] reads from grouped records (table alias `l`). A store older than
/// format 3 has no table of undelivered decisions.
pub(crate) fn grouped_columns(knows_undelivered: bool) -> String {
    let undelivered =
        if knows_undelivered { "sum(EXISTS (SELECT 1 FROM undelivered u WHERE u.seq = l.seq))" } else { "0" };
    format!(
        "l.ts / {HOUR_MS}, coalesce(l.session, 0), coalesce(l.source, 0), l.kind, coalesce(l.tool, 0),
            coalesce(l.verdict, 0), coalesce(l.rule, 0), count(*), {undelivered}, count(l.payload),
            coalesce(sum(length(l.payload)), 0), sum(l.erased), sum(l.bytes IS NULL)"
    )
}

/// Returns the SQL columns that [`read_counter`] reads from stored counters (table alias `l`).
pub(crate) fn stored_columns() -> String {
    format!("{KEY_COLUMNS}, {COUNT_COLUMNS}")
}

/// Reads a row selected with [`grouped_columns`] or [`stored_columns`].
pub(crate) fn read_counter<'r>(row: &'r Row<'_>) -> rusqlite::Result<(CounterKey<'r>, CounterValues)> {
    let text = |at: usize| match row.get_ref(at)? {
        ValueRef::Text(_) => Ok::<_, rusqlite::Error>(row.get_ref(at)?.as_str_or_null()?),
        _ => Ok(None),
    };
    let key = CounterKey {
        hour: get_u64(row, 0)?,
        session: text(1)?,
        source: text(2)?,
        kind: text(3)?,
        tool: text(4)?,
        verdict: text(5)?,
        rule: text(6)?,
    };
    let counts = CounterValues {
        records: get_u64(row, 7)?,
        undelivered: get_u64(row, 8)?,
        payloads: get_u64(row, 9)?,
        payload_bytes: get_u64(row, 10)?,
        erased: get_u64(row, 11)?,
        pruned: get_u64(row, 12)?,
    };
    Ok((key, counts))
}

/// Adds records `first..=last` to the counters, or subtracts them if `sign` is -1.
fn add_counts(connection: &Connection, first: u64, last: u64, sign: i64) -> rusqlite::Result<()> {
    let signed_counts = ["records", "undelivered", "payloads", "payload_bytes", "erased", "pruned"];
    let update = signed_counts.map(|name| format!("{name} = {name} + excluded.{name}")).join(", ");
    // Most blocks have no undelivered decisions and need no lookup per record.
    let sql = "SELECT 1 FROM undelivered WHERE seq BETWEEN ?1 AND ?2";
    let has_undelivered = connection.prepare_cached(sql)?.exists([sql_i64(first), sql_i64(last)])?;
    let grouped = grouped_columns(has_undelivered);
    let names = "hour, session, source, kind, tool, verdict, rule, a, b, c, d, e, f";
    let sql = format!(
        "WITH g ({names}) AS (SELECT {grouped} FROM leaves l WHERE l.seq BETWEEN ?1 AND ?2 GROUP BY 1, 2, 3, 4, 5, 6, 7)
        INSERT INTO counters ({KEY_COLUMNS}, {COUNT_COLUMNS})
            SELECT {KEY_COLUMNS}, ?3 * a, ?3 * b, ?3 * c, ?3 * d, ?3 * e, ?3 * f FROM g WHERE 1
        ON CONFLICT DO UPDATE SET {update}"
    );
    connection.prepare_cached(&sql)?.execute(params![sql_i64(first), sql_i64(last), sign]).map(drop)
}

/// Counts the records in a block that has become full.
pub(crate) fn count_block(connection: &Connection, block: u64) -> rusqlite::Result<()> {
    add_counts(connection, block * BLOCK_RECORDS, block * BLOCK_RECORDS + BLOCK_RECORDS - 1, 1)
}

/// Counts for the block that is not full yet. They avoid reading its records again when it is full.
#[derive(Debug, Default)]
pub(crate) struct BlockCounts {
    /// Counts by the joined key columns.
    counts: HashMap<String, (OwnedCounterKey, CounterValues)>,
    /// Buffer that is reused for every record.
    joined: String,
}

#[derive(Debug)]
struct OwnedCounterKey {
    hour: u64,
    /// Session, source, kind, tool, verdict and rule.
    values: [Option<String>; 6],
}

impl BlockCounts {
    /// Counts a record that was just written, with this stored payload.
    pub(crate) fn add(&mut self, key: &CounterKey<'_>, payload: Option<&[u8]>) {
        let values = [key.session, key.source, key.kind, key.tool, key.verdict, key.rule];
        self.joined.clear();
        // Including the lengths makes the joined key unambiguous. Writing to a string cannot fail.
        let _ = write!(self.joined, "{}", key.hour);
        for value in values {
            let _ = match value {
                Some(value) => write!(self.joined, " {}:{value}", value.len()),
                None => write!(self.joined, " -"),
            };
        }
        if !self.counts.contains_key(&self.joined) {
            let owned =
                OwnedCounterKey { hour: key.hour, values: values.map(|value| value.map(str::to_owned)) };
            self.counts.insert(self.joined.clone(), (owned, CounterValues::default()));
        }
        if let Some((_, counts)) = self.counts.get_mut(&self.joined) {
            counts.records += 1;
            if let Some(payload) = payload {
                counts.payloads += 1;
                counts.payload_bytes += u64::try_from(payload.len()).unwrap_or(u64::MAX);
            }
        }
    }

    /// Adds the counts to the stored counters when the block is full, and resets them.
    pub(crate) fn store(&mut self, connection: &Connection, block: u64) -> rusqlite::Result<()> {
        let range = [sql_i64(block * BLOCK_RECORDS), sql_i64(block * BLOCK_RECORDS + BLOCK_RECORDS - 1)];
        let sql = "SELECT 1 FROM undelivered WHERE seq BETWEEN ?1 AND ?2";
        if connection.prepare_cached(sql)?.exists(range)? {
            self.counts.clear();
            return count_block(connection, block);
        }
        let sql = format!(
            "INSERT INTO counters ({KEY_COLUMNS}, {COUNT_COLUMNS})
                VALUES (?1, coalesce(?2, 0), coalesce(?3, 0), ?4, coalesce(?5, 0), coalesce(?6, 0), coalesce(?7, 0),
                    ?8, 0, ?9, ?10, 0, 0)
            ON CONFLICT DO UPDATE SET records = records + excluded.records,
                payloads = payloads + excluded.payloads, payload_bytes = payload_bytes + excluded.payload_bytes"
        );
        let mut insert = connection.prepare_cached(&sql)?;
        for (key, counts) in self.counts.drain().map(|(_, counted)| counted) {
            let [session, source, kind, tool, verdict, rule] = &key.values;
            let [hour, records, payloads, bytes] =
                [key.hour, counts.records, counts.payloads, counts.payload_bytes].map(sql_i64);
            insert.execute(params![
                hour, session, source, kind, tool, verdict, rule, records, payloads, bytes
            ])?;
        }
        Ok(())
    }
}

/// Changes records `from..=to` and updates the counters. `end` is the first record that is not counted.
pub(crate) fn change_and_recount(
    connection: &Connection,
    (from, to): (u64, u64),
    end: u64,
    change: impl FnOnce() -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let last = to.min(end.saturating_sub(1));
    if end == 0 || from > last {
        return change();
    }
    add_counts(connection, from, last, -1)?;
    change()?;
    add_counts(connection, from, last, 1)
}

/// Returns the hours of the earliest and latest event in records `from..=to`.
pub(crate) fn hours_of(connection: &Connection, from: u64, to: u64) -> rusqlite::Result<[i64; 2]> {
    let sql = format!(
        "SELECT coalesce(min(ts), 0) / {HOUR_MS}, coalesce(max(ts), 0) / {HOUR_MS} FROM leaves
            WHERE seq BETWEEN ?1 AND ?2"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    statement.query_row([sql_i64(from), sql_i64(to)], |row| Ok([row.get(0)?, row.get(1)?]))
}

/// Removes the counters of these hours whose record count is 0, because they still name a session.
pub(crate) fn remove_empty(connection: &Connection, hours: [i64; 2]) -> rusqlite::Result<()> {
    let sql = "DELETE FROM counters WHERE records = 0 AND hour BETWEEN ?1 AND ?2";
    connection.prepare_cached(sql)?.execute(hours).map(drop)
}

/// A keyed checksum over all counters. The key is random, so that the checksum cannot be predicted.
#[derive(Debug, Clone, Default)]
pub(crate) struct CounterSum {
    hasher: RandomState,
    /// The sum of all counts, each multiplied by its factor. The type is wide enough that additions cannot cancel out
    /// by wrapping.
    sum: u128,
}

impl CounterSum {
    /// Adds counts under a key. The sum does not depend on how the counts are split.
    pub(crate) fn add(&mut self, key: &CounterKey<'_>, counts: &CounterValues) {
        let CounterValues { records, undelivered, payloads, payload_bytes, erased, pruned } = *counts;
        let hash = self.hasher.hash_one(key);
        for (index, number) in
            [records, undelivered, payloads, payload_bytes, erased, pruned].into_iter().enumerate()
        {
            if number > 0 {
                // Each count has its own factor, so that moving an amount from one count to another changes the sum.
                let rotation = u32::try_from(index).unwrap_or(0) * 11;
                let factor = hash.rotate_left(rotation).wrapping_mul(hash | 1);
                self.sum = self.sum.wrapping_add(u128::from(factor) * u128::from(number));
            }
        }
    }

    /// Adds another sum with the same random key, and resets that other sum.
    pub(crate) fn take(&mut self, open: &mut Self) {
        self.sum = self.sum.wrapping_add(std::mem::take(&mut open.sum));
    }

    /// Whether the stored counters have this sum.
    pub(crate) fn is_stored(&self, connection: &Connection) -> rusqlite::Result<bool> {
        let mut stored = Self { hasher: self.hasher.clone(), sum: 0 };
        let mut statement = connection.prepare(&format!("SELECT {} FROM counters", stored_columns()))?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            // Negative counts are invalid.
            let Ok((key, counts)) = read_counter(row) else { return Ok(false) };
            if counts.records == 0 {
                return Ok(false);
            }
            stored.add(&key, &counts);
        }
        Ok(stored.sum == self.sum)
    }
}
