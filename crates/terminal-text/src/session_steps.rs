// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A session step by step: the changes of one file, or all that happened.

use std::fmt::Write as _;

use anstyle::Style;
use tenterhook_api::{FileChangeState, MissingDiff, SessionDiff, Timeline};

use crate::session_panel::tame_text;
use crate::{BAD, BOLD, DIM, GOOD, WARN, tame};

/// The changes of one file.
pub fn render_diff(answer: &SessionDiff) -> String {
    if answer.changes.is_empty() {
        return format!("this session changed no file `{}`\n", tame(&answer.path));
    }
    let mut out = String::new();
    for one in &answer.changes {
        let change = &one.change;
        let state = match change.state {
            FileChangeState::Asked => "asked",
            FileChangeState::Done => "done",
            FileChangeState::Failed => "failed",
        };
        let (shown, tool) = (tame(&change.shown), tame(&change.tool));
        let (seq, ts) = (change.seq, change.ts);
        let _ = writeln!(out, "{BOLD}{shown}{BOLD:#}  {tool} {state} {DIM}leaf {seq}, {ts}{DIM:#}");
        for line in one.diff.iter().flat_map(|diff| diff.lines()) {
            let style = match line.as_bytes().first() {
                Some(b'+') => GOOD,
                Some(b'-') => BAD,
                Some(b'@') => DIM,
                _ => Style::new(),
            };
            let _ = writeln!(out, "{style}{}{style:#}", tame(line));
        }
        let why = match one.why {
            Some(MissingDiff::Erased) => "its content was erased",
            Some(MissingDiff::Pruned) => "its leaf was pruned",
            Some(MissingDiff::TooLarge) => "it was too large to be recorded",
            Some(MissingDiff::NotYet) => "it is not in the ledger's file yet",
            Some(MissingDiff::BeforeUnknown) => "nobody says what was there before",
            Some(MissingDiff::Unknown) => "nobody says what the text was",
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
pub fn render_timeline(answer: &Timeline) -> String {
    let mut out = String::new();
    for step in &answer.steps {
        let at: String =
            step.ts.map(|ts| ts.to_string()).unwrap_or_default().chars().skip(11).take(8).collect();
        let verdict = tame_text(step.verdict.as_ref());
        let style = match verdict.as_str() {
            "deny" => BAD,
            "ask" => WARN,
            _ => DIM,
        };
        let what = match &step.tool {
            Some(tool) => format!("{} {}", tame(&tool.name), tame_text(tool.gist.as_ref())),
            None => tame_text(step.said.as_ref()),
        };
        let erased = if step.erased { " (erased)" } else { "" };
        let event = tame_text(step.event.as_ref());
        let _ = writeln!(
            out,
            "{DIM}{at}{DIM:#}  {event:<18}  {style}{verdict:<6}{style:#}  {}{erased}",
            what.trim()
        );
    }
    out
}
