// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The report of a session or a period: counts, charts, and the records to look at, each with its proof.

mod gather;
mod page;

use tenterhook_event::Timestamp;
use tenterhook_ledger::{Filter, Kind, ReadFailed, Reader};

/// A report as an HTML page, and what is in it.
#[derive(Debug)]
pub struct LedgerReport {
    /// The page.
    pub html: String,
    /// How many decisions were counted.
    pub decisions: u64,
    /// How many records are listed.
    pub shown: usize,
    /// How many more would have been listed.
    pub left_out: u64,
}

/// Writes a report of the records that pass a filter. Records that no checkpoint covers yet are listed without a proof.
pub fn write_report(reader: &Reader, filter: &Filter, now: Timestamp) -> Result<LedgerReport, ReadFailed> {
    let gathered = gather::gather(reader, filter)?;
    Ok(LedgerReport {
        html: page::page(&gathered, &describe_filter(filter), &now.to_string()),
        decisions: gathered.decisions,
        shown: gathered.shown.len(),
        left_out: gathered.left_out,
    })
}

/// A filter in words, for a heading.
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
        named("kind", kind.map(Kind::word)),
        dated("since", *from_ms),
        dated("until", *until_ms),
        named("with the text", text.as_deref()),
    ];
    let parts: Vec<_> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "everything that is recorded".to_owned() } else { parts.join(", ") }
}
