// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `self`: shows, verifies and updates this program.

pub(super) mod completions;
mod info;
mod man;
mod refresh;
mod update;
mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use crate::context::Context;
use crate::error::CommandError;

const EXAMPLES: &str = "\
Examples:
  tenterhook self info
  tenterhook self verify
  tenterhook self update --check
  tenterhook self update --from ./tenterhook-0.2.0
  tenterhook self refresh              after an upgrade by a package manager";

/// Show, verify or update this program; completions, manual pages
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Info(info::Args),
    Verify(verify::Args),
    Update(update::Args),
    Refresh(refresh::Args),
    Completions(completions::Args),
    Man(man::Args),
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    match &args.command {
        Command::Info(args) => info::run(context, args),
        Command::Verify(args) => verify::run(context, args),
        Command::Update(args) => update::run(context, args),
        Command::Refresh(args) => refresh::run(context, args),
        Command::Completions(args) => completions::run(context, args),
        Command::Man(args) => man::run(context, args),
    }
}

/// Returns the path of the running program, with links resolved.
fn running_program() -> Result<PathBuf, CommandError> {
    let program = std::env::current_exe()?;
    Ok(fs_err::canonicalize(&program).unwrap_or(program))
}
