// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats the changes to one file in a session, and the session's timeline.

use std::fmt::Write as _;

use anstyle::Style;
use tenterhook_api::{FileChangeState, MissingDiff, SessionDiff, Timeline};
use tenterhook_event::Decision;

use crate::session_panel::tame_text;
use crate::{BAD, BOLD, DIM, GOOD, WARN, tame};

/// Renders the changes to one file.
pub fn render_diff(answer: &SessionDiff) -> String {
    if answer.changes.is_empty() {
        return format!("no changes of `{}` in this session\n", tame(&answer.path));
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
        let _ = writeln!(out, "{BOLD}{shown}{BOLD:#}  {tool} {state} {DIM}record {seq}, {ts}{DIM:#}");
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
            Some(MissingDiff::Erased) => "content erased",
            Some(MissingDiff::Pruned) => "record pruned",
            Some(MissingDiff::TooLarge) => "content too large to record",
            Some(MissingDiff::NotYet) => "not yet in the ledger",
            Some(MissingDiff::BeforeUnknown) => "previous content unknown",
            Some(MissingDiff::Unknown) => "content unknown",
            None => "",
        };
        if !why.is_empty() {
            let _ = writeln!(out, "{DIM}({why}){DIM:#}");
        }
        out += "\n";
    }
    out
}

/// Renders a timeline, one line per step.
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
            "{DIM}{at}{DIM:#}  {event:<18}  {style}{:<8}{style:#}  {}{erased}",
            Decision::label_of(&verdict),
            what.trim()
        );
    }
    out
}
