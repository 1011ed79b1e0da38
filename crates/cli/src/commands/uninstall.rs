// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;
use tenterhook_home::authority::Action;

use super::change::{ChangeArgs, propose, refused, report, settings_of};
use crate::context::Context;
use crate::error::CommandError;
use crate::gate::{self, ProofArgs};
use crate::intake;
use crate::terminal::{BOLD, GOOD};

const EXAMPLES: &str = "\
The harness's settings become what they were, byte for byte. If they were edited since, only our
entries are taken out. The ledger stays.

Examples:
  tenterhook uninstall claude-code
  tenterhook uninstall claude-code --yes --code-file code.txt";

/// Take Tenterhook out of a harness again
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    change: ChangeArgs,
    #[command(flatten)]
    proof: ProofArgs,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let harness = intake::harness(&args.change.harness)?;
    let home = context.home()?;
    let (installer, settings) = settings_of(context, harness)?;
    let plan = (installer.plan_uninstall)(&settings, &home.receipts()).map_err(|error| refused(&error))?;
    let done = propose(context, &args.change, harness, &plan, "uninstall")?;
    if done {
        if !plan.is_noop() {
            let detail = json!({"harness": harness.id, "settings": plan.change.path});
            gate::pass(context, Action::Uninstall, detail, &args.proof)?;
        }
        plan.apply().map_err(|error| refused(&error))?;
        super::install::chain(home, harness.id, None)?;
    }
    if context.terminal.json {
        report(
            context,
            harness,
            &plan,
            done,
            json!({"home": home.state, "restored": done && plan.restores}),
        )?;
    } else if done && !plan.is_noop() {
        let title = harness.title;
        let what = if plan.restores { "is as it was before Tenterhook" } else { "is no longer guarded" };
        context.terminal.say(&format!("{GOOD}✓{GOOD:#} {BOLD}{title}{BOLD:#} {what}.\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}
