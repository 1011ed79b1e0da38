// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finding leaves: newest first, a page at a time.

use std::ops::Range;

use rusqlite::types::{Value, ValueRef};

use super::block::BLOCK;
use super::error::ReadFailed;
use super::reader::{COLUMNS, Reader, Record};
use super::rows::{signed, unsigned};
use super::text_filter::TextProbe;

/// What leaves to find; what is absent matters not.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// The harness's session.
    pub session: Option<String>,
    /// The harness.
    pub harness: Option<String>,
    /// The tool's native name.
    pub tool: Option<String>,
    /// The verdict: `none`, `allow`, `defer`, `ask`, `deny`.
    pub verdict: Option<String>,
    /// The rule that decided.
    pub rule: Option<String>,
    /// The kind of leaf.
    pub kind: Option<crate::record::Kind>,
    /// Events from this moment on, in milliseconds since the Unix epoch.
    pub from_ms: Option<u64>,
    /// Events before this moment.
    pub until_ms: Option<u64>,
    /// A text in the envelope or in the stored payload, whatever its case (in ASCII).
    pub text: Option<String>,
    /// Only leaves before this one: the `next` of the page before.
    pub before: Option<u64>,
}

/// One page of leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Newest first.
    pub records: Vec<Record>,
    /// Where the next page begins, if there is one.
    pub next: Option<u64>,
}

/// A filter in SQL.
pub(super) struct Conditions {
    /// What a leaf must fulfil, as `l`.
    pub(super) leaves: String,
    /// What a block `b` must fulfil to have such leaves; nothing if any may.
    pub(super) blocks: Option<String>,
    /// What both are about.
    pub(super) values: Vec<Value>,
}

impl Filter {
    /// The conditions in SQL, and what they are about.
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
            ("kind", self.kind.map(crate::record::Kind::word)),
        ];
        for (field, value) in fields {
            if let Some(value) = value {
                let block =
                    format!("b.block IN (SELECT block FROM filed WHERE field = '{field}' AND value = ?)");
                add(&format!("l.{field} = ?"), &block, Value::Text(value.to_owned()));
            }
        }
        if let Some(from) = self.from_ms {
            add("l.ts >= ?", "b.last_ts >= ?", Value::Integer(signed(from)));
        }
        if let Some(until) = self.until_ms {
            add("l.ts < ?", "b.first_ts < ?", Value::Integer(signed(until)));
        }
        if let Some(before) = self.before {
            add("l.seq < ?", "", Value::Integer(signed(before)));
        }
        if let Some(text) = &self.text {
            // Both are JSON, so that is how the text stands in them.
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
    /// Leaves that fit, newest first, at most `limit`.
    pub fn query(&self, filter: &Filter, limit: u64) -> Result<Found, ReadFailed> {
        // One transaction: blocks that are filed meanwhile are not half seen.
        let transaction = self.connection.unchecked_transaction()?;
        let mut records = self.mark(self.newest(filter, limit.saturating_add(1))?)?;
        transaction.commit()?;
        let mut next = None;
        if count(&records) > limit {
            records.pop();
            next = records.last().map(|record| record.seq);
        }
        Ok(Found { records, next })
    }

    fn newest(&self, filter: &Filter, limit: u64) -> Result<Vec<Record>, ReadFailed> {
        let Conditions { leaves, mut values, .. } = filter.conditions();
        let at = values.len();
        let sql = format!(
            "SELECT {COLUMNS} WHERE {leaves} AND l.seq BETWEEN ?{} AND ?{} ORDER BY l.seq DESC LIMIT ?{}",
            at + 1,
            at + 2,
            at + 3
        );
        let mut statement = self.connection.prepare(&sql)?;
        let mut records = Vec::new();
        let mut look = |from: u64, to: u64, records: &mut Vec<Record>| -> Result<(), ReadFailed> {
            values.truncate(at);
            let rest = limit - count(records);
            values.extend([from, to, rest].map(|number| Value::Integer(signed(number))));
            let rows = statement.query_map(rusqlite::params_from_iter(&values), Record::from_row)?;
            for record in rows {
                records.push(record?);
            }
            Ok(())
        };
        let filed = self.filed()?;
        // First what is not filed yet, then block by block.
        look(filed, u64::MAX, &mut records)?;
        if count(&records) >= limit {
            return Ok(records);
        }
        self.each_block_backwards(filter, filed, |block| {
            look(block.start, block.end - 1, &mut records)?;
            Ok(count(&records) < limit)
        })?;
        Ok(records)
    }

    /// Full blocks that may have records that match, newest first, until `each` has enough. Where any may, they
    /// are one.
    pub(super) fn each_block_backwards(
        &self,
        filter: &Filter,
        filed: u64,
        mut each: impl FnMut(Range<u64>) -> Result<bool, ReadFailed>,
    ) -> Result<(), ReadFailed> {
        let Conditions { blocks, mut values, .. } = filter.conditions();
        let probe = filter.text.as_deref().and_then(|text| TextProbe::new(&json_text(text)));
        let probe = probe.filter(|_| self.has_text_filters());
        if filed == 0 {
            return Ok(());
        }
        if blocks.is_none() && probe.is_none() {
            return each(0..filed).map(drop);
        }
        let last = filter.before.unwrap_or(u64::MAX) / BLOCK;
        values.push(Value::Integer(signed(last)));
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
            let start = unsigned(row, 0)? * BLOCK;
            if let (Some(probe), ValueRef::Blob(bits)) = (&probe, row.get_ref(1)?)
                && !probe.may_occur(bits)
            {
                continue;
            }
            if !each(start..start + BLOCK)? {
                break;
            }
        }
        Ok(())
    }
}

/// A text as it is written in JSON, without quotes.
fn json_text(text: &str) -> String {
    let quoted = serde_json::Value::String(text.to_owned()).to_string();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

fn count(records: &[Record]) -> u64 {
    u64::try_from(records.len()).unwrap_or(u64::MAX)
}
