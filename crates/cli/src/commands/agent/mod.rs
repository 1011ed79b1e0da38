// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The reference agent on the command line.

mod guard;
mod mcp;
mod person;
pub(super) mod run;
mod transcript;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CommandError;

/// Work with the reference agent
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Run(run::Args),
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    match &args.command {
        Command::Run(args) => run::run(context, args),
    }
}
