// SPDX-License-Identifier: Apache-2.0 OR MIT

use serde_json::Value;

use super::{at, counts, list, number, text};
use crate::plain;

/// How the daemon is.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Health {
    pub(crate) version: String,
    pub(crate) monitors: bool,
    pub(crate) generation: String,
    pub(crate) listen: String,
    pub(crate) uptime_ms: u64,
    pub(crate) answered: u64,
    pub(crate) spooled: u64,
    /// What cannot be used, or is not wired any more: one line each.
    pub(crate) troubles: Vec<String>,
}

/// What the ledger holds.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Ledger {
    pub(crate) leaves: u64,
    pub(crate) signed: u64,
    pub(crate) sessions: u64,
    pub(crate) bytes: u64,
    pub(crate) verdicts: Vec<(String, u64)>,
    pub(crate) rules: Vec<(String, u64)>,
}

impl Health {
    pub(crate) fn read(answer: &Value) -> Self {
        let problem = |problem: &Value| match problem.as_str() {
            Some(text) => plain::line(text),
            None => [text(problem, "source"), text(problem, "message")].join(" ").trim().to_owned(),
        };
        let lost =
            |lost: &Value| format!("{} is not wired: {}", text(lost, "harness"), text(lost, "settings"));
        let undelivered = at(answer, "undelivered");
        let ran = number(undelivered, "ran");
        let ran = (ran > 0).then(|| format!("{ran} tools ran without an answer: their hooks were killed"));
        // Before the daemon's first look there is no such list.
        let nobody = at(answer, "guarded").as_array().is_some_and(Vec::is_empty);
        let nobody = nobody.then(|| "no agent is guarded: `tenterhook install` guards one".to_owned());
        let troubles = list(answer, "problems").iter().chain(list(answer, "stale")).map(problem);
        Self {
            version: text(answer, "version"),
            monitors: at(answer, "mode") == "monitor",
            generation: text(answer, "generation"),
            listen: text(answer, "listen"),
            uptime_ms: number(answer, "uptime_ms"),
            answered: number(answer, "answered"),
            spooled: number(at(answer, "spool"), "waiting"),
            troubles: troubles
                .chain(list(answer, "unwired").iter().map(lost))
                .chain(nobody)
                .chain(ran)
                .collect(),
        }
    }
}

impl Ledger {
    pub(crate) fn read(answer: &Value) -> Self {
        Self {
            leaves: number(answer, "size"),
            signed: number(answer, "signed"),
            sessions: number(answer, "sessions"),
            bytes: number(answer, "bytes_on_disk"),
            verdicts: counts(at(answer, "verdicts")),
            rules: counts(at(answer, "rules")),
        }
    }
}
