// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Writes the report about a session or a period: counts, charts, and the records to look at, each with its inclusion
//! proof.

mod page;
mod report_counts;

use tenterhook_event::Timestamp;
use tenterhook_ledger::{Filter, LeafKind, ReadError, Reader};

/// A report as an HTML page, with its counts.
#[derive(Debug)]
pub struct LedgerReport {
    /// HTML of the page.
    pub html: String,
    /// Number of counted decisions.
    pub decisions: u64,
    /// Number of listed records.
    pub shown: usize,
    /// Number of matching records that are not listed.
    pub left_out: u64,
}

/// Writes a report about the records that pass a filter. Records that no checkpoint covers yet are listed without a
/// proof.
pub fn write_report(reader: &Reader, filter: &Filter, now: Timestamp) -> Result<LedgerReport, ReadError> {
    let counts = report_counts::collect_counts(reader, filter)?;
    Ok(LedgerReport {
        html: page::render_page(&counts, &describe_filter(filter), &now.to_string()),
        decisions: counts.decisions,
        shown: counts.shown.len(),
        left_out: counts.left_out,
    })
}

/// Describes a filter, for a heading.
pub fn describe_filter(filter: &Filter) -> String {
    let Filter { session, harness, tool, verdict, rule, kind, from_ms, until_ms, text, before: _ } = filter;
    let named = |name: &str, value: Option<&str>| value.map(|value| format!("{name} {value}"));
    let dated = |name: &str, ms: Option<u64>| ms.map(|ms| format!("{name} {}", Timestamp::from_unix_ms(ms)));
    let parts = [
        named("session", session.as_deref()),
        named("harness", harness.as_deref()),
        named("tool", tool.as_deref()),
        named("verdict", verdict.as_deref()),
        named("rule", rule.as_deref()),
        named("kind", kind.map(LeafKind::as_str)),
        dated("since", *from_ms),
        dated("until", *until_ms),
        named("with the text", text.as_deref()),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "all records".to_owned() } else { parts.join(", ") }
}
