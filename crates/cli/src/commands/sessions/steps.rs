// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A session step by step: the changes of one file, or all that happened.

use std::fmt::Write as _;

use anstyle::Style;
use serde_json::Value;
use tenterhook_home::recorded::Field as _;

use super::panel::{items, number, text};
use crate::terminal::{BAD, BOLD, DIM, GOOD, WARN, tame};

/// The changes of one file.
pub(super) fn diff(answer: &Value) -> String {
    let changes = items(answer, "changes");
    if changes.is_empty() {
        return format!("this session changed no file `{}`\n", text(answer, "path"));
    }
    let mut out = String::new();
    for change in changes {
        let _ = writeln!(
            out,
            "{BOLD}{}{BOLD:#}  {} {} {DIM}leaf {}, {}{DIM:#}",
            text(change, "shown"),
            text(change, "tool"),
            text(change, "state"),
            number(change, "seq"),
            text(change, "ts")
        );
        if let Some(diff) = change.field("diff").as_str() {
            for line in diff.lines() {
                let style = match line.as_bytes().first() {
                    Some(b'+') => GOOD,
                    Some(b'-') => BAD,
                    Some(b'@') => DIM,
                    _ => Style::new(),
                };
                let _ = writeln!(out, "{style}{}{style:#}", tame(line));
            }
        }
        let why = match change.field("why").as_str() {
            Some("erased") => "its content was erased",
            Some("pruned") => "its leaf was pruned",
            Some("too-large") => "it was too large to be recorded",
            Some("not-yet") => "it is not in the ledger's file yet",
            Some("before-unknown") => "nobody says what was there before",
            Some(_) => "nobody says what the text was",
            None => "",
        };
        if !why.is_empty() {
            let _ = writeln!(out, "{DIM}({why}){DIM:#}");
        }
        out += "\n";
    }
    out
}

/// What happened, step by step.
pub(super) fn timeline(answer: &Value) -> String {
    let mut out = String::new();
    for step in items(answer, "steps") {
        let at: String = text(step, "ts").chars().skip(11).take(8).collect();
        let verdict = text(step, "verdict");
        let style = match verdict.as_str() {
            "deny" => BAD,
            "ask" => WARN,
            _ => DIM,
        };
        let (tool, erased) = (step.field("tool"), step.field("erased") == true);
        let called = format!("{} {}", text(tool, "name"), text(tool, "gist"));
        let what = if tool.is_null() { text(step, "said") } else { called };
        let erased = if erased { " (erased)" } else { "" };
        let event = text(step, "event");
        let _ = writeln!(
            out,
            "{DIM}{at}{DIM:#}  {event:<18}  {style}{verdict:<6}{style:#}  {}{erased}",
            what.trim()
        );
    }
    out
}
