// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tenterhook_home::call_meta;
use tenterhook_sessions::{RecordedSessions, SessionFilter};
use tenterhook_terminal_text::{session_panel, session_steps};

use super::{list, percent_encode, recorded_sessions, unknown_session};
use crate::ask;
use crate::context::Context;
use crate::error::CommandError;

const EXAMPLES: &str = "\
Examples:
  tenterhook sessions show latest
  tenterhook sessions show 89917c00                  the beginning of an id is enough
  tenterhook sessions show codex:01a1ddea --timeline
  tenterhook sessions show latest --diff src/main.rs
  tenterhook sessions show latest --json | jq .todos.progress";

/// Show one session: changed files, to-do list, tools, denied calls, subagents, cost
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Id of the session or the beginning of it, optionally as `harness:id`; or `latest`
    #[arg(value_name = "SESSION")]
    id: String,
    /// Show the changes of one file
    #[arg(long, value_name = "PATH", conflicts_with = "timeline")]
    diff: Option<String>,
    /// Show the timeline
    #[arg(long)]
    timeline: bool,
    /// Maximum number of timeline entries
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let is_up = ask::is_up(context.home()?);
    let ledger = if is_up { None } else { Some(recorded_sessions(context)?) };
    let id = resolve_id(context, ledger.as_ref(), &args.id)?;
    let path = format!("/v1/sessions/{}", percent_encode(&id));
    match args {
        Args { diff: Some(file), .. } => {
            let path = format!("{path}/diff?path={}", percent_encode(file));
            let offline = |ledger: &RecordedSessions| ledger.diff(&id, file);
            print_answer(
                context,
                &fetch(context, args, ledger.as_ref(), &path, offline)?,
                session_steps::render_diff,
            )
        }
        Args { timeline: true, limit, .. } => {
            let path = format!("{path}/timeline?limit={limit}");
            let offline = |ledger: &RecordedSessions| ledger.timeline(&id, None, u64::from(*limit));
            print_answer(
                context,
                &fetch(context, args, ledger.as_ref(), &path, offline)?,
                session_steps::render_timeline,
            )
        }
        _ => {
            let offline = |ledger: &RecordedSessions| ledger.show(&id, call_meta::now());
            print_answer(
                context,
                &fetch(context, args, ledger.as_ref(), &path, offline)?,
                session_panel::render_session,
            )
        }
    }
}

fn print_answer<T: Serialize>(
    context: &Context,
    answer: &T,
    text: impl FnOnce(&T) -> String,
) -> Result<ExitCode, CommandError> {
    if context.terminal.json {
        context.terminal.print_json(answer)?;
    } else {
        context.terminal.print(&text(answer))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Fetches data from the daemon, or from the ledger if no daemon is running.
fn fetch<T: DeserializeOwned>(
    context: &Context,
    args: &Args,
    ledger: Option<&RecordedSessions>,
    path: &str,
    offline: impl FnOnce(&RecordedSessions) -> Result<Option<T>, CommandError>,
) -> Result<T, CommandError> {
    let found = match ledger {
        Some(ledger) => offline(ledger)?,
        None => ask::get_as(context.home()?, path)?,
    };
    found.ok_or_else(|| unknown_session(&args.id))
}

/// Resolves a session by its id, the beginning of its id, or `latest`.
pub(super) fn resolve_id(
    context: &Context,
    ledger: Option<&RecordedSessions>,
    reference: &str,
) -> Result<String, CommandError> {
    let filter = SessionFilter { limit: 1000, ..SessionFilter::default() };
    if reference != "latest"
        && let Some(ledger) = ledger
        && ledger.find(reference)?.is_some()
    {
        return Ok(reference.to_owned());
    }
    let answer = match ledger {
        Some(ledger) => ledger.list(&filter, call_meta::now())?,
        None => list::get_sessions(context, &filter)?.ok_or_else(|| unknown_session(reference))?,
    };
    let names = answer.sessions.into_iter().map(|session| (session.harness, session.id));
    let mut matching = names.filter(|(harness, id)| {
        reference == "latest" || id.starts_with(reference) || format!("{harness}:{id}").starts_with(reference)
    });
    let Some((harness, id)) = matching.next() else {
        // The daemon may have older sessions.
        return if ledger.is_none() && reference != "latest" {
            Ok(reference.to_owned())
        } else {
            Err(unknown_session(reference))
        };
    };
    let exact = id == reference || format!("{harness}:{id}") == reference;
    if reference != "latest" && !exact && matching.next().is_some() {
        return Err(CommandError::user(format!("more than one session matches `{reference}`"))
            .hint("use more characters of the id; `tenterhook sessions list --json` prints full ids"));
    }
    Ok(format!("{harness}:{id}"))
}
