// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `programs`: lists, shows and checks program descriptions.

mod check;
mod list;
mod show;

use std::process::ExitCode;

use tenterhook_home::{Sources, WorkDirs};
use tenterhook_policy::{Programs, RuleSet};

use crate::context::Context;
use crate::error::CommandError;

const EXAMPLES: &str = "\
Rules about files, hosts and packages need to know the meaning of a program's arguments. Many programs are \
described in Tenterhook itself. Describe your own in YAML files: in `programs/` next to your policy.yaml, next \
to the machine's policy, or in `.tenterhook/programs/` of a project. They only add facts: what is known of a \
program without them still counts.

Examples:
  tenterhook rules programs list --own
  tenterhook rules programs show curl
  tenterhook rules programs check acme.yaml";

/// List, show and check program descriptions
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    List(list::Args),
    Show(show::Args),
    Check(check::Args),
}

pub(in crate::commands) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    match &args.command {
        Command::List(args) => list::run(context, args),
        Command::Show(args) => show::run(context, args),
        Command::Check(args) => check::run(context, args),
    }
}

/// Loads the active sources and rules for the current directory.
fn load_active(context: &Context) -> Result<(Sources, RuleSet), CommandError> {
    let place = WorkDirs::at(std::env::current_dir().ok());
    let sources = Sources::collect(context.home()?, &context.env, &place);
    let rules = sources.load().rules;
    Ok((sources, rules))
}

/// Returns a rule set's program descriptions, or the built-in ones if the policy describes none.
fn programs_of(rules: &RuleSet) -> Programs {
    rules.programs().cloned().unwrap_or_else(Programs::builtin)
}
