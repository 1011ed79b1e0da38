// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `rules level`: prints or sets the level of protection.

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_guard::LedgerHandle;
use tenterhook_home::packs::PackList;
use tenterhook_home::{Home, ProtectionLevel};

use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, GOOD, Terminal};
use tenterhook_terminal_text::wrap;

const EXAMPLES: &str = "\
A lower level asks less and needs `rules level` typed on a terminal, or a code. A higher level needs no confirmation. \
Rules that deny are the same in every level. Packs that you enabled or disabled yourself stay so.

Examples:
  tenterhook rules level
  tenterhook rules level strict";

/// Columns before the description of a level.
const TEXT_INDENT: usize = 12;

/// Show or set how much the rules ask: relaxed, standard, strict or paranoid
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Level to set; without it the levels are listed
    level: Option<ProtectionLevel>,
    #[command(flatten)]
    proof: ProofArgs,
}

/// Runs `rules level`.
pub fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let (before, changed) = match args.level {
        None => (PackList::read_for_update(home)?.level, false),
        Some(level) => (level, set_level(context, home, level, &args.proof)?),
    };
    if context.terminal.json {
        let levels: Vec<_> = ProtectionLevel::ALL
            .iter()
            .map(|level| {
                let rules = level.rules();
                json!({"level": level, "about": rules.about, "packs": rules.packs, "never_ask": rules.never_ask})
            })
            .collect();
        context.terminal.print_json(&json!({"level": before, "changed": changed, "levels": levels}))?;
    } else if args.level.is_some() {
        let text =
            if changed { format!("{GOOD}✓{GOOD:#} level: {before}\n") } else { "no changes\n".to_owned() };
        context.terminal.print(&text)?;
    } else {
        context.terminal.print(&levels_text(before))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Sets the level. Returns whether it changed.
pub fn set_level(
    context: &Context,
    home: &Home,
    level: ProtectionLevel,
    proof: &ProofArgs,
) -> Result<bool, CommandError> {
    let before = PackList::read_for_update(home)?.level;
    if before == level {
        return Ok(false);
    }
    let detail = json!({"from": before, "to": level});
    if level < before {
        confirm::require_confirmation(context, Action::RulesLevel, detail, proof)?;
    } else {
        home.create()?;
        LedgerHandle::of(home).record_change("rules level", detail)?;
    }
    // The user may have changed the list while confirming.
    PackList { level, ..PackList::read_for_update(home)? }.write(home)?;
    Ok(true)
}

fn levels_text(current: ProtectionLevel) -> String {
    let mut text = String::new();
    for level in ProtectionLevel::ALL {
        let mark = if *level == current { "●" } else { "○" };
        let room = Terminal::width().saturating_sub(TEXT_INDENT);
        let mut about = wrap(&level.rules().about, room).into_iter();
        let first = about.next().unwrap_or_default();
        let _ = writeln!(text, "{mark} {BOLD}{:<9}{BOLD:#} {first}", level.name());
        for line in about {
            let _ = writeln!(text, "{:TEXT_INDENT$}{line}", "");
        }
        let packs = level.rules().packs.join(", ");
        if !packs.is_empty() {
            let lines = wrap(&format!("packs {packs}"), room);
            for line in lines {
                let _ = writeln!(text, "{:TEXT_INDENT$}{DIM}{line}{DIM:#}", "");
            }
        }
    }
    text
}
