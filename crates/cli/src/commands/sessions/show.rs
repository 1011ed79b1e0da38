// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::Value;
use tenterhook_daemon::sessions::{Offline, Wanted};
use tenterhook_home::door;
use tenterhook_home::recorded::Field as _;

use super::{escaped, list, offline, panel, steps, unknown};
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

/// Show one session: files changed, to-do list, tools, denials, subagents, cost
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Its id or the beginning of it, perhaps with the harness before it; or `latest`
    #[arg(value_name = "SESSION")]
    id: String,
    /// What happened to one file, change by change
    #[arg(long, value_name = "PATH", conflicts_with = "timeline")]
    diff: Option<String>,
    /// What happened, step by step
    #[arg(long)]
    timeline: bool,
    /// How many steps of the timeline
    #[arg(long, value_name = "NUMBER", default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    limit: u16,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let up = ask::is_up(context.home()?);
    let ledger = if up { None } else { Some(offline(context)?) };
    let id = whole_id(context, ledger.as_ref(), &args.id)?;
    let answer = match &ledger {
        Some(ledger) => recorded(ledger, args, &id)?.ok_or_else(|| unknown(&args.id))?,
        None => asked(context, args, &id)?,
    };
    if context.terminal.json {
        context.terminal.print_json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    context.terminal.say(&match args {
        Args { diff: Some(_), .. } => steps::diff(&answer),
        Args { timeline: true, .. } => steps::timeline(&answer),
        _ => panel::session(&answer),
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Asks the daemon.
fn asked(context: &Context, args: &Args, id: &str) -> Result<Value, CommandError> {
    let id = escaped(id);
    let path = match args {
        Args { diff: Some(path), .. } => format!("/v1/sessions/{id}/diff?path={}", escaped(path)),
        Args { timeline: true, limit, .. } => format!("/v1/sessions/{id}/timeline?limit={limit}"),
        _ => format!("/v1/sessions/{id}"),
    };
    ask::get(context.home()?, &path)?.ok_or_else(|| unknown(&args.id))
}

/// Asks the ledger.
fn recorded(ledger: &Offline, args: &Args, id: &str) -> Result<Option<Value>, CommandError> {
    match args {
        Args { diff: Some(path), .. } => ledger.diff(id, path),
        Args { timeline: true, limit, .. } => ledger.timeline(id, None, u64::from(*limit)),
        _ => ledger.show(id, door::now()),
    }
}

/// The session that is meant: by its id, by the beginning of it, or the latest.
pub(super) fn whole_id(
    context: &Context,
    ledger: Option<&Offline>,
    said: &str,
) -> Result<String, CommandError> {
    let wanted = Wanted { limit: 1000, ..Wanted::default() };
    if said != "latest"
        && let Some(ledger) = ledger
        && ledger.find(said)?.is_some()
    {
        return Ok(said.to_owned());
    }
    let answer = match ledger {
        Some(ledger) => ledger.list(&wanted, door::now())?,
        None => list::get(context, &wanted)?.unwrap_or_default(),
    };
    let sessions = answer.field("sessions").as_array().map(Vec::as_slice).unwrap_or_default();
    let name = |session: &Value| {
        let word = |key: &str| session.field(key).as_str().unwrap_or_default().to_owned();
        (word("harness"), word("id"))
    };
    let mut fitting = sessions.iter().map(name).filter(|(harness, id)| {
        said == "latest" || id.starts_with(said) || format!("{harness}:{id}").starts_with(said)
    });
    let Some((harness, id)) = fitting.next() else {
        // The daemon may know older ones.
        return if ledger.is_none() && said != "latest" { Ok(said.to_owned()) } else { Err(unknown(said)) };
    };
    let exact = id == said || format!("{harness}:{id}") == said;
    if said != "latest" && !exact && fitting.next().is_some() {
        return Err(CommandError::unusable(format!("more than one session begins with `{said}`"))
            .hint("say more of its id; `tenterhook sessions list --json` has them whole"));
    }
    Ok(format!("{harness}:{id}"))
}
