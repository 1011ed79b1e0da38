// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_home::{RuleOverview, SourceFile, Sources, WorkDirs, packs::PackList};
use tenterhook_policy::{Rule, RuleSet};

use super::active;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, GOOD, Terminal, WARN, style_of, tame};
use tenterhook_terminal_text::fit;

/// Maximum number of examples of each kind that are listed before the text of a rule, which contains all of them.
const MAX_SHOWN_EXAMPLES: usize = 5;

/// List all rules, pack by pack
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  tenterhook rules list\n  tenterhook rules list --active\n  tenterhook rules list --pack destructive --json"
)]
pub(super) struct ListRulesArgs {
    /// Only this pack
    #[arg(long, value_name = "PACK")]
    pack: Option<String>,
    /// Only the active rules, layer by layer, with the file and line of each
    #[arg(long, conflicts_with = "pack")]
    active: bool,
}

/// Show what one rule matches, and its text
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tenterhook rules show recursive-delete")]
pub(super) struct ShowArgs {
    /// Id of the rule
    #[arg(value_name = "RULE")]
    id: String,
}

/// Search rules by their text
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tenterhook rules search 'git push'")]
pub(super) struct SearchArgs {
    /// Text to find, ignoring case
    text: String,
}

/// All rules, including those of disabled packs.
struct RuleCatalog {
    sources: Sources,
    rules: RuleSet,
    list: PackList,
}

impl RuleCatalog {
    fn new(context: &Context) -> Result<Self, CommandError> {
        let home = context.home()?;
        let list = PackList::read_for_update(home)?;
        let mut sources = Sources::collect(home, &context.env, &WorkDirs::at(std::env::current_dir().ok()));
        let there: Vec<_> = sources.texts.iter().filter_map(|text| text.pack.clone()).collect();
        sources.add_built_in_packs(|pack| !there.iter().any(|name| name == pack.name));
        let rules = sources.all_rules();
        Ok(Self { sources, rules, list })
    }

    fn text_of(&self, rule: &Rule) -> Option<&SourceFile> {
        self.sources.texts.iter().find(|text| text.name == rule.source())
    }

    fn is_on(&self, rule: &Rule) -> bool {
        let pack = self.text_of(rule).and_then(|text| text.pack.as_deref());
        let pack_on =
            pack.and_then(tenterhook_home::packs::built_in).is_none_or(|pack| self.list.is_on(pack))
                && !pack.is_some_and(|pack| self.list.is_disabled(pack));
        rule.locked() || pack_on && !self.list.is_disabled(rule.id())
    }

    fn json(&self, rule: &Rule) -> Value {
        json!({
            "id": rule.id(),
            "pack": self.text_of(rule).and_then(|text| text.pack.as_deref()),
            "layer": rule.layer(),
            "on": self.is_on(rule),
            "locked": rule.locked(),
            "verdict": rule.verdict(),
            "severity": rule.severity(),
            "description": rule.description(),
            "source": rule.source(),
            "line": rule.line(),
        })
    }

    fn line(&self, rule: &Rule) -> String {
        let (mark, style) = if self.is_on(rule) { ("●", style_of(rule.verdict())) } else { ("○", DIM) };
        let locked = if rule.locked() { " (locked)" } else { "" };
        let (verdict, id) = (rule.verdict(), rule.id());
        let about = format!("{}{locked}", tame(rule.description()));
        let about = shorten(&about, 11 + id.len().max(34));
        format!("  {style}{mark} {verdict:<5}{style:#} {id:<34} {DIM}{about}{DIM:#}\n")
    }
}

/// Shortens the last part of a line to what is left of a terminal's width.
fn shorten(text: &str, used: usize) -> String {
    let room = Terminal::line_limit().saturating_sub(used);
    if text.chars().count() > room { fit(text, room) } else { text.to_owned() }
}

pub(super) fn list(context: &Context, args: &ListRulesArgs) -> Result<ExitCode, CommandError> {
    if args.active {
        return active::run(context, &active::Args::default());
    }
    let mut catalog = RuleCatalog::new(context)?;
    if let Some(pack) = &args.pack {
        catalog.sources.texts.retain(|text| text.pack.as_ref() == Some(pack));
        if catalog.sources.texts.is_empty() {
            return Err(CommandError::user(format!("unknown rule pack `{pack}`"))
                .hint("list them with `tenterhook rules list`"));
        }
    }
    let of = |text: &SourceFile| {
        catalog.rules.rules().filter(|rule| rule.source() == text.name).collect::<Vec<_>>()
    };
    if context.terminal.json {
        let rules: Vec<_> =
            catalog.sources.texts.iter().flat_map(of).map(|rule| catalog.json(rule)).collect();
        context.terminal.print_json(&rules)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for part in &catalog.sources.texts {
        let name = part.pack.as_deref().unwrap_or(&part.name);
        let built_in = part.pack.as_deref().and_then(tenterhook_home::packs::built_in);
        let title = built_in.map_or("", |pack| pack.title);
        let on = built_in.is_none_or(|pack| catalog.list.is_on(pack)) && !catalog.list.is_disabled(name);
        let (word, style) = if on { ("on", GOOD) } else { ("off", WARN) };
        let name = tame(name);
        let about = format!("{} {title}", part.layer);
        let about = shorten(&about, name.chars().count() + word.len() + 2);
        let _ = writeln!(text, "{BOLD}{name}{BOLD:#} {style}{word}{style:#} {DIM}{about}{DIM:#}");
        for rule in of(part) {
            text += &catalog.line(rule);
        }
    }
    text += &fleet_policy_text(context, &catalog.sources)?;
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Describes the policy of the fleet, if the machine is part of one.
pub(super) fn fleet_policy_text(context: &Context, sources: &Sources) -> Result<String, CommandError> {
    let Some(policy) = &sources.fleet else { return Ok(String::new()) };
    let summary = policy.summary(context.home()?, tenterhook_home::call_meta::now());
    Ok(format!("\npolicy of the {}\n", tame(&summary)))
}

pub(super) fn show(context: &Context, args: &ShowArgs) -> Result<ExitCode, CommandError> {
    let catalog = RuleCatalog::new(context)?;
    let Some(rule) = catalog.rules.rule(&args.id) else {
        return Err(CommandError::user(format!("unknown rule `{}`", args.id))
            .hint("search with `tenterhook rules search TEXT`"));
    };
    let source = catalog.text_of(rule);
    let written = source.map(|text| text.rule_lines(rule.line())).unwrap_or_default();
    let page = source.and_then(|text| text.rule_page(rule.id()));
    if context.terminal.json {
        let mut answer = catalog.json(rule);
        if let Some(answer) = answer.as_object_mut() {
            answer.insert("yaml".to_owned(), written.join("\n").into());
            answer.insert("page".to_owned(), json!(page));
        }
        context.terminal.print_json(&answer)?;
        return Ok(ExitCode::SUCCESS);
    }
    let place = format!("{}:{}", tame(rule.source()), rule.line());
    let mut text =
        format!("{}  {DIM}{} · {} · {place}{DIM:#}\n", catalog.line(rule), rule.severity(), rule.layer());
    let view = RuleOverview::new(&catalog.sources, tenterhook_home::call_meta::now());
    for mark in view.marks(rule) {
        let _ = writeln!(text, "  {WARN}{mark}{WARN:#}");
    }
    text.push('\n');
    for (title, lines) in page.iter().flat_map(|page| page.sections(MAX_SHOWN_EXAMPLES)) {
        let _ = writeln!(text, "{BOLD}{title}{BOLD:#}");
        for line in lines {
            let _ = writeln!(text, "  - {}", tame(&line));
        }
        text.push('\n');
    }
    for line in written {
        let _ = writeln!(text, "{}", line.chars().filter(|c| !c.is_control()).collect::<String>());
    }
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

pub(super) fn search(context: &Context, args: &SearchArgs) -> Result<ExitCode, CommandError> {
    let catalog = RuleCatalog::new(context)?;
    let wanted = args.text.to_lowercase();
    let has = |rule: &&Rule| {
        let written = catalog.text_of(rule).map(|text| text.rule_lines(rule.line()).join("\n"));
        written.unwrap_or_default().to_lowercase().contains(&wanted)
    };
    let found: Vec<_> = catalog.rules.rules().filter(has).collect();
    if context.terminal.json {
        context.terminal.print_json(&found.iter().map(|rule| catalog.json(rule)).collect::<Vec<_>>())?;
    } else if found.is_empty() {
        context.terminal.print(&format!(
            "no rule contains `{}`; write one with `tenterhook rules new ID`\n",
            tame(&args.text)
        ))?;
    } else {
        context.terminal.print(&found.iter().map(|rule| catalog.line(rule)).collect::<String>())?;
    }
    Ok(if found.is_empty() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
