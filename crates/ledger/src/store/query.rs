// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Finding leaves: newest first, a page at a time.

use rusqlite::types::Value;

use super::error::ReadFailed;
use super::reader::{COLUMNS, Reader, Record};
use super::rows::signed;

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

impl Filter {
    /// The conditions in SQL, and what they are about.
    pub(super) fn conditions(&self) -> (String, Vec<Value>) {
        let mut sql = String::from("1");
        let mut values: Vec<Value> = Vec::new();
        let mut add = |condition: &str, value: Value| {
            values.push(value);
            sql.push_str(" AND ");
            sql.push_str(&condition.replace('?', &format!("?{}", values.len())));
        };
        let text = |value: &Option<String>| value.clone().map(Value::Text);
        if let Some(value) = text(&self.session) {
            add("l.session = ?", value);
        }
        if let Some(value) = text(&self.harness) {
            add("l.source = ?", value);
        }
        if let Some(value) = text(&self.tool) {
            add("l.tool = ?", value);
        }
        if let Some(value) = text(&self.rule) {
            add("l.rule = ?", value);
        }
        match self.verdict.as_deref() {
            // In the words of the index, so that it is used.
            Some(word @ ("ask" | "defer" | "deny")) => {
                add("l.verdict IN ('ask', 'defer', 'deny') AND l.verdict = ?", Value::Text(word.to_owned()));
            }
            Some(word) => add("l.verdict = ?", Value::Text(word.to_owned())),
            None => {}
        }
        match self.kind {
            Some(crate::record::Kind::Decision) => add("l.kind = ?", Value::Text("decision".into())),
            Some(kind) => add("l.kind <> 'decision' AND l.kind = ?", Value::Text(kind.word().into())),
            None => {}
        }
        if let Some(from) = self.from_ms {
            add("l.ts >= ?", Value::Integer(signed(from)));
        }
        if let Some(until) = self.until_ms {
            add("l.ts < ?", Value::Integer(signed(until)));
        }
        if let Some(before) = self.before {
            add("l.seq < ?", Value::Integer(signed(before)));
        }
        if let Some(text) = &self.text {
            // Both are JSON, so that is how the text stands in them.
            let quoted = serde_json::Value::String(text.clone()).to_string();
            let quoted = quoted.trim_start_matches('"').strip_suffix('"').unwrap_or_default();
            let escaped = quoted.replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
            add(
                "(CAST(l.bytes AS TEXT) LIKE ? ESCAPE '\\' OR CAST(l.payload AS TEXT) LIKE ? ESCAPE '\\')",
                Value::Text(format!("%{escaped}%")),
            );
        }
        (sql, values)
    }
}

impl Reader {
    /// Leaves that fit, newest first, at most `limit`.
    pub fn query(&self, filter: &Filter, limit: u64) -> Result<Found, ReadFailed> {
        let (conditions, values) = filter.conditions();
        let sql = format!(
            "SELECT {COLUMNS} WHERE {conditions} ORDER BY l.seq DESC LIMIT {}",
            limit.saturating_add(1)
        );
        let mut statement = self.connection.prepare(&sql)?;
        let rows = statement.query_map(rusqlite::params_from_iter(values), Record::from_row)?;
        let mut records = rows.collect::<Result<Vec<_>, _>>()?;
        let mut next = None;
        if u64::try_from(records.len()).unwrap_or(u64::MAX) > limit {
            records.pop();
            next = records.last().map(|record| record.seq);
        }
        Ok(Found { records, next })
    }
}
