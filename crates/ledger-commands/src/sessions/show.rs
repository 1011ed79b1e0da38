// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde::Serialize;
use serde::de::DeserializeOwned;
use tenterhook_guard::LedgerHandle;
use tenterhook_guard::list_session_snapshots;
use tenterhook_home::call_meta;
use tenterhook_records::id_reference::{IdCandidate, find_record, is_latest, select_by_id};
use tenterhook_records::recorded::RecordedDecision;
use tenterhook_sessions::{RecordedSessions, SessionFilter};
use tenterhook_terminal_text::{session_panel, session_steps};

use super::{list, percent_encode, recorded_sessions, unknown_session};
use crate::ask;
use crate::context::Context;
use crate::error::CommandError;

const EXAMPLES: &str = "\
Examples:
  tenterhook sessions show last
  tenterhook sessions show 89917c00                  a part of an id is enough
  tenterhook sessions show codex:01a1ddea --timeline
  tenterhook sessions show last --diff src/main.rs
  tenterhook sessions show last --json | jq .todos.progress";

/// Show one session: changed files, to-do list, tools, denied calls, subagents, cost
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Id of the session or a part of it, optionally as `harness:id`; a record number in it; or `last`
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
            let offline = |ledger: &RecordedSessions| {
                let Some(mut found) = ledger.show(&id, call_meta::now())? else { return Ok(None) };
                let snapshots = list_session_snapshots(context.home()?, &found.summary.id);
                found.snapshots = snapshots.map_err(|error| CommandError::user(error.to_string()))?;
                Ok(Some(found))
            };
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

/// Resolves a session by its id, the beginning or end of its id, `last`, or the number of a record in it.
pub(super) fn resolve_id(
    context: &Context,
    ledger: Option<&RecordedSessions>,
    reference: &str,
) -> Result<String, CommandError> {
    let filter = SessionFilter { limit: 1000, ..SessionFilter::default() };
    if !is_latest(reference)
        && let Some(ledger) = ledger
        && ledger.find(reference)?.is_some()
    {
        return Ok(reference.to_owned());
    }
    let answer = match ledger {
        Some(ledger) => ledger.list(&filter, call_meta::now())?,
        None => list::get_sessions(context, &filter)?.ok_or_else(|| unknown_session(reference))?,
    };
    // A reference may begin with the harness: `codex:01a1ddea`.
    let has_harness = reference.contains(':');
    let candidates = answer.sessions.into_iter().map(|session| {
        let name = format!("{}:{}", session.harness, session.id);
        IdCandidate {
            id: if has_harness { name.clone() } else { session.id },
            label: name.clone(),
            item: name,
        }
    });
    if let Some(name) = select_by_id(reference, "session", candidates)? {
        return Ok(name);
    }
    if let Some(name) = session_of_record(context, reference) {
        return Ok(name);
    }
    // The daemon may have older sessions.
    if ledger.is_none() && !is_latest(reference) {
        return Ok(reference.to_owned());
    }
    Err(unknown_session(reference))
}

/// Returns the session of the record with this number.
fn session_of_record(context: &Context, reference: &str) -> Option<String> {
    reference.trim_start_matches('#').parse::<u64>().ok()?;
    let reader = LedgerHandle::of(context.home().ok()?).reader().ok()?;
    let record = find_record(&reader, reference).ok()??;
    let event = RecordedDecision::from_record(&record).ok()?.event;
    Some(format!("{}:{}", event.source, event.harness_session_id?))
}
