// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Formats the details of a session. Agents choose most of the strings, so control characters are removed from each.

use std::fmt::Write as _;

use anstyle::Style;
use tenterhook_api::{
    DeniedCall, OutsideChange, SessionActivity, SessionDetails, SessionSummary, SuggestionResult, ToolCounts,
};
use tenterhook_event::{ToolClass, tool_row};

use crate::{BAD, BOLD, DIM, GOOD, WARN, tame};

/// Removes control characters from a string that may be missing.
pub(crate) fn tame_text(text: Option<&String>) -> String {
    text.map(|text| tame(text)).unwrap_or_default()
}

/// Returns the word for a session's activity.
pub fn activity_word(activity: SessionActivity) -> &'static str {
    match activity {
        SessionActivity::Active => "active",
        SessionActivity::Waiting => "waiting",
        SessionActivity::Idle => "idle",
        SessionActivity::Ended => "ended",
    }
}

/// Returns the word and style for a session's activity.
pub fn state_of(session: &SessionSummary) -> (&'static str, Style) {
    let style = match session.state {
        SessionActivity::Active => GOOD,
        SessionActivity::Waiting => WARN,
        SessionActivity::Idle | SessionActivity::Ended => DIM,
    };
    (activity_word(session.state), style)
}

/// Returns the title of a session.
pub fn title_of(session: &SessionSummary) -> String {
    match &session.title {
        Some(title) => tame(title),
        None if session.prompts > 0 && session.erased > 0 => "(erased)".to_owned(),
        None => "(no prompt)".to_owned(),
    }
}

/// Renders all details of a session.
pub fn render_session(session: &SessionDetails) -> String {
    let summary = &session.summary;
    let (state, style) = state_of(summary);
    let mut out = format!("{BOLD}{}{BOLD:#}  {style}{state}{style:#}\n", title_of(summary));
    let mut about = vec![tame(&summary.harness), tame(&summary.id)];
    let place = summary.project.as_ref().or(summary.cwd.as_ref());
    about.extend([summary.model.as_ref(), summary.user.as_ref(), place].map(tame_text));
    about.retain(|part| !part.is_empty());
    let _ = writeln!(out, "{DIM}{}{DIM:#}", about.join(" · "));
    let started: String = summary.started.to_string().chars().take(19).collect();
    let _ =
        write!(out, "{DIM}started {}, {}", started.replace('T', " "), format_duration(summary.duration_ms));
    if summary.ended.is_some() {
        let why = tame_text(summary.end_reason.as_ref());
        let _ = write!(out, ", ended{}", if why.is_empty() { String::new() } else { format!(" ({why})") });
    }
    let _ = writeln!(out, "{DIM:#}");
    if summary.erased > 0 {
        let _ = writeln!(out, "{WARN}content of {} events was erased{WARN:#}", summary.erased);
    }
    push_files(session, &mut out);
    push_todos(session, &mut out);
    push_tools(session, &mut out);
    push_asks(session, &mut out);
    push_denials(session, &mut out);
    push_agents(session, &mut out);
    push_snapshots(session, &mut out);
    push_usage(session, &mut out);
    out
}

/// Maximum number of snapshots that are listed.
const MAX_LISTED_SNAPSHOTS: usize = 10;

fn push_snapshots(session: &SessionDetails, out: &mut String) {
    let snapshots = &session.snapshots;
    if snapshots.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{BOLD}Can be undone{BOLD:#} ({})", snapshots.len());
    for snapshot in snapshots.iter().take(MAX_LISTED_SNAPSHOTS) {
        let taken: String = snapshot.taken.to_string().chars().take(19).collect();
        let _ = writeln!(
            out,
            "  {DIM}{}{DIM:#}  {}  {DIM}{} files · tenterhook undo {}{DIM:#}",
            taken.replace('T', " "),
            tame(&snapshot.reason),
            snapshot.entries,
            tame(&snapshot.id),
        );
    }
    let more = snapshots.len().saturating_sub(MAX_LISTED_SNAPSHOTS);
    if more > 0 {
        let _ = writeln!(out, "  {DIM}and {more} more (`tenterhook undo list`){DIM:#}");
    }
}

fn push_files(session: &SessionDetails, out: &mut String) {
    let files = &session.changed_files;
    let _ = writeln!(out, "\n{BOLD}Files changed{BOLD:#} ({})", files.len());
    let wide = files.iter().map(|file| tame(&file.shown).chars().count()).max().unwrap_or(0).min(60);
    for file in files {
        let tools: Vec<_> = file.tools.iter().map(|tool| tame(tool)).collect();
        let (added, removed) = (file.added, file.removed);
        let mut line = format!("  {:<wide$}  {DIM}{}{DIM:#}", tame(&file.shown), tools.join(" "));
        if added + removed > 0 {
            let _ = write!(line, "  {GOOD}+{added}{GOOD:#} {BAD}−{removed}{BAD:#}");
        }
        if file.deleted {
            line += "  deleted";
        }
        let outside_change = match file.behind {
            Some(OutsideChange::Person) => "the user changed the proposal",
            Some(OutsideChange::Command) => "changed between two calls, possibly by a command",
            Some(OutsideChange::Unseen) => "changed outside the session",
            None => "",
        };
        if !outside_change.is_empty() {
            let _ = write!(line, "  {WARN}{outside_change}{WARN:#}");
        }
        let _ = writeln!(out, "{line}");
    }
    let left_out = session.summary.files.left_out;
    if left_out > 0 {
        let _ = writeln!(out, "  {DIM}and {left_out} more, not listed or unknown{DIM:#}");
    }
}

fn push_todos(session: &SessionDetails, out: &mut String) {
    let todos = &session.todo_items;
    if todos.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{BOLD}Todo list{BOLD:#} ({})", tame(&session.summary.todos.progress));
    for todo in todos {
        let _ = match todo.status.as_str() {
            "completed" => writeln!(out, "  {GOOD}✓{GOOD:#} {DIM}{}{DIM:#}", tame(&todo.text)),
            "in_progress" => {
                let active = tame_text(todo.active_form.as_ref());
                writeln!(
                    out,
                    "  {WARN}▸{WARN:#} {}",
                    if active.is_empty() { tame(&todo.text) } else { active }
                )
            }
            "cancelled" => writeln!(out, "  {DIM}✗ {}{DIM:#}", tame(&todo.text)),
            _ => writeln!(out, "  ○ {}", tame(&todo.text)),
        };
    }
}

fn push_tools(session: &SessionDetails, out: &mut String) {
    // Calls of todo tools are shown as the todo list.
    let is_todo = |name: &str| tool_row(name).is_some_and(|row| row.class == ToolClass::Todo);
    let tools: Vec<_> = session.tool_results.iter().filter(|(name, _)| !is_todo(name)).collect();
    if tools.is_empty() {
        return;
    }
    let mut all = ToolCounts::default();
    for (_, one) in &tools {
        all.calls += one.calls;
        all.ok += one.ok;
        all.failed += one.failed;
        all.asked += one.asked;
        all.denied += one.denied;
    }
    let _ = writeln!(out, "\n{BOLD}Tools{BOLD:#} ({})", format_counts(&all));
    let wide = tools.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(40);
    for (name, one) in tools {
        let _ = writeln!(out, "  {:<wide$}  {}", tame(name), format_counts(one));
    }
}

/// Formats counts: `6 calls, 3 ok, 1 asked`. A call that was asked about and then ran is counted in both.
fn format_counts(counts: &ToolCounts) -> String {
    let ToolCounts { calls, ok, failed, denied, asked } = *counts;
    let mut line = format!("{calls} call{}", if calls == 1 { "" } else { "s" });
    let parts = [(ok, "ok", GOOD), (failed, "failed", BAD), (asked, "asked", WARN), (denied, "denied", BAD)];
    for (number, word, style) in parts.into_iter().filter(|(number, ..)| *number > 0) {
        let _ = write!(line, ", {style}{number} {word}{style:#}");
    }
    line
}

/// Formats a call with the rule that decided it.
fn call_line(call: &DeniedCall) -> String {
    let what = if call.gone.is_none() { tame_text(call.gist.as_ref()) } else { "(erased)".to_owned() };
    let (tool, by) = (tame_text(call.tool.as_ref()), tame_text(call.rule.as_ref()));
    format!("{tool} {what}  {DIM}{by}{DIM:#}")
}

/// Adds the calls with the verdict `ask`.
fn push_asks(session: &SessionDetails, out: &mut String) {
    let asks = &session.asks;
    if asks.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{BOLD}Asked{BOLD:#} ({})", asks.len());
    for ask in asks {
        let _ = writeln!(out, "  {WARN}?{WARN:#} {}", call_line(ask));
    }
}

fn push_denials(session: &SessionDetails, out: &mut String) {
    let denials = &session.denials;
    if denials.is_empty() {
        return;
    }
    let denied = session.summary.denied;
    let (taken, nudged) = (denied.taken, denied.nudged);
    let _ = writeln!(out, "\n{BOLD}Denied{BOLD:#} ({}; suggestions taken {taken}/{nudged})", denied.all);
    for denial in denials {
        let _ = writeln!(out, "  {BAD}✗{BAD:#} {}", call_line(denial));
        let hint = match denial.hint {
            SuggestionResult::Taken => format!("{GOOD}taken{GOOD:#}"),
            SuggestionResult::Repeated => format!("{BAD}repeated{BAD:#}"),
            SuggestionResult::Other => "continued with another call".to_owned(),
            SuggestionResult::Open => "no call yet".to_owned(),
        };
        let nudge = tame_text(denial.nudge.as_ref());
        let nudge = if nudge.is_empty() { "    ".to_owned() } else { format!("  → {nudge}:") };
        let _ = writeln!(out, "  {nudge} {hint}");
    }
}

fn push_agents(session: &SessionDetails, out: &mut String) {
    let agents = &session.agents;
    if agents.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{BOLD}Subagents{BOLD:#} ({})", agents.len());
    for agent in agents {
        let nested = if agent.parent.is_none() { "" } else { "  " };
        let (kind, id) = (tame_text(agent.kind.as_ref()), tame(&agent.id));
        let mut line = format!("  {nested}{kind} {DIM}{id}{DIM:#}  {} calls", agent.tools);
        let tokens = agent.tokens.unwrap_or_default();
        for (count, word) in [(agent.failed, "failed"), (agent.denied, "denied"), (tokens, "tokens")] {
            if count > 0 {
                let _ = write!(line, ", {count} {word}");
            }
        }
        line += if agent.ended.is_none() { ", running" } else { "" };
        let _ = writeln!(out, "{line}");
    }
}

fn push_usage(session: &SessionDetails, out: &mut String) {
    let usage = &session.summary.usage;
    if usage.answers == 0 {
        let _ = writeln!(out, "\n{DIM}Tokens and cost: not reported by the harness.{DIM:#}");
        return;
    }
    let (input, output) = (usage.input_tokens, usage.output_tokens);
    let _ = write!(out, "\n{BOLD}Usage{BOLD:#}  {input} tokens in, {output} out");
    let cached = usage.cache_read_tokens;
    if cached > 0 {
        let _ = write!(out, ", {cached} from the cache");
    }
    match usage.cost_usd {
        Some(cost) if usage.unpriced == 0 => {
            let _ = write!(out, "; ${cost:.4}");
        }
        Some(cost) => {
            let _ = write!(out, "; ${cost:.4} and {} replies without a price", usage.unpriced);
        }
        None => *out += "; cost unknown",
    }
    if let Some(share) = usage.context_share {
        let style = if share >= 0.9 {
            BAD
        } else if share >= 0.75 {
            WARN
        } else {
            GOOD
        };
        let _ = write!(out, "; context {style}{:.0} %{style:#}", share * 100.0);
    }
    *out += "\n";
}

/// Formats a duration: `1h 2m`, `3m 4s`, `5s`.
fn format_duration(ms: u64) -> String {
    match ms / 1000 {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        seconds => format!("{}h {}m", seconds / 3600, seconds % 3600 / 60),
    }
}
