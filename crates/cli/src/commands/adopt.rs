// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_guard::snapshot;
use tenterhook_harness_install::receipt::Asked;
use tenterhook_home::Place;
use tenterhook_setup::adopt::{plan_adoption, plan_return};
use tenterhook_setup::install::Proposal;

use super::change::{ChangeArgs, described, propose};
use crate::context::Context;
use crate::error::CommandError;
use crate::gate::{self, ProofArgs};
use crate::intake;
use crate::setup::CliHost;
use crate::terminal::{BOLD, GOOD};

const EXAMPLES: &str = "\
The hooks you have in Claude Code's settings move into your `tenterhook.yaml`, where they run in every
harness that is wired, as Claude Code runs them. What only Claude Code can run stays where it is.

Examples:
  tenterhook adopt claude-code --dry-run
  tenterhook adopt claude-code
  tenterhook adopt claude-code --undo       they move back";

/// Take over hooks you already have, so that they serve every harness
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Whose hooks: claude-code
    harness: String,
    /// Move them back
    #[arg(long)]
    undo: bool,
    /// Show what would change and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    proof: ProofArgs,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let harness = intake::harness(&args.harness)?;
    if harness.id != "claude-code" {
        return Err(CommandError::user(format!("hooks of {} cannot be taken over", harness.title))
            .hint("known: claude-code; for others, write the hook into tenterhook.yaml with its `dialect`"));
    }
    let home = context.home()?;
    let host = CliHost { context, home };
    let setup = host.setup();
    let plan = if args.undo { plan_return(&setup, harness)? } else { plan_adoption(&setup, harness)? };
    let proposal = Proposal { harness, asked: Asked::default(), plan };
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
        gate::pass(
            context,
            action,
            json!({"adopted": harness.id, "settings": home.settings()}),
            &args.proof,
        )?;
        proposal.plan.apply().map_err(CommandError::from)?;
        snapshot::write(home, &context.env, &Place::default())?;
    }
    if context.terminal.json {
        context.terminal.print_json(&described(proposal, done, json!({"undo": args.undo})))?;
    } else if done && !proposal.plan.is_noop() {
        let what =
            if args.undo { "are in its own settings again" } else { "now serve every harness that is wired" };
        let title = harness.title;
        context.terminal.say(&format!("{GOOD}✓{GOOD:#} Your hooks of {BOLD}{title}{BOLD:#} {what}.\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}
