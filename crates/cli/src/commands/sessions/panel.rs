// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A session as people read it. Agents choose most of these texts, so each is tamed.

use std::fmt::Write as _;

use anstyle::Style;
use serde_json::Value;
use tenterhook_event::{ToolClass, tool_row};
use tenterhook_home::recorded::Field as _;

use crate::terminal::{BAD, BOLD, DIM, GOOD, WARN, tame};

pub(super) fn text(value: &Value, key: &str) -> String {
    tame(value.field(key).as_str().unwrap_or_default())
}

pub(super) fn number(value: &Value, key: &str) -> u64 {
    value.field(key).as_u64().unwrap_or_default()
}

pub(super) fn items<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.field(key).as_array().map(Vec::as_slice).unwrap_or_default()
}

/// How it stands, and in which colour.
pub(super) fn state(session: &Value) -> (String, Style) {
    let state = text(session, "state");
    let style = match state.as_str() {
        "active" => GOOD,
        "waiting" => WARN,
        _ => DIM,
    };
    (state, style)
}

/// What it is about.
pub(super) fn title(session: &Value) -> String {
    match session.field("title").as_str() {
        Some(title) => tame(title),
        None if number(session, "prompts") > 0 && number(session, "erased") > 0 => "(erased)".to_owned(),
        None => "(no prompt)".to_owned(),
    }
}

/// The whole panel.
pub(in crate::commands) fn session(session: &Value) -> String {
    let (state, style) = state(session);
    let mut out = format!("{BOLD}{}{BOLD:#}  {style}{state}{style:#}\n", title(session));
    let mut about =
        vec![text(session, "harness"), text(session, "id"), text(session, "model"), text(session, "user")];
    about.push(text(session, if session.field("project").is_null() { "cwd" } else { "project" }));
    about.retain(|part| !part.is_empty());
    let _ = writeln!(out, "{DIM}{}{DIM:#}", about.join(" · "));
    let started: String = text(session, "started").chars().take(19).collect();
    let _ = write!(out, "{DIM}began {}, {}", started.replace('T', " "), span(number(session, "duration_ms")));
    if !session.field("ended").is_null() {
        let why = text(session, "end_reason");
        let _ = write!(out, ", ended{}", if why.is_empty() { String::new() } else { format!(" ({why})") });
    }
    let _ = writeln!(out, "{DIM:#}");
    if number(session, "erased") > 0 {
        let _ = writeln!(
            out,
            "{WARN}{} of its events have no content any more{WARN:#}",
            number(session, "erased")
        );
    }
    files(session, &mut out);
    todos(session, &mut out);
    tools(session, &mut out);
    asks(session, &mut out);
    denials(session, &mut out);
    agents(session, &mut out);
    usage(session, &mut out);
    out
}

fn files(session: &Value, out: &mut String) {
    let files = items(session, "changed_files");
    let _ = writeln!(out, "\n{BOLD}Files changed{BOLD:#} ({})", files.len());
    let wide = files.iter().map(|file| text(file, "shown").chars().count()).max().unwrap_or(0).min(60);
    for file in files {
        let tools: Vec<_> = items(file, "tools").iter().filter_map(Value::as_str).map(tame).collect();
        let (added, removed) = (number(file, "added"), number(file, "removed"));
        let mut line = format!("  {:<wide$}  {DIM}{}{DIM:#}", text(file, "shown"), tools.join(" "));
        if added + removed > 0 {
            let _ = write!(line, "  {GOOD}+{added}{GOOD:#} {BAD}−{removed}{BAD:#}");
        }
        if file.field("deleted") == true {
            line += "  deleted";
        }
        match file.field("behind").as_str() {
            Some("person") => line += &format!("  {WARN}a person changed what was proposed{WARN:#}"),
            Some("command") => line += &format!("  {WARN}changed in between, perhaps by a command{WARN:#}"),
            Some(_) => line += &format!("  {WARN}changed behind the agent's back{WARN:#}"),
            None => {}
        }
        let _ = writeln!(out, "{line}");
    }
    let left_out = number(session.field("files"), "left_out");
    if left_out > 0 {
        let _ = writeln!(out, "  {DIM}and {left_out} more that are not listed or not known{DIM:#}");
    }
}

fn todos(session: &Value, out: &mut String) {
    let todos = items(session, "todo_items");
    if todos.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{BOLD}Todo list{BOLD:#} ({})", text(session.field("todos"), "progress"));
    for todo in todos {
        let _ = match todo.field("status").as_str() {
            Some("completed") => writeln!(out, "  {GOOD}✓{GOOD:#} {DIM}{}{DIM:#}", text(todo, "text")),
            Some("in_progress") => {
                let active = text(todo, "active_form");
                writeln!(
                    out,
                    "  {WARN}▸{WARN:#} {}",
                    if active.is_empty() { text(todo, "text") } else { active }
                )
            }
            Some("cancelled") => writeln!(out, "  {DIM}✗ {}{DIM:#}", text(todo, "text")),
            _ => writeln!(out, "  ○ {}", text(todo, "text")),
        };
    }
}

fn tools(session: &Value, out: &mut String) {
    let Some(tools) = session.field("tool_results").as_object() else { return };
    // The to-do list is shown as what it is.
    let is_todo = |name: &str| tool_row(name).is_some_and(|row| row.class == ToolClass::Todo);
    let tools: Vec<_> = tools.iter().filter(|(name, _)| !is_todo(name)).collect();
    if tools.is_empty() {
        return;
    }
    let sum = |key: &str| tools.iter().map(|(_, counted)| number(counted, key)).sum();
    let _ = writeln!(
        out,
        "\n{BOLD}Tools{BOLD:#} ({})",
        counted(&["ok", "failed", "asked", "denied"].map(|key| (sum(key), key)), sum("calls"))
    );
    let wide = tools.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0).min(40);
    for (name, one) in tools {
        let parts = ["ok", "failed", "asked", "denied"].map(|key| (number(one, key), key));
        let line = counted(&parts, number(one, "calls"));
        let _ = writeln!(out, "  {:<wide$}  {line}", tame(name));
    }
}

/// `6 calls, 3 ok, 1 asked`. A call that was asked about and then ran is in both.
fn counted(parts: &[(u64, &str)], calls: u64) -> String {
    let mut line = format!("{calls} call{}", if calls == 1 { "" } else { "s" });
    for (number, word) in parts.iter().filter(|(number, _)| *number > 0) {
        let style = match *word {
            "ok" => GOOD,
            "asked" => WARN,
            _ => BAD,
        };
        let _ = write!(line, ", {style}{number} {word}{style:#}");
    }
    line
}

/// Calls that a person was asked about.
fn asks(session: &Value, out: &mut String) {
    let asks = items(session, "asks");
    if asks.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{BOLD}Asked{BOLD:#} ({})", asks.len());
    for ask in asks {
        let what = if ask.field("gone").is_null() { text(ask, "gist") } else { "(erased)".to_owned() };
        let by = text(ask, "rule");
        let _ = writeln!(out, "  {WARN}?{WARN:#} {} {what}  {DIM}{by}{DIM:#}", text(ask, "tool"));
    }
}

fn denials(session: &Value, out: &mut String) {
    let denials = items(session, "denials");
    if denials.is_empty() {
        return;
    }
    let denied = session.field("denied");
    let (taken, nudged) = (number(denied, "taken"), number(denied, "nudged"));
    let _ = writeln!(out, "\n{BOLD}Denied{BOLD:#} ({}; hints taken {taken}/{nudged})", number(denied, "all"));
    for denial in denials {
        let what = if denial.field("gone").is_null() { text(denial, "gist") } else { "(erased)".to_owned() };
        let _ = writeln!(
            out,
            "  {BAD}✗{BAD:#} {} {what}  {DIM}{}{DIM:#}",
            text(denial, "tool"),
            text(denial, "rule")
        );
        let hint = match denial.field("hint").as_str() {
            Some("taken") => format!("{GOOD}taken{GOOD:#}"),
            Some("repeated") => format!("{BAD}tried again{BAD:#}"),
            Some("other") => "went on with something else".to_owned(),
            _ => "no call since".to_owned(),
        };
        let nudge = text(denial, "nudge");
        let nudge = if nudge.is_empty() { "    ".to_owned() } else { format!("  → {nudge}:") };
        let _ = writeln!(out, "  {nudge} {hint}");
    }
}

fn agents(session: &Value, out: &mut String) {
    let agents = items(session, "agents");
    if agents.is_empty() {
        return;
    }
    let _ = writeln!(out, "\n{BOLD}Subagents{BOLD:#} ({})", agents.len());
    for agent in agents {
        let nested = if agent.field("parent").is_null() { "" } else { "  " };
        let mut line = format!(
            "  {nested}{} {DIM}{}{DIM:#}  {} calls",
            text(agent, "type"),
            text(agent, "id"),
            number(agent, "tools")
        );
        for (key, word) in [("failed", "failed"), ("denied", "denied"), ("tokens", "tokens")] {
            if number(agent, key) > 0 {
                let _ = write!(line, ", {} {word}", number(agent, key));
            }
        }
        line += if agent.field("ended").is_null() { ", at work" } else { "" };
        let _ = writeln!(out, "{line}");
    }
}

fn usage(session: &Value, out: &mut String) {
    let usage = session.field("usage");
    if number(usage, "answers") == 0 {
        let _ = writeln!(out, "\n{DIM}The harness did not tell tokens or cost.{DIM:#}");
        return;
    }
    let _ = write!(
        out,
        "\n{BOLD}Usage{BOLD:#}  {} tokens in, {} out",
        number(usage, "input_tokens"),
        number(usage, "output_tokens")
    );
    let cached = number(usage, "cache_read_tokens");
    if cached > 0 {
        let _ = write!(out, ", {cached} from the cache");
    }
    match usage.field("cost_usd").as_f64() {
        Some(cost) if number(usage, "unpriced") == 0 => {
            let _ = write!(out, "; ${cost:.4}");
        }
        Some(cost) => {
            let _ =
                write!(out, "; ${cost:.4} and {} answers without a known price", number(usage, "unpriced"));
        }
        None => *out += "; cost unknown",
    }
    if let Some(share) = usage.field("context_share").as_f64() {
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

/// `1h 2m`, `3m 4s`, `5s`.
fn span(ms: u64) -> String {
    match ms / 1000 {
        seconds @ 0..60 => format!("{seconds}s"),
        seconds @ 60..3600 => format!("{}m {}s", seconds / 60, seconds % 60),
        seconds => format!("{}h {}m", seconds / 3600, seconds % 3600 / 60),
    }
}
