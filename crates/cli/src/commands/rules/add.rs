// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_authority::Action;
use tenterhook_guard::LedgerHandle;
use tenterhook_home::Home;
use tenterhook_home::packs::{AddedPack, PackList};
use tenterhook_package_source::git::is_address;
use tenterhook_package_source::rule_packs::{
    check_pack_name, install_pack, pack_name_of, pin_pack, read_pack,
};
use tenterhook_policy::{LoadedRules, RuleSet, RuleSource, SourceLayer, Weakening, find_weakenings};

use crate::commands::install_flow::ask_yes_no;
use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, BOLD, DIM, GOOD, WARN, count, style_of, tame};

const EXAMPLES: &str = "\
The *.yaml files at the top level of the directory or repository are copied, and pinned by SHA-256 in \
packs.yaml. The contents of the pack are shown first. Nothing in it is run.

Examples:
  tenterhook rules add ./our-rules
  tenterhook rules add https://example.com/our-rules.git --name ours --yes";

/// Add a third-party rule pack
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct AddArgs {
    /// Directory, or URL of a git repository
    #[arg(value_name = "DIR|GIT-URL")]
    from: String,
    /// Name of the pack [default: the last part of the source]
    #[arg(long)]
    name: Option<String>,
    /// Do not ask for confirmation, unless the pack has rules that allow
    #[arg(long, short)]
    yes: bool,
    #[command(flatten)]
    proof: ProofArgs,
}

/// Fetch an added pack again, and update it
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tenterhook rules update ours")]
pub(super) struct UpdateArgs {
    /// Name of the pack
    #[arg(value_name = "PACK")]
    name: String,
    #[command(flatten)]
    proof: ProofArgs,
}

/// Remove an added pack
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tenterhook rules remove ours")]
pub(super) struct RemovePackArgs {
    /// Name of the pack
    #[arg(value_name = "PACK")]
    name: String,
    #[command(flatten)]
    proof: ProofArgs,
}

pub(super) fn add(context: &Context, args: &AddArgs) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let mut list = PackList::read_for_update(home)?;
    let from = if is_address(&args.from) {
        args.from.clone()
    } else {
        std::path::absolute(&args.from)?.to_string_lossy().into_owned()
    };
    let name = args.name.clone().unwrap_or_else(|| pack_name_of(&from));
    check_pack_name(&name, &list)?;
    let gathered = read_pack(&from)?;
    let loaded = gathered.load();
    let added = pin_pack(&name, &from, &gathered);
    if !context.terminal.json {
        context.terminal.print(&pack_contents(&added, None, &loaded))?;
    }
    if loaded.rules.rules().next().is_none() {
        return Err(CommandError::user("the pack has no valid rule; nothing was added"));
    }
    if !weakening_of(None, &loaded.rules).is_empty() {
        confirm::require_confirmation(context, Action::RulesAdd, pack_detail(&added), &args.proof)?;
    } else if args.yes || ask_yes_no(context.terminal, "Add this pack?", "rules add")? {
        LedgerHandle::of(home).record_change("rules add", pack_detail(&added))?;
    } else {
        return Ok(ExitCode::FAILURE);
    }
    install_pack(home, &name, &gathered)?;
    list.sources.push(added);
    list.write(home)?;
    report_change(
        context,
        &name,
        &format!("rule pack `{name}` added and enabled: {}", count(loaded.rules.rules().count(), "rule")),
    )
}

pub(super) fn update(context: &Context, args: &UpdateArgs) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let mut list = PackList::read_for_update(home)?;
    let Some(entry) = list.sources.iter_mut().find(|added| added.name == args.name) else {
        return Err(unknown_pack(&args.name));
    };
    let gathered = read_pack(&entry.from)?;
    let fresh = pin_pack(&entry.name, &entry.from, &gathered);
    let mut on_disk = Vec::new();
    entry.read_texts(home, &mut on_disk);
    if fresh.files == entry.files && on_disk.is_empty() {
        return report_change(context, &args.name, "no changes");
    }
    let loaded = gathered.load();
    if !context.terminal.json {
        let mut text = String::new();
        for file in fresh.files.keys().filter(|file| !entry.files.contains_key(*file)) {
            let _ = writeln!(text, "{GOOD}+ {}{GOOD:#}", tame(file));
        }
        for file in entry.files.keys().filter(|file| !fresh.files.contains_key(*file)) {
            let _ = writeln!(
                text,
                "{BAD}- {}{BAD:#} {WARN}its rules will not be evaluated any more{WARN:#}",
                tame(file)
            );
        }
        for (file, hash) in &fresh.files {
            if entry.files.get(file).is_some_and(|old| old != hash) {
                let _ = writeln!(text, "{WARN}~ {}{WARN:#} changed", tame(file));
            }
        }
        let before = load_stored(entry, home);
        context.terminal.print(&(text + &pack_contents(&fresh, Some(&before.rules), &loaded)))?;
    }
    // A third party wrote the new version, so every update needs confirmation, also one that does not weaken anything.
    confirm::require_confirmation(context, Action::RulesUpdate, pack_detail(&fresh), &args.proof)?;
    *entry = fresh;
    install_pack(home, &args.name, &gathered)?;
    list.write(home)?;
    report_change(context, &args.name, &format!("rule pack `{}` updated", args.name))
}

pub(super) fn remove(context: &Context, args: &RemovePackArgs) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let mut list = PackList::read_for_update(home)?;
    if list.find_added(&args.name).is_none() {
        return Err(unknown_pack(&args.name));
    }
    confirm::require_confirmation(context, Action::RulesRemove, json!({"name": args.name}), &args.proof)?;
    list.sources.retain(|added| added.name != args.name);
    list.disabled.retain(|name| *name != args.name);
    list.write(home)?;
    let dir = home.packs().join(&args.name);
    if dir.exists() {
        fs_err::remove_dir_all(dir)?;
    }
    let weakens = "This weakens your protection: its rules are not evaluated any more.";
    report_change(
        context,
        &args.name,
        &format!("rule pack `{}` removed. {WARN}{BOLD}{weakens}{BOLD:#}{WARN:#}", args.name),
    )
}

/// Describes a pack for the ledger, with the hashes of its files. The description is recorded before the rules apply.
fn pack_detail(added: &AddedPack) -> Value {
    let AddedPack { name, from, commit, files } = added;
    json!({"name": name, "from": from, "commit": commit, "files": files})
}

fn report_change(context: &Context, name: &str, what: &str) -> Result<ExitCode, CommandError> {
    if context.terminal.json {
        let list = PackList::read_for_update(context.home()?)?;
        let added = list.find_added(name);
        context.terminal.print_json(&json!({
            "pack": name, "from": added.map(|added| &added.from), "commit": added.map(|added| &added.commit),
            "files": added.map(|added| &added.files),
        }))?;
    } else {
        context.terminal.print(&format!("{GOOD}✓{GOOD:#} {what}\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn unknown_pack(name: &str) -> CommandError {
    CommandError::user(format!("`{name}` is not an added rule pack"))
        .hint("disable a built-in pack with `tenterhook rules disable PACK`")
}

/// Returns how the rules of a pack weaken protection, compared with the pack before.
fn weakening_of(before: Option<&RuleSet>, rules: &RuleSet) -> Vec<Weakening> {
    let none = RuleSet::load(&[]).rules;
    find_weakenings(before.unwrap_or(&none), rules, tenterhook_home::call_meta::now())
}

/// Loads the rules of a pack as they are in force.
fn load_stored(entry: &AddedPack, home: &Home) -> LoadedRules {
    let texts = entry.read_texts(home, &mut Vec::new());
    let sources = texts.iter().map(|(path, text)| {
        // The source of a pack names its files without their directory.
        let name = path.rsplit('/').next().unwrap_or(path);
        RuleSource { name, text, layer: SourceLayer::User, trusted: true }
    });
    RuleSet::load(&sources.collect::<Vec<_>>())
}

/// Lists a pack's rules, and names how they weaken protection.
fn pack_contents(added: &AddedPack, before: Option<&RuleSet>, loaded: &LoadedRules) -> String {
    let mut text = format!("{BOLD}{}{BOLD:#} {DIM}from {}{DIM:#}", added.name, tame(&added.from));
    if let Some(commit) = &added.commit {
        let _ = write!(text, " {DIM}at {commit}{DIM:#}");
    }
    text.push('\n');
    for rule in loaded.rules.rules() {
        let (style, verdict) = (style_of(rule.verdict()), rule.verdict());
        let _ = writeln!(
            text,
            "  {style}{verdict:<5}{style:#} {:<34} {DIM}{}{DIM:#}",
            rule.id(),
            tame(rule.description())
        );
    }
    let weakening: Vec<_> = weakening_of(before, &loaded.rules).iter().map(ToString::to_string).collect();
    if !weakening.is_empty() {
        let _ = writeln!(
            text,
            "{WARN}{BOLD}These weaken your protection:{BOLD:#}{WARN:#} {}",
            tame(&weakening.join(", "))
        );
    }
    for problem in &loaded.problems {
        let _ = writeln!(text, "{BAD}invalid{BAD:#} {}", tame(&problem.to_string()));
    }
    text
}
