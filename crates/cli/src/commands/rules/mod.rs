// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `rules`: finds, enables and disables rules and packs, adds packs, and writes rules.

mod add;
mod enable;
mod list;
mod new;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CommandError;

const EXAMPLES: &str = "\
Rule packs are files of rules. Some are built in and enabled, some are built in and disabled until you enable
them, and others can be added from a directory or a git repository; their files are pinned by SHA-256 in
packs.yaml, and a file that changes afterwards is not used.

Examples:
  tenterhook rules list
  tenterhook rules search docker
  tenterhook rules enable cloud
  tenterhook rules add https://example.com/our-rules.git";

/// Find rules, enable and disable rules and packs, add packs
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::ListRulesArgs),
    Show(list::ShowArgs),
    Search(list::SearchArgs),
    New(new::Args),
    Enable(enable::EnableArgs),
    Disable(enable::DisableArgs),
    Add(add::AddArgs),
    Update(add::UpdateArgs),
    Remove(add::RemovePackArgs),
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    match &args.command {
        Command::List(args) => list::list(context, args),
        Command::Show(args) => list::show(context, args),
        Command::Search(args) => list::search(context, args),
        Command::New(args) => new::run(context, args),
        Command::Enable(args) => enable::enable(context, args),
        Command::Disable(args) => enable::disable(context, args),
        Command::Add(args) => add::add(context, args),
        Command::Update(args) => add::update(context, args),
        Command::Remove(args) => add::remove(context, args),
    }
}
