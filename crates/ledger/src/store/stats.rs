// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Statistics of the ledger.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::path::Path;

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::DATABASE_FILE;
use super::block::BLOCK_RECORDS;
use super::counters::{
    COUNTER_COLUMNS, CounterKey, CounterValues, HOUR_MS, grouped_columns, read_counter, stored_columns,
};
use super::error::ReadError;
use super::query::{Conditions, Filter};
use super::reader::Reader;
use super::rows::{get_u64, sql_i64};

/// Maximum number of names in a list. Records with other names are included only in the totals.
const MAX_NAMES: usize = 50;
const HOURS_OF_DAY: u64 = 24;

/// Statistics for the records that match a filter. Lists are sorted by count, largest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Number of records.
    pub leaves: u64,
    /// Number of undelivered decisions, which are included only in the totals.
    pub undelivered: u64,
    /// Number of sessions.
    pub sessions: u64,
    /// Time of the first event, in milliseconds since the Unix epoch.
    pub first_ms: Option<u64>,
    /// Time of the last event, in milliseconds since the Unix epoch.
    pub last_ms: Option<u64>,
    /// Number of records by kind.
    pub kinds: Vec<(String, u64)>,
    /// Number of records by verdict.
    pub verdicts: Vec<(String, u64)>,
    /// Number of records by harness.
    pub harnesses: Vec<(String, u64)>,
    /// Number of records by tool.
    pub tools: Vec<(String, u64)>,
    /// Number of records by deciding rule.
    pub rules: Vec<(String, u64)>,
    /// Number of decisions by day and verdict, oldest first: midnight in UTC, verdict, count.
    pub days: Vec<(u64, String, u64)>,
    /// Number of stored payloads.
    pub payloads: u64,
    /// Size of the stored payloads, in bytes.
    pub payload_bytes: u64,
    /// Number of erased payloads.
    pub erased: u64,
    /// Number of pruned records.
    pub pruned: u64,
}

/// Disk space used by a ledger, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskUse {
    /// Size of all files in the ledger's directory.
    pub total: u64,
    /// Size of SQLite's journal, which is part of the total. It contains recent writes, some of them several times,
    /// so it does not show how much space a record takes.
    pub journal: u64,
}

impl DiskUse {
    /// Adds up the sizes of the files in a ledger's directory.
    pub fn measure(dir: &Path) -> Self {
        let journal = format!("{DATABASE_FILE}-wal");
        let mut found = Self::default();
        for file in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let length = file.metadata().map_or(0, |file| file.len());
            found.total += length;
            found.journal += if file.file_name() == *journal { length } else { 0 };
        }
        found
    }
}

/// Statistics while they are being added up, counter by counter.
#[derive(Default)]
struct StatsSum {
    totals: CounterValues,
    sessions: HashSet<String>,
    kinds: HashMap<String, u64>,
    verdicts: HashMap<String, u64>,
    harnesses: HashMap<String, u64>,
    tools: HashMap<String, u64>,
    rules: HashMap<String, u64>,
    /// Number of decisions by verdict, for each day since the Unix epoch.
    days: BTreeMap<u64, HashMap<String, u64>>,
    /// Times of the first and last event in the records that were read; counters contain no times.
    times: Option<(u64, u64)>,
}

impl StatsSum {
    fn add(&mut self, key: &CounterKey<'_>, counts: &CounterValues) {
        let CounterValues { records, undelivered, payloads, payload_bytes, erased, pruned } = *counts;
        self.totals.records += records;
        self.totals.undelivered += undelivered;
        self.totals.payloads += payloads;
        self.totals.payload_bytes += payload_bytes;
        self.totals.erased += erased;
        self.totals.pruned += pruned;
        if let Some(session) = key.session
            && !self.sessions.contains(session)
        {
            self.sessions.insert(session.to_owned());
        }
        let delivered = records.saturating_sub(undelivered);
        for (names, name) in [
            (&mut self.kinds, key.kind),
            (&mut self.verdicts, key.verdict),
            (&mut self.harnesses, key.source),
            (&mut self.tools, key.tool),
            (&mut self.rules, key.rule),
        ] {
            if let Some(name) = name {
                add_to_name(names, name, delivered);
            }
        }
        if key.kind == Some("decision") {
            let day = self.days.entry(key.hour / HOURS_OF_DAY).or_default();
            add_to_name(day, key.verdict.unwrap_or_default(), delivered);
        }
    }

    fn finish(self, (first_ms, last_ms): (Option<u64>, Option<u64>)) -> Stats {
        let CounterValues { records, undelivered, payloads, payload_bytes, erased, pruned } = self.totals;
        let days = self.days.into_iter().flat_map(|(day, verdicts)| {
            let mut verdicts: Vec<_> = verdicts.into_iter().filter(|(_, count)| *count > 0).collect();
            verdicts.sort_unstable();
            verdicts.into_iter().map(move |(verdict, count)| (day * HOURS_OF_DAY * HOUR_MS, verdict, count))
        });
        Stats {
            leaves: records,
            undelivered,
            sessions: u64::try_from(self.sessions.len()).unwrap_or(u64::MAX),
            first_ms,
            last_ms,
            kinds: most_frequent(self.kinds),
            verdicts: most_frequent(self.verdicts),
            harnesses: most_frequent(self.harnesses),
            tools: most_frequent(self.tools),
            rules: most_frequent(self.rules),
            days: days.collect(),
            payloads,
            payload_bytes,
            erased,
            pruned,
        }
    }
}

fn add_to_name(names: &mut HashMap<String, u64>, name: &str, count: u64) {
    match names.get_mut(name) {
        Some(known) => *known += count,
        None => drop(names.insert(name.to_owned(), count)),
    }
}

/// Sorts the names by count, most frequent first, then by name.
fn most_frequent(names: HashMap<String, u64>) -> Vec<(String, u64)> {
    let mut names: Vec<_> = names.into_iter().filter(|(_, count)| *count > 0).collect();
    names.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    names.truncate(MAX_NAMES);
    names
}

/// Splits a time range into whole hours and the rest at both ends.
fn whole_hours(filter: &Filter) -> (Range<u64>, Vec<(u64, u64)>) {
    let (from, until) = (filter.from_ms.unwrap_or(0), filter.until_ms.unwrap_or(u64::MAX));
    let hours = from.div_ceil(HOUR_MS)..until / HOUR_MS;
    if filter.until_ms.is_some() && hours.is_empty() {
        return (0..0, vec![(from, until)]);
    }
    let end = if filter.until_ms.is_some() { hours.end * HOUR_MS } else { u64::MAX };
    let rest = [(from, hours.start * HOUR_MS), (end, until)];
    (hours, rest.into_iter().filter(|(start, end)| start < end).collect())
}

impl Reader {
    /// Counts the matching records. For full blocks it reads the counters. If the filter has a session or a
    /// text, it reads the records instead, because only few blocks contain matches.
    pub fn stats(&self, filter: &Filter) -> Result<Stats, ReadError> {
        // One transaction gives consistent counts.
        let transaction = self.connection.unchecked_transaction()?;
        let indexed_end = self.first_unindexed()?;
        let mut sum = StatsSum::default();
        let names = [&filter.session, &filter.text];
        let counted =
            self.has_counters() && names.iter().all(|name| name.is_none()) && filter.before.is_none();
        if counted {
            let (hours, rest) = whole_hours(filter);
            self.add_counters(filter, &hours, &mut sum)?;
            for (start, end) in rest {
                let part = Filter { from_ms: Some(start), until_ms: Some(end), ..filter.clone() };
                self.add_indexed(&part, indexed_end, &mut sum)?;
            }
        } else {
            self.add_indexed(filter, indexed_end, &mut sum)?;
        }
        self.add_range(filter, indexed_end..u64::MAX, &mut sum)?;
        let times = if counted && sum.totals.records > 0 {
            (self.time_limit(filter, indexed_end, "min")?, self.time_limit(filter, indexed_end, "max")?)
        } else {
            sum.times.unzip()
        };
        transaction.commit()?;
        Ok(sum.finish(times))
    }

    /// Adds the counters for these hours.
    fn add_counters(&self, filter: &Filter, hours: &Range<u64>, sum: &mut StatsSum) -> Result<(), ReadError> {
        let names = Filter { from_ms: None, until_ms: None, ..filter.clone() };
        // Counters have the same columns as records.
        let Conditions { leaves, mut values, .. } = names.conditions();
        let at = values.len();
        values.extend([hours.start, hours.end].map(|hour| Value::Integer(sql_i64(hour))));
        let columns = stored_columns();
        let sql = format!(
            "SELECT {columns} FROM counters l WHERE {leaves} AND l.hour >= ?{} AND l.hour < ?{}",
            at + 1,
            at + 2
        );
        self.add_rows(&sql, &values, sum)
    }

    /// Adds the matching records in full blocks.
    fn add_indexed(&self, filter: &Filter, indexed_end: u64, sum: &mut StatsSum) -> Result<(), ReadError> {
        let mut next = 0..0;
        self.each_block_backwards(filter, indexed_end, |block| {
            // Joins adjacent blocks into one range.
            if next.start != block.end {
                self.add_range(filter, next.clone(), sum)?;
                next.end = block.end;
            }
            next.start = block.start;
            Ok(true)
        })?;
        self.add_range(filter, next, sum)
    }

    /// Adds the matching records in a range.
    fn add_range(&self, filter: &Filter, range: Range<u64>, sum: &mut StatsSum) -> Result<(), ReadError> {
        if range.is_empty() {
            return Ok(());
        }
        let Conditions { leaves, mut values, .. } = filter.conditions();
        let at = values.len();
        values.extend([range.start, range.end - 1].map(|seq| Value::Integer(sql_i64(seq))));
        let columns = grouped_columns(self.knows_undelivered());
        let sql = format!(
            "SELECT {columns}, min(l.ts), max(l.ts) FROM leaves l
                WHERE {leaves} AND l.seq BETWEEN ?{} AND ?{} GROUP BY 1, 2, 3, 4, 5, 6, 7",
            at + 1,
            at + 2
        );
        self.add_rows(&sql, &values, sum)
    }

    fn add_rows(&self, sql: &str, values: &[Value], sum: &mut StatsSum) -> Result<(), ReadError> {
        let mut statement = self.connection.prepare_cached(sql)?;
        let has_times = statement.column_count() > COUNTER_COLUMNS;
        let mut rows = statement.query(params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            let (key, counts) = read_counter(row)?;
            sum.add(&key, &counts);
            if has_times {
                let (first, last) = (get_u64(row, COUNTER_COLUMNS)?, get_u64(row, COUNTER_COLUMNS + 1)?);
                let (earliest, latest) = sum.times.unwrap_or((first, last));
                sum.times = Some((earliest.min(first), latest.max(last)));
            }
        }
        Ok(())
    }

    /// Returns the time of the first or last matching event; `limit` is `min` or `max`. For `min`, blocks are read in
    /// the order of their first event, until no other block can contain an earlier one. For `max`, they are read
    /// in the order of their last event, latest first, until no other block can contain a later one.
    fn time_limit(&self, filter: &Filter, indexed_end: u64, limit: &str) -> Result<Option<u64>, ReadError> {
        let Conditions { leaves, blocks, mut values } = filter.conditions();
        let at = values.len();
        let (first, last) = (at + 1, at + 2);
        let (column, order) = if limit == "min" { ("first_ts", "ASC") } else { ("last_ts", "DESC") };
        let sql = format!(
            "SELECT {limit}(l.ts) FROM leaves l WHERE {leaves} AND l.seq BETWEEN ?{first} AND ?{last}"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut read_range = |from: u64, to: u64| -> Result<Option<u64>, ReadError> {
            values.truncate(at);
            values.extend([from, to].map(|seq| Value::Integer(sql_i64(seq))));
            let found: Option<i64> = statement.query_row(params_from_iter(&values), |row| row.get(0))?;
            Ok(found.and_then(|ms| u64::try_from(ms).ok()))
        };
        let mut best = read_range(indexed_end, u64::MAX)?;
        if indexed_end == 0 {
            return Ok(best);
        }
        let blocks = blocks.unwrap_or_else(|| "1".to_owned());
        let sql = format!("SELECT b.block, b.{column} FROM blocks b WHERE {blocks} ORDER BY 2 {order}");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let parameters = filter.conditions().values;
        let count = statement.parameter_count();
        let mut rows = statement.query(params_from_iter(parameters.iter().take(count)))?;
        while let Some(row) = rows.next()? {
            let (block, block_time) = (get_u64(row, 0)?, get_u64(row, 1)?);
            if best.is_some_and(|best| if limit == "min" { block_time >= best } else { block_time <= best }) {
                break;
            }
            let found = read_range(block * BLOCK_RECORDS, block * BLOCK_RECORDS + BLOCK_RECORDS - 1)?;
            best = if limit == "min" { found.into_iter().chain(best).min() } else { best.max(found) };
        }
        Ok(best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_range_is_whole_hours_and_what_is_left_at_its_ends() {
        let split = |from_ms: Option<u64>, until_ms: Option<u64>| {
            whole_hours(&Filter { from_ms, until_ms, ..Filter::default() })
        };
        let hour = HOUR_MS;
        assert_eq!(split(None, None), (0..u64::MAX / hour, vec![]));
        assert_eq!(split(Some(2 * hour), Some(4 * hour)), (2..4, vec![]));
        assert_eq!(split(Some(hour + 1), None), (2..u64::MAX / hour, vec![(hour + 1, 2 * hour)]));
        let both = vec![(hour + 1, 2 * hour), (3 * hour, 3 * hour + 5)];
        assert_eq!(split(Some(hour + 1), Some(3 * hour + 5)), (2..3, both));
        assert_eq!(split(Some(hour + 1), Some(hour + 9)), (0..0, vec![(hour + 1, hour + 9)]));
        assert_eq!(split(Some(hour - 1), Some(hour + 1)), (0..0, vec![(hour - 1, hour + 1)]));
        assert!(split(Some(5 * hour), Some(hour)).0.is_empty());
    }
}
