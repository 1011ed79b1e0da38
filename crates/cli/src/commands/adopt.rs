// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_guard::snapshot;
use tenterhook_harness::{Harness, kebab};
use tenterhook_harness_install::claude_code::adopt::{Moving, Own, in_every_harness, survey};
use tenterhook_harness_install::receipt::{Asked, Receipts};
use tenterhook_harness_install::{Content, Order, Piece, Plan, file, plan_install, plan_uninstall};
use tenterhook_home::{Home, Place};

use super::change::{ChangeArgs, Proposal, described, propose};
use super::hook_lines::{HookLines, Item};
use super::wiring;
use crate::context::Context;
use crate::error::CommandError;
use crate::gate::{self, ProofArgs};
use crate::intake;
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
    let plan = if args.undo { undo(context, harness)? } else { adoption(context, harness)? };
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

/// The name under which the receipts of an adoption are kept.
fn kept_as(harness: &Harness) -> String {
    format!("adopted-{}", harness.id)
}

/// Whether hooks of a harness were taken over.
pub(super) fn is_adopted(home: &Home, harness: &Harness) -> bool {
    !Receipts::new(&home.receipts(), &kept_as(harness)).all().is_empty()
}

fn adoption(context: &Context, harness: &'static Harness) -> Result<Plan, CommandError> {
    let home = context.home()?;
    let order = wiring::order(context, harness, &Asked::default())?;
    let settings = order.directory.join("settings.json");
    let bytes = file::read(&settings).map_err(CommandError::from)?.unwrap_or_default();
    let text = file::text(&settings, &bytes).map_err(CommandError::from)?;
    // A text that cannot be read is refused, with its place, by the plan.
    let own = survey(text).map(|survey| survey.taken).unwrap_or_default();
    let pieces = pieces(home, &order, own.iter().map(item).collect());
    plan_install(&kept_as(harness), &order, &pieces, &home.receipts()).map_err(CommandError::from)
}

/// Plans the person's hooks back to where they were.
pub(super) fn undo(context: &Context, harness: &'static Harness) -> Result<Plan, CommandError> {
    let home = context.home()?;
    let order = wiring::order(context, harness, &Asked::default())?;
    let mut pieces = pieces(home, &order, Vec::new());
    // They are back before they are gone.
    pieces.reverse();
    plan_uninstall(&kept_as(harness), &pieces, &home.receipts()).map_err(CommandError::from)
}

/// Ours first: a hook stands twice for a moment rather than nowhere.
fn pieces(home: &Home, order: &Order, items: Vec<Item>) -> Vec<Piece> {
    let lines = HookLines { name: home.settings().display().to_string(), items };
    vec![
        Piece::new(home.settings(), Content::Edited(Box::new(lines))),
        Piece::new(order.directory.join("settings.json"), Content::Edited(Box::new(Moving))),
    ]
}

/// A hook as it is written in `tenterhook.yaml`. Its name comes from what it is, so that it is taken over once.
fn item(own: &Own) -> Item {
    let said = format!("{:?}{:?}", own.matcher, own.says);
    let number = said.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let id = format!("claude-{}-{:08x}", kebab(own.event), number >> 32);
    let mut lines = vec![format!("id: {id}"), format!("on: {}", own.event), "dialect: claude".to_owned()];
    lines.extend(own.matcher.iter().map(|matcher| format!("match: {}", json!(in_every_harness(matcher)))));
    lines.extend(own.says.iter().map(|(key, value)| format!("{key}: {value}")));
    Item { id, lines }
}
