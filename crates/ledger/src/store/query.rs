// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Record queries: newest first, in pages.

use std::ops::Range;

use rusqlite::types::{Value, ValueRef};

use super::block::BLOCK_RECORDS;
use super::error::ReadError;
use super::reader::{RECORD_COLUMNS, Reader, StoredRecord};
use super::rows::{get_u64, sql_i64};
use super::text_filter::TextProbe;

/// Conditions that records must match. Absent conditions match everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The harness's id for the session.
    pub session: Option<String>,
    /// Name of the harness.
    pub harness: Option<String>,
    /// The harness's name for the tool.
    pub tool: Option<String>,
    /// The verdict: `none`, `allow`, `defer`, `ask` or `deny`.
    pub verdict: Option<String>,
    /// Id of the deciding rule.
    pub rule: Option<String>,
    /// Kind of the record.
    pub kind: Option<crate::envelope::LeafKind>,
    /// Start of the time range, in milliseconds since the Unix epoch.
    pub from_ms: Option<u64>,
    /// End of the time range, exclusive.
    pub until_ms: Option<u64>,
    /// A string in the envelope or the stored payload. The case of ASCII letters is ignored.
    pub text: Option<String>,
    /// Only records before this number: the `next` of the previous page.
    pub before: Option<u64>,
}

/// One page of query results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordPage {
    /// Records, newest first.
    pub records: Vec<StoredRecord>,
    /// Value of `before` that requests the next page, if there is one.
    pub next: Option<u64>,
}

/// A filter as SQL conditions.
pub(super) struct Conditions {
    /// Condition that a leaf `l` must match.
    pub(super) leaves: String,
    /// Condition that every block `b` with matching leaves fulfils; `None` if any block may have matching leaves.
    pub(super) blocks: Option<String>,
    /// Parameters of both conditions.
    pub(super) values: Vec<Value>,
}

impl Filter {
    /// Converts the filter to SQL.
    pub(super) fn conditions(&self) -> Conditions {
        let (mut sql, mut blocks) = (String::from("1"), String::new());
        let mut values: Vec<Value> = Vec::new();
        let mut add = |leaves: &str, block: &str, value: Value| {
            values.push(value);
            for (sql, condition) in [(&mut sql, leaves), (&mut blocks, block)] {
                if !condition.is_empty() {
                    sql.push_str(" AND ");
                    sql.push_str(&condition.replace('?', &format!("?{}", values.len())));
                }
            }
        };
        let fields = [
            ("session", self.session.as_deref()),
            ("source", self.harness.as_deref()),
            ("tool", self.tool.as_deref()),
            ("rule", self.rule.as_deref()),
            ("verdict", self.verdict.as_deref()),
            ("kind", self.kind.map(crate::envelope::LeafKind::as_str)),
        ];
        for (field, value) in fields {
            if let Some(value) = value {
                let block =
                    format!("b.block IN (SELECT block FROM filed WHERE field = '{field}' AND value = ?)");
                add(&format!("l.{field} = ?"), &block, Value::Text(value.to_owned()));
            }
        }
        if let Some(from) = self.from_ms {
            add("l.ts >= ?", "b.last_ts >= ?", Value::Integer(sql_i64(from)));
        }
        if let Some(until) = self.until_ms {
            add("l.ts < ?", "b.first_ts < ?", Value::Integer(sql_i64(until)));
        }
        if let Some(before) = self.before {
            add("l.seq < ?", "", Value::Integer(sql_i64(before)));
        }
        if let Some(text) = &self.text {
            // Envelope and payload are JSON, so the search string is escaped as in JSON.
            let escaped = json_text(text).replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
            add(
                "(CAST(l.bytes AS TEXT) LIKE ? ESCAPE '\\' OR CAST(l.payload AS TEXT) LIKE ? ESCAPE '\\')",
                "",
                Value::Text(format!("%{escaped}%")),
            );
        }
        let blocks = (!blocks.is_empty()).then(|| format!("1{blocks}"));
        Conditions { leaves: sql, blocks, values }
    }
}

impl Reader {
    /// Returns at most `limit` matching records, newest first.
    pub fn query(&self, filter: &Filter, limit: u64) -> Result<RecordPage, ReadError> {
        // One transaction gives a consistent view of the index.
        let transaction = self.connection.unchecked_transaction()?;
        let mut records = self.mark_undelivered(self.query_newest(filter, limit.saturating_add(1))?)?;
        transaction.commit()?;
        let mut next = None;
        if count(&records) > limit {
            records.pop();
            next = records.last().map(|record| record.seq);
        }
        Ok(RecordPage { records, next })
    }

    fn query_newest(&self, filter: &Filter, limit: u64) -> Result<Vec<StoredRecord>, ReadError> {
        let Conditions { leaves, mut values, .. } = filter.conditions();
        let at = values.len();
        let sql = format!(
            "SELECT {RECORD_COLUMNS} WHERE {leaves} AND l.seq BETWEEN ?{} AND ?{} ORDER BY l.seq DESC LIMIT ?{}",
            at + 1,
            at + 2,
            at + 3
        );
        let mut statement = self.connection.prepare(&sql)?;
        let mut records = Vec::new();
        let mut read_range = |from: u64, to: u64, records: &mut Vec<StoredRecord>| -> Result<(), ReadError> {
            values.truncate(at);
            let rest = limit - count(records);
            values.extend([from, to, rest].map(|number| Value::Integer(sql_i64(number))));
            let rows = statement.query_map(rusqlite::params_from_iter(&values), StoredRecord::from_row)?;
            for record in rows {
                records.push(record?);
            }
            Ok(())
        };
        let indexed_end = self.first_unindexed()?;
        // Records that are not indexed yet come first, then the blocks one by one.
        read_range(indexed_end, u64::MAX, &mut records)?;
        if count(&records) >= limit {
            return Ok(records);
        }
        self.each_block_backwards(filter, indexed_end, |block| {
            read_range(block.start, block.end - 1, &mut records)?;
            Ok(count(&records) < limit)
        })?;
        Ok(records)
    }

    /// Calls `each` for full blocks that may contain matching records, newest first, until it returns false. If the
    /// filter cannot exclude blocks, all of them form one range.
    pub(super) fn each_block_backwards(
        &self,
        filter: &Filter,
        indexed_end: u64,
        mut each: impl FnMut(Range<u64>) -> Result<bool, ReadError>,
    ) -> Result<(), ReadError> {
        let Conditions { blocks, mut values, .. } = filter.conditions();
        let probe = filter.text.as_deref().and_then(|text| TextProbe::new(&json_text(text)));
        let probe = probe.filter(|_| self.has_text_filters());
        if indexed_end == 0 {
            return Ok(());
        }
        if blocks.is_none() && probe.is_none() {
            return each(0..indexed_end).map(drop);
        }
        let last = filter.before.unwrap_or(u64::MAX) / BLOCK_RECORDS;
        values.push(Value::Integer(sql_i64(last)));
        let (bits, join) = match probe {
            Some(_) => ("f.bits", "LEFT JOIN text_filters f ON f.block = b.block"),
            None => ("NULL", ""),
        };
        let sql = format!(
            "SELECT b.block, {bits} FROM blocks b {join} WHERE {} AND b.block <= ?{} ORDER BY b.block DESC",
            blocks.as_deref().unwrap_or("1"),
            values.len()
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(rusqlite::params_from_iter(values))?;
        while let Some(row) = rows.next()? {
            let start = get_u64(row, 0)? * BLOCK_RECORDS;
            if let (Some(probe), ValueRef::Blob(bits)) = (&probe, row.get_ref(1)?)
                && !probe.may_occur(bits)
            {
                continue;
            }
            if !each(start..start + BLOCK_RECORDS)? {
                break;
            }
        }
        Ok(())
    }
}

/// Escapes a string as in JSON, without quotes.
fn json_text(text: &str) -> String {
    let quoted = serde_json::Value::String(text.to_owned()).to_string();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

fn count(records: &[StoredRecord]) -> u64 {
    u64::try_from(records.len()).unwrap_or(u64::MAX)
}
