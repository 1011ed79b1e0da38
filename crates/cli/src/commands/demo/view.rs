// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The session as the daemon recorded it, short enough for one page.

use std::fmt::Write as _;

use serde_json::Value;
use tenterhook_home::recorded::Field as _;

use crate::ask;
use crate::context::Context;
use crate::error::CommandError;
use crate::layout::fit;
use crate::terminal::{BAD, BOLD, DIM, GOOD, Terminal, WARN, tame};

/// Columns for the name of a rule.
const RULE_COLUMNS: usize = 24;

/// The latest session of the demo's daemon.
pub(super) fn latest(context: &Context) -> Result<String, CommandError> {
    let home = context.home()?;
    let none = || CommandError::failed("the demo's daemon has no session");
    let list = ask::get(home, "/v1/sessions")?.ok_or_else(none)?;
    let id = list.pointer("/sessions/0/id").and_then(Value::as_str).ok_or_else(none)?;
    let session = ask::get(home, &format!("/v1/sessions/{id}"))?.ok_or_else(none)?;
    Ok(summary(&session, Terminal::width().min(100)))
}

fn summary(session: &Value, width: usize) -> String {
    let mut out = format!("\n{BOLD}What the daemon recorded{BOLD:#}\n  {}\n", counts(session));
    let _ = writeln!(out, "\n{BOLD}Files changed{BOLD:#}");
    for file in items(session, "changed_files") {
        let change = match (number(file, "added"), number(file, "removed")) {
            _ if file.field("deleted") == true => "deleted".to_owned(),
            (added, removed) => format!("{GOOD}+{added}{GOOD:#} {BAD}−{removed}{BAD:#}"),
        };
        let _ = writeln!(out, "  {} {change}", fit(&text(file, "shown"), 16));
    }
    let marks = [("denials", "Denied", BAD, "✗"), ("asks", "Asked", WARN, "?")];
    for (key, heading, style, mark) in marks {
        let calls = items(session, key);
        if calls.is_empty() {
            continue;
        }
        let _ = writeln!(out, "\n{BOLD}{heading}{BOLD:#}");
        let mut rows: Vec<_> = calls.iter().map(|call| (text(call, "gist"), text(call, "rule"))).collect();
        // The rules ask about a call once before it is made and once when permission is requested.
        rows.dedup();
        for (gist, rule) in rows {
            let gist = fit(&gist, width.saturating_sub(RULE_COLUMNS + 6));
            let _ = writeln!(out, "  {style}{mark}{style:#} {gist}  {DIM}{rule}{DIM:#}");
        }
    }
    out
}

/// `12 calls: 8 ok, 1 failed, 3 denied; 7323 tokens`.
fn counts(session: &Value) -> String {
    let tools = session.field("tool_results").as_object();
    let sum = |key: &str| tools.into_iter().flatten().map(|(_, tool)| number(tool, key)).sum::<u64>();
    let parts = ["ok", "failed", "asked", "denied"].map(|key| (sum(key), key));
    let parts = parts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    let usage = session.field("usage");
    let tokens = number(usage, "input_tokens") + number(usage, "output_tokens");
    format!("{} calls: {}; {tokens} tokens", sum("calls"), parts.collect::<Vec<_>>().join(", "))
}

fn text(value: &Value, key: &str) -> String {
    tame(value.field(key).as_str().unwrap_or_default())
}

fn number(value: &Value, key: &str) -> u64 {
    value.field(key).as_u64().unwrap_or_default()
}

fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.field(key).as_array().map(Vec::as_slice).unwrap_or_default()
}
