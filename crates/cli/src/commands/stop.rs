// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tenterhook_authority::Action;
use tenterhook_home::Home;

use crate::ask;
use crate::context::Context;
use crate::error::CommandError;
use crate::gate::{self, ProofArgs};

/// How long calls that are under way may take.
const PATIENCE: Duration = Duration::from_secs(15);

const EXAMPLES: &str = "\
Without a daemon every call is still judged: hooks fall back to judging by themselves, and their
decisions are recorded when a daemon starts again.

Examples:
  tenterhook stop";

/// End the daemon; calls under way are finished
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    proof: ProofArgs,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let stopped = stop(context, Action::Stop, &args.proof)?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"stopped": stopped}))?;
    } else {
        context.terminal.say(if stopped { "the daemon has ended\n" } else { "no daemon is running\n" })?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Whether there was one.
pub(super) fn stop(context: &Context, action: Action, proof: &ProofArgs) -> Result<bool, CommandError> {
    let home = context.home()?;
    // The socket says who answers; a file could name any process.
    let Some(health) = ask::get(home, "/v1/health")? else { return Ok(false) };
    let pid = health.get("pid").and_then(Value::as_i64).and_then(|pid| i32::try_from(pid).ok());
    let pid = pid.and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| CommandError::internal("the daemon does not say who it is"))?;
    gate::pass(context, action, json!({}), proof)?;
    end(home, pid)?;
    Ok(true)
}

/// Ends the daemon of a home: calls under way are finished. Returns when its process is gone.
pub(super) fn end(home: &Home, pid: Pid) -> Result<(), CommandError> {
    kill_process(pid, Signal::TERM).map_err(|error| {
        CommandError::internal(format!("the daemon ({}) cannot be ended: {error}", pid.as_raw_nonzero()))
    })?;
    let began = Instant::now();
    while rustix::process::test_kill_process(pid).is_ok() {
        if began.elapsed() > PATIENCE {
            return Err(CommandError::internal("the daemon does not end")
                .hint(format!("see {}", home.log().display())));
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
