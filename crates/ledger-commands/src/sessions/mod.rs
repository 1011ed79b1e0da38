// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `sessions`: lists, shows and follows agents' sessions. Sessions come from the daemon. Without a daemon they are
//! rebuilt from the ledger, with the same result.

mod follow;
mod list;
mod show;

use std::process::ExitCode;

use tenterhook_api::SessionSummary;
use tenterhook_error::ErrorKind;
use tenterhook_guard::LedgerHandle;
use tenterhook_home::{Sources, call_meta};
use tenterhook_sessions::{RecordedSessions, SessionFilter};

use crate::ask;
use crate::context::Context;
use crate::error::CommandError;

const EXAMPLES: &str = "\
A session is one conversation of an agent, in any harness: its prompts, the files it changed in order, its to-do \
list, its tools and their results, denied calls, subagents and cost.

Examples:
  tenterhook sessions list --state active
  tenterhook sessions show last
  tenterhook sessions show 89917c00 --diff src/main.rs
  tenterhook sessions follow";

/// Show what agents did: changed files, tools, denied calls, cost
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Follow(follow::Args),
}

/// Runs `sessions`.
pub fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    match &args.command {
        Command::List(args) => list::run(context, args),
        Command::Show(args) => show::run(context, args),
        Command::Follow(args) => follow::run(context, args),
    }
}

/// Rebuilds the sessions from the ledger, for use without a daemon.
fn recorded_sessions(context: &Context) -> Result<RecordedSessions, CommandError> {
    let home = context.home()?;
    // Without a ledger, this fails with a hint.
    drop(LedgerHandle::of(home).reader()?);
    let person = context.env.home.as_deref().and_then(std::path::Path::to_str).map(ToOwned::to_owned);
    RecordedSessions::open(home.ledger(), person, Sources::load_prices(home))
}

/// Returns the newest sessions, from the daemon or else from the ledger.
pub fn recent_sessions(context: &Context, limit: u16) -> Result<Vec<SessionSummary>, CommandError> {
    let filter = SessionFilter { limit: usize::from(limit), ..SessionFilter::default() };
    let list = match list::get_sessions(context, &filter)? {
        Some(list) => list,
        None => recorded_sessions(context)?.list(&filter, call_meta::now())?,
    };
    Ok(list.sessions)
}

/// Resolves the session that `--session` names; an unknown one is returned as it is.
pub(crate) fn resolve_session_id(context: &Context, reference: &str) -> Result<String, CommandError> {
    let ledger = if ask::is_up(context.home()?) { None } else { Some(recorded_sessions(context)?) };
    match show::resolve_id(context, ledger.as_ref(), reference) {
        Ok(name) => Ok(name.split_once(':').map_or(name.clone(), |(_, id)| id.to_owned())),
        Err(error) if error.kind == ErrorKind::User => Err(error),
        Err(_) => Ok(reference.to_owned()),
    }
}

/// Percent-encodes a word for a path or a query.
fn percent_encode(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    word.bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

/// Creates the error for an id that no session has.
fn unknown_session(id: &str) -> CommandError {
    CommandError::internal(format!("unknown session `{id}`"))
        .hint("`tenterhook sessions list` lists sessions; `last` is the newest one")
}
