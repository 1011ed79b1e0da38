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
A locked rule cannot be turned off. To allow one thing and keep the rule, write an exception instead: a rule \
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
        let sources = Sources::collect(home, &context.env, &WorkDirs::at(std::env::current_dir().ok()));
        if sources.all_rules().rule(name).is_none() {
            return Err(unknown_name(name));
        }
    }
    list.enable(name);
    let rules = pack.map(count_rules);
    let with_rules = |rules| format!("rule pack `{name}` with {}", count(rules, "rule"));
    let what = rules.map_or_else(|| format!("`{name}`"), with_rules);
    save_changes(context, &before, &list, name, &format!("{what} enabled"), None)
}

pub(super) fn disable(context: &Context, args: &DisableArgs) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let mut list = PackList::read_for_update(home)?;
    let before = list.clone();
    let name = &args.name;
    let sources = Sources::collect(home, &context.env, &WorkDirs::at(std::env::current_dir().ok()));
    let rules = sources.all_rules();
    let in_pack = |rule: &&Rule| {
        sources.texts.iter().any(|text| text.name == rule.source() && text.pack.as_ref() == Some(name))
    };
    let is_pack = built_in(name).is_some() || list.find_added(name).is_some();
    let disabled_rules: Vec<_> = rules.rules().filter(|rule| rule.id() == name || in_pack(rule)).collect();
    if !is_pack && disabled_rules.is_empty() && !list.is_disabled(name) {
        return Err(unknown_name(name));
    }
    let locked = disabled_rules.iter().filter(|rule| rule.locked()).count();
    if locked > 0 && locked == disabled_rules.len() {
        return Err(CommandError::user(format!("`{name}` is locked and cannot be disabled"))
            .hint("its layer locks it: see `tenterhook rules list --active`"));
    }
    list.disable(name);
    let stay = if locked > 0 { format!("; {locked} locked rules stay enabled") } else { String::new() };
    let what = match (is_pack, disabled_rules.first()) {
        (true, _) => {
            format!(
                "rule pack `{name}` disabled: {} not evaluated any more{stay}",
                count(disabled_rules.len() - locked, "rule")
            )
        }
        (false, Some(rule)) => {
            format!("rule `{name}` ({}, {}) disabled", rule.verdict(), rule.severity())
        }
        (false, None) => format!("`{name}` disabled"),
    };
    save_changes(context, &before, &list, name, &what, Some(&args.proof))
}

/// JSON output of `rules enable` and `rules disable`.
#[derive(serde::Serialize)]
struct PackListChange<'a> {
    changed: bool,
    loosens: bool,
    enabled: &'a [String],
    disabled: &'a [String],
}

/// Writes the list if it changed, and reports the change.
fn save_changes(
    context: &Context,
    before: &PackList,
    list: &PackList,
    name: &str,
    what: &str,
    weakens: Option<&ProofArgs>,
) -> Result<ExitCode, CommandError> {
    let changed = before != list;
    if changed {
        let home = context.home()?;
        let detail = json!({"name": name, "enabled": list.enabled, "disabled": list.disabled});
        match weakens {
            Some(proof) => confirm::require_confirmation(context, Action::RulesDisable, detail, proof)?,
            None => LedgerHandle::of(home).record_change("rules enable", detail)?,
        }
        list.write(home)?;
    }
    let weakens = weakens.is_some();
    if context.terminal.json {
        let PackList { enabled, disabled, .. } = list;
        let change = PackListChange { changed, loosens: changed && weakens, enabled, disabled };
        context.terminal.print_json(&json!(change))?;
        return Ok(ExitCode::SUCCESS);
    }
    let text = match (changed, weakens) {
        (false, _) => "no changes\n".to_owned(),
        (true, false) => format!("{GOOD}✓{GOOD:#} {what}\n"),
        (true, true) => {
            format!("{GOOD}✓{GOOD:#} {what}\n{WARN}{BOLD}This weakens your protection.{BOLD:#}{WARN:#}\n")
        }
    };
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn unknown_name(name: &str) -> CommandError {
    CommandError::user(format!("unknown rule pack or rule `{name}`"))
        .hint("list them with `tenterhook rules list`, or search: `tenterhook rules search TEXT`")
}
