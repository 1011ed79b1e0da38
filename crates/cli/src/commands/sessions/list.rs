// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_daemon::sessions::Wanted;
use tenterhook_event::Timestamp;
use tenterhook_home::recorded::Field as _;
use tenterhook_home::{Book, door};

use super::{escaped, offline, panel};
use crate::ask;
use crate::commands::ledger::{is_unused, moment};
use crate::context::Context;
use crate::error::CommandError;
use crate::layout::fit;
use crate::terminal::{BOLD, DIM, Terminal, tame};

/// What an unused home says, with the next step.
pub(super) const NO_SESSIONS: &str =
    "no sessions yet; they appear once a guarded agent runs (`tenterhook detect` lists agents)\n";

const EXAMPLES: &str = "\
Examples:
  tenterhook sessions list
  tenterhook sessions list --state active --harness codex
  tenterhook sessions list --since 24h --json | jq '.sessions[].title'";

/// List sessions, the latest first
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Of this harness, such as claude-code
    #[arg(long, value_name = "HARNESS")]
    harness: Option<String>,
    /// Standing like this
    #[arg(long, value_parser = ["active", "waiting", "idle", "ended"])]
    state: Option<String>,
    /// In this project or working directory
    #[arg(long, value_name = "DIR")]
    project: Option<String>,
    /// With an event since then: 15m, 24h, 7d, 2026-11-15 or 2026-11-15T08:00:00Z
    #[arg(long, value_name = "WHEN", value_parser = moment)]
    since: Option<Timestamp>,
    /// At most so many
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
    /// Where the list goes on: the `next` of the page before
    #[arg(long, value_name = "PLACE")]
    after: Option<String>,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let answer = match get(context, &wanted(args))? {
        Some(answer) => answer,
        None if is_unused(&Book::of(context.home()?), context)? => {
            json!({"sessions": [], "all": 0, "next": null})
        }
        None => offline(context)?.list(&wanted(args), door::now())?,
    };
    if context.terminal.json {
        context.terminal.print_json(&answer)?;
    } else {
        let Args { harness, state, project, since, after, .. } = args;
        let is_filtered =
            since.is_some() || [harness, state, project, after].iter().any(|part| part.is_some());
        context.terminal.say(&table(&answer, is_filtered))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn wanted(args: &Args) -> Wanted {
    let Args { harness, state, project, since, limit, after } = args;
    Wanted {
        harness: harness.clone(),
        state: state.clone(),
        project: project.clone(),
        since: *since,
        after: after.clone(),
        limit: usize::from(*limit),
    }
}

/// Asks the daemon. `None`: there is none.
pub(super) fn get(context: &Context, wanted: &Wanted) -> Result<Option<Value>, CommandError> {
    let since = wanted.since.map(|since| since.to_string());
    let mut path = format!("/v1/sessions?limit={}", wanted.limit);
    for (name, value) in [
        ("harness", &wanted.harness),
        ("state", &wanted.state),
        ("project", &wanted.project),
        ("since", &since),
        ("after", &wanted.after),
    ] {
        if let Some(value) = value {
            let _ = write!(path, "&{name}={}", escaped(value));
        }
    }
    ask::get(context.home()?, &path)
}

fn table(answer: &Value, is_filtered: bool) -> String {
    let sessions = answer.field("sessions").as_array().map(Vec::as_slice).unwrap_or_default();
    if sessions.is_empty() {
        return if is_filtered { "no session fits\n".to_owned() } else { NO_SESSIONS.to_owned() };
    }
    let title = Terminal::width().saturating_sub(84).max(16);
    let head = format!(
        "{:<19}  {:<12}  {:<8}  {:<10}  {:>6}  {:>5}  {:>5}  {:>5}  TITLE",
        "LAST", "HARNESS", "STATE", "SESSION", "EVENTS", "FILES", "TODOS", "DENY"
    );
    let mut text = format!("{BOLD}{head}{BOLD:#}\n");
    for session in sessions {
        let word = |key: &str| tame(session.field(key).as_str().unwrap_or_default());
        let number = |part: &str, key: &str| session.field(part).field(key).as_u64().unwrap_or_default();
        let todos = match number("todos", "all") {
            0 => "–".to_owned(),
            _ => tame(session.field("todos").field("progress").as_str().unwrap_or_default()),
        };
        let (state, style) = panel::state(session);
        let _ = writeln!(
            text,
            "{:<19}  {}  {style}{state:<8}{style:#}  {}  {:>6}  {:>5}  {todos:>5}  {:>5}  {}",
            word("last").chars().take(19).collect::<String>().replace('T', " "),
            fit(&word("harness"), 12),
            fit(&word("id"), 10),
            session.field("events").as_u64().unwrap_or_default(),
            number("files", "changed"),
            number("denied", "all"),
            fit(&panel::title(session), title).trim_end(),
        );
    }
    let all = answer.field("all").as_u64().unwrap_or_default();
    if let Some(next) = answer.field("next").as_str() {
        let _ = writeln!(text, "{DIM}{all} in all; the list goes on with `--after '{}'`{DIM:#}", tame(next));
    }
    text
}
