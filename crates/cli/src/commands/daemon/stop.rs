// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_daemon_control::launch::{process_of, stop_daemon_process};

use crate::ask;
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;

const EXAMPLES: &str = "\
Without a daemon agents stay guarded: hooks evaluate the rules in-process, and their decisions are \
recorded when a daemon starts again.

Examples:
  tenterhook stop";

/// Stop the daemon; calls in progress are finished first
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    proof: ProofArgs,
}

pub(in crate::commands) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let stopped = stop_daemon(context, Action::Stop, &args.proof)?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"stopped": stopped}))?;
    } else {
        context.terminal.print(if stopped { "the daemon stopped\n" } else { "no daemon is running\n" })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Stops the daemon. Returns whether one was running.
pub(in crate::commands) fn stop_daemon(
    context: &Context,
    action: Action,
    proof: &ProofArgs,
) -> Result<bool, CommandError> {
    let home = context.home()?;
    // The process id is read over the socket, because a file could name any process.
    let Some(health) = ask::get(home, "/v1/health")? else { return Ok(false) };
    let pid =
        process_of(&health).ok_or_else(|| CommandError::internal("the daemon reported no process id"))?;
    confirm::require_confirmation(context, action, json!({}), proof)?;
    stop_daemon_process(home, pid)?;
    Ok(true)
}
