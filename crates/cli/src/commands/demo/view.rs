// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The session as the daemon sees it.

use std::fmt::Write as _;

use serde_json::Value;
use tenterhook_home::recorded::Field as _;

use crate::ask;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, GOOD, tame};

/// The latest session of a home.
pub(super) fn latest(context: &Context) -> Result<String, CommandError> {
    let home = context.home()?;
    let none = || CommandError::failed("the demo's daemon knows of no session");
    let list = ask::get(home, "/v1/sessions")?.ok_or_else(none)?;
    let id = list.pointer("/sessions/0/id").and_then(Value::as_str).ok_or_else(none)?;
    let session = ask::get(home, &format!("/v1/sessions/{id}"))?.ok_or_else(none)?;
    Ok(text(&session))
}

fn text(session: &Value) -> String {
    let mut text = format!("\n{BOLD}Session{BOLD:#} {DIM}as the daemon saw it{DIM:#}\n");
    let counts = |key: &str| {
        let counts = session.field(key).as_object().into_iter().flatten();
        counts.map(|(name, count)| format!("{} {count}", tame(name))).collect::<Vec<_>>().join(", ")
    };
    let _ = writeln!(text, "  {DIM}events{DIM:#}    {}: {}", session.field("events"), counts("verdicts"));
    let _ = writeln!(text, "  {DIM}tools{DIM:#}     {}", counts("tools"));
    let cwd = session.field("cwd").as_str().unwrap_or_default();
    for file in &list(session, "touched") {
        if let Some(path) = file.field("path").as_str().filter(|_| is_changed(file)) {
            let path = path.strip_prefix(cwd).unwrap_or(path).trim_start_matches('/');
            let _ = writeln!(text, "  {DIM}changed{DIM:#}   {}", tame(path));
        }
    }
    for todo in list(session, "todo_items").iter().chain(&list(session, "todos")) {
        let words = ["text", "content"].iter().find_map(|key| todo.field(key).as_str()).unwrap_or_default();
        let done = todo.field("status") == "completed";
        let mark = if done { format!("{GOOD}✓{GOOD:#}") } else { "·".to_owned() };
        let _ = writeln!(text, "  {DIM}to do{DIM:#}     {mark} {}", tame(words));
    }
    text
}

fn list(session: &Value, key: &str) -> Vec<Value> {
    session.field(key).as_array().cloned().unwrap_or_default()
}

fn is_changed(file: &Value) -> bool {
    ["writes", "deletes"].iter().any(|key| file.field(key).as_u64().is_some_and(|times| times > 0))
}
