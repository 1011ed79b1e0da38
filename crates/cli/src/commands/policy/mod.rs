// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `policy`: show, test and import rules, and trust those of a project.

mod backtest;
mod check;
mod excerpt;
mod explain;
mod import;
mod show;
mod test;
mod trust;

use std::process::ExitCode;

use crate::context::Context;
use crate::error::CommandError;

pub(super) use excerpt::problem_excerpt as show_problem;

const EXAMPLES: &str = "\
Rules come from four layers: the built-in packs, the organisation (/etc/tenterhook/policy.yaml), you
(policy.yaml in your settings) and the project (.tenterhook.yaml). A deny of any layer stands.

Examples:
  tenterhook policy show
  tenterhook policy explain --shell 'git push --force'
  tenterhook policy test rules.test.yaml
  tenterhook policy backtest new-policy.yaml --since 7d
  tenterhook policy trust";

/// Show, test, import and trust rules
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    Check(check::Args),
    Show(show::Args),
    Explain(explain::Args),
    Test(test::Args),
    Backtest(backtest::Args),
    Import(import::Args),
    Trust(trust::TrustFileArgs),
    Untrust(trust::UntrustFileArgs),
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    match &args.command {
        Command::Check(args) => check::run(context, args),
        Command::Show(args) => show::run(context, args),
        Command::Explain(args) => explain::run(context, args),
        Command::Test(args) => test::run(context, args),
        Command::Backtest(args) => backtest::run(context, args),
        Command::Import(args) => import::run(context, args),
        Command::Trust(args) => trust::trust(context, args),
        Command::Untrust(args) => trust::untrust(context, args),
    }
}
