// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Earlier names of commands. They are hidden and stay, because scripts and installed settings call them.

use std::process::ExitCode;

use super::check::rules_only as check;
use super::explain::rules_only as explain;
use super::hooks;
use super::rules::{active, backtest, from_template, import, test, trust};
use crate::context::Context;
use crate::error::CommandError;

/// Earlier names of commands, with the name that replaces each.
pub(crate) const RENAMED_COMMANDS: &[(&str, &str)] = &[
    ("adopt", "hooks adopt"),
    ("completions", "self completions"),
    ("detect", "install --list"),
    ("judge", "rules judge"),
    ("new hook", "hooks new"),
    ("new rule", "rules new"),
    ("policy backtest", "rules backtest"),
    ("policy check", "check"),
    ("policy explain", "explain --rules-only"),
    ("policy import", "rules import"),
    ("policy show", "rules list --active"),
    ("policy test", "rules test"),
    ("policy trust", "rules trust"),
    ("policy untrust", "rules untrust"),
    ("programs", "rules programs"),
    ("restart", "daemon restart"),
    ("serve", "daemon serve"),
    ("service", "daemon service"),
    ("totp", "approvals totp"),
];

/// Earlier name of `rules`, `check` and `explain`
#[derive(Debug, clap::Args)]
pub(crate) struct PolicyArgs {
    #[command(subcommand)]
    command: PolicyCommand,
}

#[derive(Debug, clap::Subcommand)]
enum PolicyCommand {
    Check(check::Args),
    Show(active::Args),
    Explain(explain::Args),
    Test(test::Args),
    Backtest(backtest::Args),
    Import(import::Args),
    Trust(trust::TrustFileArgs),
    Untrust(trust::UntrustFileArgs),
}

/// Earlier name of `hooks new` and `rules new`
#[derive(Debug, clap::Args)]
pub(crate) struct NewArgs {
    #[command(subcommand)]
    command: NewCommand,
}

#[derive(Debug, clap::Subcommand)]
enum NewCommand {
    Hook(hooks::new::Args),
    Rule(from_template::TemplateRuleArgs),
}

pub(super) fn run_policy(context: &Context, args: &PolicyArgs) -> Result<ExitCode, CommandError> {
    match &args.command {
        PolicyCommand::Check(args) => check::run(context, args),
        PolicyCommand::Show(args) => active::run(context, args),
        PolicyCommand::Explain(args) => explain::run(context, args),
        PolicyCommand::Test(args) => test::run(context, args),
        PolicyCommand::Backtest(args) => backtest::run(context, args),
        PolicyCommand::Import(args) => import::run(context, args),
        PolicyCommand::Trust(args) => trust::trust(context, args),
        PolicyCommand::Untrust(args) => trust::untrust(context, args),
    }
}

pub(super) fn run_new(context: &Context, args: &NewArgs) -> Result<ExitCode, CommandError> {
    match &args.command {
        NewCommand::Hook(args) => hooks::new::run(context, args),
        NewCommand::Rule(args) => from_template::run(context, args),
    }
}
