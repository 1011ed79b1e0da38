// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};
use tenterhook_event::{Decision, Event};
use tenterhook_home::WorkDirs;
use tenterhook_policy::{RuleNote, SessionState};
use tenterhook_rulebook::{Rulebook, Ruling, command_event, described_programs, read_strict_json};

use crate::context::Context;
use crate::error::CommandError;
use crate::read_input;
use crate::rule_args::{RuleArgs, rules_in_force};
use crate::terminal::{BOLD, DIM, describe_verdict, style_of, tame};

const EXAMPLES: &str = "\
Evaluates only rules; `tenterhook explain` also runs hooks. With --policy, --packs or --no-baseline the named \
rules are used; otherwise the active rules in the event's directory.

Examples:
  tenterhook explain --rules-only --command 'git push --force origin main'
  tenterhook explain --rules-only --all < event.json
  tenterhook explain --rules-only --harness claude-code < payload.json";

/// Show which rules apply to an event, the facts they see, and their verdicts
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::commands) struct Args {
    /// Shell command, as if an agent ran it in the current directory
    #[arg(long, value_name = "COMMAND", allow_hyphen_values = true, conflicts_with = "harness")]
    shell: Option<String>,
    /// Read standard input as this harness's payload instead of Tenterhook's event format
    #[arg(long, value_name = "HARNESS")]
    harness: Option<String>,
    /// Also show rules that do not match
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    selection: SelectionArgs,
}

/// Options that apply if only rules are evaluated.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct SelectionArgs {
    /// Working directory of the command [default: the current directory]
    #[arg(long, value_name = "DIR")]
    cwd: Option<PathBuf>,
    /// Labels of the session, for rules only
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    label: Vec<String>,
    #[command(flatten)]
    rules: RuleArgs,
}

impl SelectionArgs {
    /// Whether an option is given that only rules can use.
    pub(super) fn selects_rules(&self) -> bool {
        self.rules.is_given() || !self.label.is_empty()
    }

    /// Returns the directory in which the command would run.
    pub(super) fn working_directory(&self) -> std::io::Result<PathBuf> {
        self.cwd.as_ref().map_or_else(std::env::current_dir, std::path::absolute)
    }
}

pub(in crate::commands) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    explain_rules(context, args.shell.as_deref(), args.harness.as_deref(), args.all, &args.selection)
}

/// Explains an event with rules only: a shell command, or standard input.
pub(super) fn explain_rules(
    context: &Context,
    command: Option<&str>,
    harness: Option<&str>,
    all: bool,
    selection: &SelectionArgs,
) -> Result<ExitCode, CommandError> {
    let event = read_event(context, command, harness, selection)?;
    let book = open_rulebook(context, &selection.rules, &WorkDirs::of(&event))?;
    let state = SessionState { labels: selection.label.iter().cloned().collect(), ..SessionState::default() };
    let facts = book.facts(&event);
    let ruling = book.strictest(&event, &state);
    let mut notes = tenterhook_policy::explain(&event, &facts, &state, &book.rules);
    if !all {
        notes.retain(|note| note.matched);
    }
    let described = described_programs(&book.rules, &facts);
    if context.terminal.json {
        context.terminal.print_json(&json!({
            "verdict": ruling.verdict, "rule": ruling.rule, "reason": ruling.reason, "nudge": ruling.nudge,
            "facts": facts, "rules": notes, "described": described,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = ruling_text(&ruling);
    let _ = writeln!(text, "\n{BOLD}Rules{BOLD:#} {DIM}{} evaluated{DIM:#}", book.rules.rules().count());
    for note in &notes {
        text += &rule_line(note, &book);
    }
    if notes.is_empty() {
        let _ = writeln!(text, "  {DIM}no match; `--all` shows why{DIM:#}");
    }
    text += &super::links_text(&facts);
    text += &super::descriptions_text(&described);
    let facts = serde_json::to_value(&facts).unwrap_or_default();
    let _ = writeln!(text, "\n{BOLD}Facts{BOLD:#}");
    for (kind, items) in facts.as_object().into_iter().flatten() {
        for item in items.as_array().into_iter().flatten() {
            let _ = writeln!(text, "  {kind:<9} {}", tame(&fact_line(item)));
        }
    }
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Loads the rules that the options select, or the active rules of a directory.
pub(in crate::commands) fn open_rulebook(
    context: &Context,
    args: &RuleArgs,
    place: &WorkDirs,
) -> Result<Rulebook, CommandError> {
    if args.is_given() {
        return args.load(context.env.home.as_deref())?.require_usable();
    }
    Ok(rules_in_force(context.home()?, &context.env, place))
}

fn read_event(
    context: &Context,
    command: Option<&str>,
    harness: Option<&str>,
    selection: &SelectionArgs,
) -> Result<Event, CommandError> {
    let meta = tenterhook_home::call_meta::mint()?;
    if let Some(command) = command {
        let cwd = selection.working_directory()?;
        return Ok(command_event(command, cwd.to_str(), meta.ts));
    }
    read_input::refuse_terminal_input("for example `tenterhook explain --rules-only --command 'rm -rf ~/'`")?;
    let payload = read_input::read_payload(None)?;
    if let Some(harness) = harness {
        let harness = read_input::parse_harness(harness)?;
        let call = harness.decode(&context.new_call_meta(harness, "")?, &payload);
        return Ok(call.map_err(|error| CommandError::user(error.to_string()))?.event);
    }
    let invalid = |error: serde_json::Error| {
        CommandError::user(format!("standard input is not an event in Tenterhook's format: {error}"))
            .hint("use `--harness ID` for a harness's own payload, or `--command COMMAND`")
    };
    serde_json::from_value(read_strict_json(&payload).map_err(invalid)?).map_err(invalid)
}

fn ruling_text(ruling: &Ruling) -> String {
    let style = style_of(ruling.verdict);
    let mut text = format!("  {style}{}{style:#}\n", describe_verdict(ruling.verdict));
    for line in ruling.reason.iter().flat_map(|reason| reason.lines()) {
        let _ = writeln!(text, "  {}", tame(line));
    }
    if let Some(nudge) = ruling.nudge.as_deref().filter(|_| ruling.verdict == Decision::Deny) {
        let _ = writeln!(text, "  {DIM}→ {}{DIM:#}", tame(nudge));
    }
    text
}

fn rule_line(note: &RuleNote, book: &Rulebook) -> String {
    let (mark, style) = match (note.matched, note.counts) {
        (true, true) => ("●", style_of(note.verdict)),
        (true, false) => ("◐", DIM),
        (false, _) => ("○", DIM),
    };
    let place = book
        .rules
        .rule(&note.rule)
        .map_or_else(String::new, |rule| format!("{} {}:{}", rule.layer(), tame(rule.source()), rule.line()));
    let verdict = note.verdict;
    format!(
        "  {style}{mark} {verdict:<5}{style:#} {:<28} {}\n          {DIM}{place}{DIM:#}\n",
        note.rule,
        tame(&note.why)
    )
}

/// Formats a fact in one line.
fn fact_line(item: &Value) -> String {
    let Some(fields) = item.as_object() else { return item.to_string() };
    let value_text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items
            .iter()
            .map(|item| item.get("text").or(item.get("resolved")).unwrap_or(item))
            .map(|item| item.as_str().map_or_else(|| item.to_string(), ToOwned::to_owned))
            .collect::<Vec<_>>()
            .join(" "),
        other => other.to_string(),
    };
    let shown = fields.iter().filter(|(_, value)| !value.is_null() && **value != json!(false));
    shown.map(|(key, value)| format!("{key}={}", value_text(value))).collect::<Vec<_>>().join("  ")
}
