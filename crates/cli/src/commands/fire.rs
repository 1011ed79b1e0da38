// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_ledger::Log;

use crate::context::Context;
use crate::error::CommandError;
use crate::intake;
use crate::road::{Memory, Road};

const EXAMPLES: &str = "\
Unlike `hook` nothing is recorded unless you say so, and a payload that cannot be read is an error.

Examples:
  tenterhook fire --event PreToolUse < payload.json          the reply Claude Code would get
  tenterhook fire --file payload.json --json                 the event, the outcome and the reply";

/// Take one event down the road and print the answer
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The harness whose payload it is
    #[arg(long, default_value = "claude-code")]
    harness: String,
    /// The event, if the payload does not name it
    #[arg(long, default_value = "")]
    event: String,
    /// Read the payload from a file instead of standard input
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Write the decision into the ledger as well
    #[arg(long)]
    record: bool,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let harness = intake::harness(&args.harness)?;
    if !args.event.is_empty() && harness.event(&args.event).is_none() {
        return Err(unknown_event(harness, &args.event));
    }
    let payload = intake::payload(args.file.as_deref())?;
    let door = context.door(harness, &args.event)?;
    let call = harness.decode(&door, &payload).map_err(|error| CommandError::unusable(error.to_string()))?;
    let home = context.home()?;
    let memory = if args.record {
        home.make()?;
        Memory::Ledger(Log::new(home.ledger()))
    } else {
        Memory::None
    };
    let outcome = Road::open(home, context.env.home.as_deref(), memory)?.fire(&call)?;
    let reply = harness.encode(&call, &outcome);
    if context.terminal.json {
        let reply =
            json!({"stdout": reply.stdout, "stderr": reply.stderr, "exit": reply.exit, "lost": reply.lost});
        context.terminal.print_json(&json!({"event": call.event, "outcome": outcome, "reply": reply}))?;
        return Ok(ExitCode::SUCCESS);
    }
    context.terminal.exactly(&reply.stdout, &reply.stderr)?;
    Ok(ExitCode::from(reply.exit))
}

pub(super) fn unknown_event(harness: &tenterhook_harness::Harness, name: &str) -> CommandError {
    let known: Vec<_> = harness.events.iter().map(|row| row.native).collect();
    CommandError::unusable(format!("`{name}` is no event of {}", harness.title))
        .hint(format!("known: {}", known.join(", ")))
}
