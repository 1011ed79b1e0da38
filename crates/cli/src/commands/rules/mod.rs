// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `rules`: finds, writes, tests and trusts rules, and manages rule packs.

pub(super) mod active;
mod add;
pub(super) mod backtest;
mod enable;
pub(super) mod from_template;
pub(super) mod import;
mod list;
mod new;
pub(super) mod programs;
pub(super) mod test;
pub(super) mod trust;

use std::process::ExitCode;

use tenterhook_allow_commands::{rules_from, rules_level, rules_suggest};

use crate::commands::judge;
use crate::context::Context;
use crate::error::CommandError;

const EXAMPLES: &str = "\
Rules come from four layers: the built-in packs, the organisation (/etc/tenterhook/policy.yaml), you \
(policy.yaml in your settings) and the project (.tenterhook.yaml). A deny of any layer stands.

Rule packs are files of rules. Some are built in and enabled, some are built in and disabled until you enable \
them, and others can be added from a directory or a git repository; their files are pinned by SHA-256 in \
packs.yaml, and a file that changes afterwards is not used.

Examples:
  tenterhook rules list
  tenterhook rules search docker
  tenterhook rules new --from ask-before-deploy
  tenterhook rules from 'terraform apply' --verdict ask
  tenterhook rules test rules.test.yaml
  tenterhook rules level strict
  tenterhook rules enable cloud
  tenterhook rules add https://example.com/our-rules.git";

/// Find, write, test and trust rules; manage rule packs
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
    From(rules_from::Args),
    Suggest(rules_suggest::Args),
    Test(test::Args),
    Backtest(backtest::Args),
    Judge(judge::Args),
    Level(rules_level::Args),
    Enable(enable::EnableArgs),
    Disable(enable::DisableArgs),
    Trust(trust::TrustFileArgs),
    Untrust(trust::UntrustFileArgs),
    Import(import::Args),
    Add(add::AddArgs),
    Update(add::UpdateArgs),
    Remove(add::RemovePackArgs),
    Programs(programs::Args),
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    match &args.command {
        Command::List(args) => list::list(context, args),
        Command::Show(args) => list::show(context, args),
        Command::Search(args) => list::search(context, args),
        Command::New(args) => new::run(context, args),
        Command::From(args) => rules_from::run(context, args),
        Command::Suggest(args) => rules_suggest::run(context, args),
        Command::Test(args) => test::run(context, args),
        Command::Judge(args) => judge::run(context, args),
        Command::Backtest(args) => backtest::run(context, args),
        Command::Level(args) => rules_level::run(context, args),
        Command::Enable(args) => enable::enable(context, args),
        Command::Disable(args) => enable::disable(context, args),
        Command::Trust(args) => trust::trust(context, args),
        Command::Untrust(args) => trust::untrust(context, args),
        Command::Import(args) => import::run(context, args),
        Command::Add(args) => add::add(context, args),
        Command::Update(args) => add::update(context, args),
        Command::Remove(args) => add::remove(context, args),
        Command::Programs(args) => programs::run(context, args),
    }
}
