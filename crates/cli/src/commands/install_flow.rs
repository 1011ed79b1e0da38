// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Code shared by `install`, `uninstall` and `adopt`: options, preview of a change, confirmation and report.

use serde_json::{Value, json};
use tenterhook_harness_install::SettingsScope;
use tenterhook_setup::install::Proposal;
use tenterhook_setup::wiring;

use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, BOLD, DIM, GOOD, Terminal, WARN};

#[derive(Debug, clap::Args)]
pub(super) struct ChangeArgs {
    /// Harnesses, such as claude-code; `tenterhook install --list` lists them
    #[arg(value_name = "HARNESS")]
    pub(super) harnesses: Vec<String>,
    /// All harnesses on this machine
    #[arg(long, conflicts_with = "harnesses")]
    pub(super) all: bool,
    /// Settings to change: yours, for every project, or those of the current project
    #[arg(long, value_name = "SCOPE")]
    pub(super) scope: Option<ScopeName>,
    /// Show the change without making it
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Show every changed line instead of a summary
    #[arg(long)]
    pub(super) diff: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(super) yes: bool,
}

/// Value of `--scope`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum ScopeName {
    User,
    Project,
}

impl ScopeName {
    pub(super) fn scope(self) -> Result<SettingsScope, CommandError> {
        Ok(match self {
            Self::User => SettingsScope::User,
            Self::Project => SettingsScope::Project(wiring::project_root(&std::env::current_dir()?)),
        })
    }
}

/// Shows the changes and asks once for all of them. Returns whether the user agreed.
pub(super) fn propose(
    context: &Context,
    args: &ChangeArgs,
    proposals: &[Proposal],
    verb: &str,
) -> Result<bool, CommandError> {
    let terminal = context.terminal;
    if !terminal.json {
        let text: String = proposals.iter().map(|proposal| proposal_text(proposal, args.diff)).collect();
        terminal.print(&text)?;
        if !args.diff && proposals.iter().any(|proposal| !proposal.plan.is_noop()) {
            terminal.print(&format!("{DIM}`--diff` shows every line{DIM:#}\n"))?;
        }
    }
    if args.dry_run {
        return Ok(false);
    }
    if args.yes || proposals.iter().all(|proposal| proposal.plan.is_noop()) {
        return Ok(true);
    }
    if !Terminal::is_interactive() {
        return Err(no_terminal_error(verb).hint("confirm with `--yes`, or preview with `--dry-run`"));
    }
    let question = if proposals.len() > 1 { "Make these changes?" } else { "Make this change?" };
    Ok(prompt_yes_no(terminal, question)?)
}

fn proposal_text(proposal: &Proposal, whole: bool) -> String {
    let Proposal { harness, plan, .. } = proposal;
    let mut text = if whole { color_diff(&plan.diff()) } else { proposal_summary(proposal) };
    for note in &plan.notes {
        text += &format!("{WARN}note{WARN:#}: {note}\n");
    }
    if plan.is_noop() && plan.notes.is_empty() {
        let settings = plan.settings().map(|path| path.display().to_string()).unwrap_or_default();
        text += &format!("{}: nothing to change in `{settings}`\n", harness.title);
    }
    text
}

/// Formats each changed file with the number of added and removed lines.
fn proposal_summary(proposal: &Proposal) -> String {
    let mut text = String::new();
    for step in proposal.plan.steps.iter().filter(|step| !step.change.is_noop()) {
        let diff = step.change.diff();
        let lines = |sign: char, header: &str| {
            diff.lines().filter(|line| line.starts_with(sign) && !line.starts_with(header)).count()
        };
        let (added, removed) = (lines('+', "+++"), lines('-', "---"));
        let what = match (&step.change.before, &step.change.after) {
            (None, _) => "new file",
            (_, None) => "removed",
            _ => "changed",
        };
        text += &format!(
            "{BOLD}{}{BOLD:#}: {} {DIM}({what}, {GOOD}+{added}{GOOD:#}{DIM} {BAD}−{removed}{BAD:#}{DIM} lines){DIM:#}\n",
            proposal.harness.title,
            step.change.path.display()
        );
    }
    text
}

/// Asks a yes/no question; fails without a terminal.
pub(super) fn ask_yes_no(terminal: Terminal, question: &str, verb: &str) -> Result<bool, CommandError> {
    if !Terminal::is_interactive() {
        return Err(no_terminal_error(verb).hint("read the output, then use `--yes` to confirm"));
    }
    Ok(prompt_yes_no(terminal, question)?)
}

fn no_terminal_error(verb: &str) -> CommandError {
    CommandError::user(format!("`{verb}` needs confirmation, but standard input is not a terminal"))
}

/// Converts one change to JSON.
pub(super) fn proposal_json(proposal: &Proposal, done: bool, more: Value) -> Value {
    let Proposal { harness, asked, plan } = proposal;
    let files: Vec<_> = plan.steps.iter().map(|step| &step.change.path).collect();
    let mut answer = json!({
        "harness": harness.id,
        "scope": wiring::scope_name(&asked.scope),
        "settings": plan.settings(),
        "files": files,
        "changed": done && !plan.is_noop(),
        "diff": plan.diff(),
        "notes": plan.notes,
        "pending": plan.pending,
    });
    if let (Some(answer), Value::Object(more)) = (answer.as_object_mut(), more) {
        answer.extend(more);
    }
    answer
}

/// Prints the report in JSON: one object if a single harness was named, else a list.
pub(super) fn print_json_report(
    context: &Context,
    args: &ChangeArgs,
    mut answers: Vec<Value>,
) -> Result<(), CommandError> {
    match answers.pop() {
        Some(only) if answers.is_empty() && args.harnesses.len() == 1 => context.terminal.print_json(&only),
        last => {
            answers.extend(last);
            context.terminal.print_json(&json!({"harnesses": answers}))
        }
    }
}

fn color_diff(diff: &str) -> String {
    let line = |line: &str| match line.chars().next() {
        Some('+') => format!("{GOOD}{line}{GOOD:#}\n"),
        Some('-') => format!("{BAD}{line}{BAD:#}\n"),
        Some('@') => format!("{DIM}{line}{DIM:#}\n"),
        _ => format!("{line}\n"),
    };
    diff.lines().map(line).collect()
}

fn prompt_yes_no(terminal: Terminal, question: &str) -> std::io::Result<bool> {
    use std::io::Write;
    write!(terminal.stderr(), "{BOLD}{question}{BOLD:#} [y/N] ")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
