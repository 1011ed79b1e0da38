// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What `install` and `uninstall` share: showing a change, asking, and saying what was done.

use std::path::PathBuf;

use serde_json::json;
use tenterhook_harness::Harness;
use tenterhook_harness::install::{InstallError, Installer, Plan};

use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, BOLD, DIM, GOOD, Terminal, WARN};

#[derive(Debug, clap::Args)]
pub(super) struct ChangeArgs {
    /// The harness: claude-code
    pub(super) harness: String,
    /// Show what would change and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    pub(super) yes: bool,
}

/// How we get into the harness's settings, and where they are.
pub(super) fn settings_of<'a>(
    context: &Context,
    harness: &'a Harness,
) -> Result<(&'a Installer, PathBuf), CommandError> {
    let installer = harness.installer.as_ref().ok_or_else(|| {
        let title = harness.title;
        CommandError::unusable(format!("{title} cannot be wired by this program yet"))
            .hint(format!("let its hooks call `tenterhook hook {} <EVENT>`", harness.id))
    })?;
    let settings = context.env.settings_of(installer).ok_or_else(|| {
        let variable = installer.directory_variable;
        CommandError::failed(format!("neither `HOME` nor `{variable}` is set"))
    })?;
    Ok((installer, std::path::absolute(settings)?))
}

/// Shows the change and asks. Whether it is to be made.
pub(super) fn propose(
    context: &Context,
    args: &ChangeArgs,
    harness: &Harness,
    plan: &Plan,
    verb: &str,
) -> Result<bool, CommandError> {
    let terminal = context.terminal;
    if !terminal.json {
        let mut text = colored(&plan.change.diff());
        for note in &plan.notes {
            text += &format!("{WARN}note{WARN:#}: {note}\n");
        }
        if plan.is_noop() && plan.notes.is_empty() {
            text += &format!("{}: nothing to change in `{}`\n", harness.title, plan.change.path.display());
        }
        terminal.say(&text)?;
    }
    if args.dry_run {
        return Ok(false);
    }
    if args.yes || plan.is_noop() {
        return Ok(true);
    }
    if !Terminal::is_interactive() {
        return Err(nobody(verb).hint("use `--yes` to go ahead, or `--dry-run` to only look"));
    }
    Ok(ask(terminal, "Make this change?")?)
}

/// Asks a person; with nobody there it is an error.
pub(super) fn confirm(terminal: Terminal, question: &str, verb: &str) -> Result<bool, CommandError> {
    if !Terminal::is_interactive() {
        return Err(nobody(verb).hint("look at what is shown, then use `--yes` to go ahead"));
    }
    Ok(ask(terminal, question)?)
}

fn nobody(verb: &str) -> CommandError {
    CommandError::unusable(format!("`{verb}` needs a yes, and there is nobody to ask"))
}

/// The answer of a command that may change settings, in JSON.
pub(super) fn report(
    context: &Context,
    harness: &Harness,
    plan: &Plan,
    done: bool,
    more: serde_json::Value,
) -> Result<(), CommandError> {
    let mut answer = json!({
        "harness": harness.id,
        "settings": plan.change.path,
        "changed": done && !plan.is_noop(),
        "diff": plan.change.diff(),
        "notes": plan.notes,
    });
    if let (Some(answer), serde_json::Value::Object(more)) = (answer.as_object_mut(), more) {
        answer.extend(more);
    }
    context.terminal.print_json(&answer)
}

pub(super) fn refused(error: &InstallError) -> CommandError {
    let message = CommandError::failed(error.to_string());
    error.hint().map_or(message, |hint| CommandError::failed(error.to_string()).hint(hint))
}

fn colored(diff: &str) -> String {
    let line = |line: &str| match line.chars().next() {
        Some('+') => format!("{GOOD}{line}{GOOD:#}\n"),
        Some('-') => format!("{BAD}{line}{BAD:#}\n"),
        Some('@') => format!("{DIM}{line}{DIM:#}\n"),
        _ => format!("{line}\n"),
    };
    diff.lines().map(line).collect()
}

fn ask(terminal: Terminal, question: &str) -> std::io::Result<bool> {
    use std::io::Write;
    write!(terminal.err(), "{BOLD}{question}{BOLD:#} [y/N] ")?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
