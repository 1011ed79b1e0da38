// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs the reference agent on the command line, and manages the marks of guarded agents.

mod agent_guard;
mod marks;
mod mcp;
pub(super) mod run;
pub(super) mod stepwise;
mod terminal_user;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CommandError;

/// Run the reference agent; list guarded agents and clear their marks
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Run(run::Args),
    List(marks::ListMarksArgs),
    Forget(marks::ForgetArgs),
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    match &args.command {
        Command::Run(args) => run::run(context, args),
        Command::List(_) => marks::list(context),
        Command::Forget(args) => marks::forget(context, args),
    }
}
