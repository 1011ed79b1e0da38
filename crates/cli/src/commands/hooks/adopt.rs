// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_guard::snapshot;
use tenterhook_harness_install::receipt::InstallOptions;
use tenterhook_home::WorkDirs;
use tenterhook_setup::adopt::{plan_adoption, plan_return};
use tenterhook_setup::install::Proposal;

use crate::commands::install_flow::{ChangeArgs, proposal_json, propose};
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::read_input;
use crate::setup::CliHost;
use crate::terminal::{BOLD, GOOD};

const EXAMPLES: &str = "\
The hooks in Claude Code's settings move to your `tenterhook.yaml`. From there they run in every guarded \
harness, as Claude Code runs them. Hooks that only Claude Code can run stay where they are.

Examples:
  tenterhook hooks adopt claude-code --dry-run
  tenterhook hooks adopt claude-code
  tenterhook hooks adopt claude-code --undo       move the hooks back";

/// Move existing hooks to Tenterhook, so that they run in every harness
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Harness that has the hooks: claude-code
    #[arg(value_name = "HARNESS")]
    harness: String,
    /// Move the hooks back
    #[arg(long)]
    undo: bool,
    /// Show the change without making it
    #[arg(long)]
    dry_run: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    proof: ProofArgs,
}

pub(in crate::commands) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let harness = read_input::parse_harness(&args.harness)?;
    if harness.id != "claude-code" {
        return Err(CommandError::user(format!("hooks of {} cannot be adopted", harness.title))
            .hint("supported: claude-code; for others, add the hook to tenterhook.yaml with its `dialect`"));
    }
    let home = context.home()?;
    let host = CliHost { context, home };
    let setup = host.setup();
    let plan = if args.undo { plan_return(&setup, harness)? } else { plan_adoption(&setup, harness)? };
    let proposal = Proposal { harness, asked: InstallOptions::default(), plan };
    let change = ChangeArgs {
        harnesses: vec![args.harness.clone()],
        all: false,
        scope: None,
        dry_run: args.dry_run,
        yes: args.yes,
        diff: true,
    };
    let proposals = [proposal];
    let done = propose(context, &change, &proposals, "adopt")?;
    let [proposal] = &proposals;
    if done && !proposal.plan.is_noop() {
        let action = if args.undo { Action::HooksRemove } else { Action::HooksAdd };
        confirm::require_confirmation(
            context,
            action,
            json!({"adopted": harness.id, "settings": home.settings()}),
            &args.proof,
        )?;
        proposal.plan.apply().map_err(CommandError::from)?;
        snapshot::write(home, &context.env, &WorkDirs::default())?;
    }
    if context.terminal.json {
        context.terminal.print_json(&proposal_json(proposal, done, json!({"undo": args.undo})))?;
    } else if done && !proposal.plan.is_noop() {
        let what =
            if args.undo { "are in its own settings again" } else { "now run in every guarded harness" };
        let title = harness.title;
        context.terminal.print(&format!("{GOOD}✓{GOOD:#} your hooks of {BOLD}{title}{BOLD:#} {what}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}
