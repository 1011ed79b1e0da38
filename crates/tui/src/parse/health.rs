// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::Value;

use super::{array_field, field, number_field, sorted_counts, text_field};
use crate::plain;

/// The daemon's health.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct HealthSummary {
    pub(crate) version: String,
    pub(crate) is_monitoring: bool,
    /// Level of protection of the rules.
    pub(crate) level: String,
    pub(crate) generation: String,
    pub(crate) listen: String,
    pub(crate) uptime_ms: u64,
    pub(crate) answered: u64,
    pub(crate) spooled: u64,
    /// Problems, one per line.
    pub(crate) problems: Vec<String>,
}

/// Statistics of the ledger.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct LedgerCounts {
    pub(crate) records: u64,
    pub(crate) signed: u64,
    pub(crate) sessions: u64,
    pub(crate) bytes: u64,
    pub(crate) verdicts: Vec<(String, u64)>,
    pub(crate) rules: Vec<(String, u64)>,
}

impl HealthSummary {
    pub(crate) fn parse(answer: &Value) -> Self {
        let problem = |problem: &Value| match problem.as_str() {
            Some(text) => plain::single_line(text),
            None => {
                [text_field(problem, "source"), text_field(problem, "message")].join(" ").trim().to_owned()
            }
        };
        let lost = |lost: &Value| {
            format!("{}: hook missing from {}", text_field(lost, "harness"), text_field(lost, "settings"))
        };
        let undelivered = field(answer, "undelivered");
        let ran = number_field(undelivered, "ran");
        let ran = (ran > 0).then(|| format!("{ran} tools ran without a decision: their hooks were killed"));
        // The list of guarded harnesses is missing until the daemon's first check.
        let unguarded = field(answer, "guarded").as_array().is_some_and(Vec::is_empty);
        let unguarded = unguarded.then(|| "no agent is guarded; run `tenterhook install`".to_owned());
        let problems =
            array_field(answer, "problems").iter().chain(array_field(answer, "stale")).map(problem);
        Self {
            version: text_field(answer, "version"),
            is_monitoring: field(answer, "mode") == "monitor",
            level: text_field(answer, "level"),
            generation: text_field(answer, "generation"),
            listen: text_field(answer, "listen"),
            uptime_ms: number_field(answer, "uptime_ms"),
            answered: number_field(answer, "answered"),
            spooled: number_field(field(answer, "spool"), "waiting"),
            problems: problems
                .chain(array_field(answer, "unwired").iter().map(lost))
                .chain(unguarded)
                .chain(ran)
                .collect(),
        }
    }
}

impl LedgerCounts {
    pub(crate) fn parse(answer: &Value) -> Self {
        Self {
            records: number_field(answer, "size"),
            signed: number_field(answer, "signed"),
            sessions: number_field(answer, "sessions"),
            bytes: number_field(answer, "bytes_on_disk"),
            verdicts: sorted_counts(field(answer, "verdicts")),
            rules: sorted_counts(field(answer, "rules")),
        }
    }
}
