// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A ledger in numbers.

use std::path::Path;

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::DATABASE;
use super::block::BLOCK;
use super::error::ReadFailed;
use super::query::{Conditions, Filter};
use super::reader::Reader;
use super::rows::unsigned;
use super::undelivered::HEARD;

/// How many names a list has at most; the rest is counted nowhere but in the totals.
const NAMES: u64 = 50;
const DAY: u64 = 86_400_000;

/// A ledger, or a part of it, in numbers. Lists are largest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// How many leaves fit.
    pub leaves: u64,
    /// How many of them are decisions that nobody heard; only the totals count them.
    pub undelivered: u64,
    /// How many sessions they are of.
    pub sessions: u64,
    /// The first event, in milliseconds since the Unix epoch.
    pub first_ms: Option<u64>,
    /// The last event.
    pub last_ms: Option<u64>,
    /// By kind.
    pub kinds: Vec<(String, u64)>,
    /// By verdict.
    pub verdicts: Vec<(String, u64)>,
    /// By harness.
    pub harnesses: Vec<(String, u64)>,
    /// By tool.
    pub tools: Vec<(String, u64)>,
    /// By the rule that decided.
    pub rules: Vec<(String, u64)>,
    /// By day and verdict, oldest first: midnight in UTC, the verdict, how many.
    pub days: Vec<(u64, String, u64)>,
    /// Payloads that are stored.
    pub payloads: u64,
    /// Their bytes.
    pub payload_bytes: u64,
    /// Payloads that were erased.
    pub erased: u64,
    /// Leaves that were pruned.
    pub pruned: u64,
}

/// How much room a ledger takes on the disk, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DiskUse {
    /// All files of its directory.
    pub total: u64,
    /// The part of it that is SQLite's journal. It holds recent writes, several times each, until they are
    /// moved into the database; it says nothing about what a record costs.
    pub journal: u64,
}

impl DiskUse {
    /// Adds the files of a ledger's directory up.
    pub fn of(dir: &Path) -> Self {
        let journal = format!("{DATABASE}-wal");
        let mut found = Self::default();
        for file in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let length = file.metadata().map_or(0, |file| file.len());
            found.total += length;
            found.journal += if file.file_name() == *journal { length } else { 0 };
        }
        found
    }
}

impl Reader {
    /// Counts the leaves that fit.
    pub fn stats(&self, filter: &Filter) -> Result<Stats, ReadFailed> {
        // One transaction: all numbers are about the same leaves.
        let transaction = self.connection.unchecked_transaction()?;
        let Conditions { leaves, blocks, values } = filter.conditions();
        let from = match blocks.filter(|_| self.is_filed()) {
            // The blocks that may have some, and what is not filed yet.
            Some(blocks) => format!(
                "FROM (SELECT b.block * {BLOCK} AS first, b.block * {BLOCK} + {BLOCK} - 1 AS last FROM blocks b WHERE {blocks}
                    UNION ALL SELECT {}, {}) r CROSS JOIN leaves l ON l.seq BETWEEN r.first AND r.last WHERE {leaves}",
                self.filed()?,
                i64::MAX
            ),
            None => format!("FROM leaves l WHERE {leaves}"),
        };
        let mut stats = self.totals(&from, &values)?;
        let mut from = from;
        if self.knows_undelivered() {
            stats.undelivered = self.unheard(&from, &values)?;
            // Most ledgers have none, and need not look for each leaf.
            if stats.undelivered > 0 {
                from = format!("{from} AND {HEARD}");
            }
        }
        stats.kinds = self.counted("l.kind", &from, &values)?;
        stats.verdicts = self.counted("l.verdict", &from, &values)?;
        stats.harnesses = self.counted("l.source", &from, &values)?;
        stats.tools = self.counted("l.tool", &from, &values)?;
        stats.rules = self.counted("l.rule", &from, &values)?;
        let sql = format!(
            "SELECT l.ts / {DAY}, coalesce(l.verdict, ''), count(*) {from} AND l.kind = 'decision' GROUP BY 1, 2 ORDER BY 1, 2"
        );
        let mut statement = self.connection.prepare(&sql)?;
        let days = statement.query_map(params_from_iter(&values), |row| {
            Ok((unsigned(row, 0)? * DAY, row.get(1)?, unsigned(row, 2)?))
        })?;
        stats.days = days.collect::<Result<_, _>>()?;
        transaction.commit()?;
        Ok(stats)
    }

    fn totals(&self, from: &str, values: &[Value]) -> Result<Stats, ReadFailed> {
        let sql = format!(
            "SELECT count(*), count(DISTINCT l.session), min(l.ts), max(l.ts), count(l.payload),
                coalesce(sum(length(l.payload)), 0), coalesce(sum(l.erased), 0), sum(l.bytes IS NULL) {from}"
        );
        let totals = self.connection.query_row(&sql, params_from_iter(values), |row| {
            let moment =
                |at: usize| row.get::<_, Option<i64>>(at).map(|ms| ms.and_then(|ms| u64::try_from(ms).ok()));
            Ok(Stats {
                leaves: unsigned(row, 0)?,
                sessions: unsigned(row, 1)?,
                first_ms: moment(2)?,
                last_ms: moment(3)?,
                payloads: unsigned(row, 4)?,
                payload_bytes: unsigned(row, 5)?,
                erased: unsigned(row, 6)?,
                pruned: moment(7)?.unwrap_or(0),
                ..Stats::default()
            })
        })?;
        Ok(totals)
    }

    fn counted(&self, column: &str, from: &str, values: &[Value]) -> Result<Vec<(String, u64)>, ReadFailed> {
        let sql = format!(
            "SELECT {column}, count(*) {from} AND {column} IS NOT NULL GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT {NAMES}"
        );
        let mut statement = self.connection.prepare(&sql)?;
        let rows =
            statement.query_map(params_from_iter(values), |row| Ok((row.get(0)?, unsigned(row, 1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}
