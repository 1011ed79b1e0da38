// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_guard::LedgerHandle;
use tenterhook_home::{
    Sources, WorkDirs,
    packs::{PackList, built_in, count_rules},
};
use tenterhook_policy::Rule;

use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, GOOD, WARN, count};

const EXAMPLES: &str = "\
Examples:
  tenterhook rules enable cloud                 a whole pack
  tenterhook rules enable recursive-delete      a rule that was disabled";

/// Enable a rule pack or a rule
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct EnableArgs {
    /// Name of a pack, or id of a rule
    #[arg(value_name = "PACK|RULE")]
    name: String,
}

const DISABLE_EXAMPLES: &str = "\
A locked rule cannot be turned off. To allow one thing and keep the rule, write an exception instead: a rule
of your own with `verdict: allow` and `overrides`.

Examples:
  tenterhook rules disable cloud
  tenterhook rules disable recursive-delete-unknown";

/// Disable a rule pack or a rule
#[derive(Debug, clap::Args)]
#[command(after_help = DISABLE_EXAMPLES)]
pub(super) struct DisableArgs {
    /// Name of a pack, or id of a rule
    #[arg(value_name = "PACK|RULE")]
    name: String,
    #[command(flatten)]
    proof: ProofArgs,
}

pub(super) fn enable(context: &Context, args: &EnableArgs) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let mut list = PackList::read_for_update(home)?;
    let before = list.clone();
    let name = &args.name;
    let pack = built_in(name);
    if pack.is_none() && list.find_added(name).is_none() && !list.is_disabled(name) {
        let there = Sources::collect(home, &context.env, &WorkDirs::at(std::env::current_dir().ok()));
        if there.all_rules().rule(name).is_none() {
            return Err(unknown_name(name));
        }
    }
    list.enable(name);
    let rules = pack.map(count_rules);
    let what = rules
        .map_or_else(|| format!("`{name}`"), |rules| format!("pack `{name}` with {}", count(rules, "rule")));
    save_changes(context, &before, &list, name, &format!("{what} is on: more is checked"), None)
}

pub(super) fn disable(context: &Context, args: &DisableArgs) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let mut list = PackList::read_for_update(home)?;
    let before = list.clone();
    let name = &args.name;
    let there = Sources::collect(home, &context.env, &WorkDirs::at(std::env::current_dir().ok()));
    let rules = there.all_rules();
    let in_pack = |rule: &&Rule| {
        there.texts.iter().any(|text| text.name == rule.source() && text.pack.as_ref() == Some(name))
    };
    let is_pack = built_in(name).is_some() || list.find_added(name).is_some();
    let gone: Vec<_> = rules.rules().filter(|rule| rule.id() == name || in_pack(rule)).collect();
    if !is_pack && gone.is_empty() && !list.is_disabled(name) {
        return Err(unknown_name(name));
    }
    let locked = gone.iter().filter(|rule| rule.locked()).count();
    if locked > 0 && locked == gone.len() {
        return Err(CommandError::user(format!("`{name}` is locked and cannot be turned off"))
            .hint("whoever wrote the layer it belongs to locked it: see `tenterhook policy show`"));
    }
    list.disable(name);
    let stay = if locked > 0 { format!("; {locked} of it are locked and stay") } else { String::new() };
    let what = match (is_pack, gone.first()) {
        (true, _) => {
            format!(
                "pack `{name}` is off: {} will not be checked any more{stay}",
                count(gone.len() - locked, "rule")
            )
        }
        (false, Some(rule)) => {
            format!(
                "rule `{name}` ({}, {}) is off: it will not be checked any more",
                rule.verdict(),
                rule.severity()
            )
        }
        (false, None) => format!("`{name}` is off"),
    };
    save_changes(context, &before, &list, name, &what, Some(&args.proof))
}

/// Writes the list if it changed, and says what that means.
fn save_changes(
    context: &Context,
    before: &PackList,
    list: &PackList,
    name: &str,
    what: &str,
    loosens: Option<&ProofArgs>,
) -> Result<ExitCode, CommandError> {
    let changed = before != list;
    if changed {
        let home = context.home()?;
        let detail = json!({"name": name, "enabled": list.enabled, "disabled": list.disabled});
        match loosens {
            Some(proof) => confirm::require_confirmation(context, Action::RulesDisable, detail, proof)?,
            None => LedgerHandle::of(home).record_change("rules enable", detail)?,
        }
        list.write(home)?;
    }
    let loosens = loosens.is_some();
    if context.terminal.json {
        context.terminal.print_json(
            &json!({"changed": changed, "loosens": changed && loosens, "enabled": list.enabled, "disabled": list.disabled}),
        )?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match (changed, loosens) {
        (false, _) => "nothing to change\n".to_owned(),
        (true, false) => format!("{GOOD}✓{GOOD:#} {what}\n"),
        (true, true) => {
            format!("{GOOD}✓{GOOD:#} {what}\n{WARN}{BOLD}This loosens your protection.{BOLD:#}{WARN:#}\n")
        }
    };
    context.terminal.say(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn unknown_name(name: &str) -> CommandError {
    CommandError::user(format!("there is no pack and no rule `{name}`"))
        .hint("see `tenterhook rules list`, or look for it: `tenterhook rules search TEXT`")
}
