// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;
use tenterhook_authority::Action;
use tenterhook_guard::LedgerHandle;
use tenterhook_home::{
    WorkDirs,
    trust::{PROJECT_FILE, Standing, TrustStore, is_rule_file, project_files, read_project_file, sha256},
};
use tenterhook_policy::{RuleSet, RuleSource, SourceLayer};

use crate::confirm::{self, ProofArgs};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, BOLD, DIM, GOOD, WARN, style_of, tame};

const EXAMPLES: &str = "\
A project's .tenterhook.yaml may always deny and ask. Keys that could weaken protection or influence the agent \
(allow, nudge, rewrite, when, overrides, limit, label, its own messages) count only once you have read the file \
and trust it. Trust covers exactly that text: a changed file must be trusted again.

Examples:
  tenterhook rules trust
  tenterhook rules trust ~/work/shop
  tenterhook rules trust --list";

/// Trust a project's rule file after reading it
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(in crate::commands) struct TrustFileArgs {
    /// File, or its project [default: the current project]
    path: Option<PathBuf>,
    /// Accepted for scripts; a typed confirmation or a code is still needed
    #[arg(long, short, hide = true)]
    yes: bool,
    #[command(flatten)]
    proof: ProofArgs,
    /// List trusted files
    #[arg(long, conflicts_with_all = ["path", "yes"])]
    list: bool,
}

/// Stop trusting a project's rule file
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct UntrustFileArgs {
    /// File, or its project [default: the current project]
    path: Option<PathBuf>,
}

pub(in crate::commands) fn trust(context: &Context, args: &TrustFileArgs) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let mut trust = TrustStore::read(home)?;
    if args.list {
        return list_trusted(context, &trust);
    }
    let path = find_rule_file(context, args.path.as_deref())?;
    let text = read_project_file(&path)?
        .ok_or_else(|| CommandError::user(format!("file `{}` does not exist", path.display())))?;
    let standing = trust.standing(&path, &text);
    if !context.terminal.json {
        context.terminal.print(&preview_text(&path, &text, standing))?;
    }
    let trusted = standing == Standing::Trusted;
    if !trusted {
        let detail = json!({"path": path, "sha256": sha256(text.as_bytes())});
        confirm::require_confirmation(context, Action::PolicyTrust, detail, &args.proof)?;
        trust.add(&path, &text, tenterhook_home::call_meta::now());
        trust.write(home)?;
    }
    if context.terminal.json {
        context.terminal.print_json(&json!({"path": path, "trusted": true, "changed": !trusted}))?;
    } else if trusted {
        context.terminal.print("already trusted\n")?;
    } else {
        context
            .terminal
            .print(&format!("{GOOD}✓{GOOD:#} trusted; a changed file must be trusted again\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}

pub(in crate::commands) fn untrust(
    context: &Context,
    args: &UntrustFileArgs,
) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let mut trust = TrustStore::read(home)?;
    // The list may contain files that no longer exist.
    let path = match &args.path {
        Some(path) if path.is_dir() => path.join(PROJECT_FILE),
        Some(path) => path.clone(),
        None => find_rule_file(context, None)?,
    };
    let path = std::path::absolute(path)?;
    if !trust.remove(&path) {
        return Err(CommandError::user(format!("`{}` is not trusted", path.display()))
            .hint("run `tenterhook rules trust --list`"));
    }
    LedgerHandle::of(home).record_change("policy untrust", json!({"path": path}))?;
    trust.write(home)?;
    if context.terminal.json {
        context.terminal.print_json(&json!({"path": path, "trusted": false}))?;
    } else {
        context.terminal.print(&format!(
            "{GOOD}✓{GOOD:#} `{}` is no longer trusted: only its rules that deny or ask count\n",
            path.display()
        ))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn list_trusted(context: &Context, trust: &TrustStore) -> Result<ExitCode, CommandError> {
    let standing = |path: &Path| match read_project_file(path) {
        Ok(Some(text)) => trust.standing(path, &text).word(),
        Ok(None) => "gone",
        Err(_) => "cannot be read",
    };
    if context.terminal.json {
        let files: Vec<_> = trust
            .trusted
            .iter()
            .map(|(path, entry)| {
                json!({"path": path, "sha256": entry.sha256, "since": entry.since, "standing": standing(path)})
            })
            .collect();
        context.terminal.print_json(&files)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for (path, entry) in &trust.trusted {
        let word = standing(path);
        let style = if word == "trusted" { GOOD } else { BAD };
        let _ = writeln!(text, "{} {style}{word}{style:#} {DIM}since {}{DIM:#}", path.display(), entry.since);
    }
    if trust.trusted.is_empty() {
        text += "no project file is trusted\n";
    }
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

/// Finds the rule file: the given one, the one in the given directory, or the nearest one to the current directory.
fn find_rule_file(context: &Context, path: Option<&Path>) -> Result<PathBuf, CommandError> {
    let none = |place: &Path| {
        CommandError::user(format!("no `{PROJECT_FILE}` in `{}`", place.display()))
            .hint("change to the project, or name the file: `tenterhook rules trust PATH`")
    };
    match path {
        Some(path) if path.is_dir() => {
            let file = path.join(PROJECT_FILE);
            if file.exists() { Ok(std::path::absolute(file)?) } else { Err(none(path)) }
        }
        Some(path) => Ok(std::path::absolute(path)?),
        None => {
            let here = WorkDirs::at(std::env::current_dir().ok()).cwd.unwrap_or_default();
            let files = project_files(&here, None, context.env.home.as_deref());
            files.into_iter().rfind(|path| is_rule_file(path)).ok_or_else(|| none(&here))
        }
    }
}

/// Formats the file's content and the rules that it would add.
fn preview_text(path: &Path, text: &str, standing: Standing) -> String {
    let mut shown = format!("{BOLD}{}{BOLD:#} {WARN}{}{WARN:#}\n", path.display(), standing.word());
    for (at, line) in text.lines().enumerate() {
        let _ = writeln!(shown, "  {DIM}{:>4} │{DIM:#} {}", at + 1, tame(line));
    }
    let name = path.display().to_string();
    let source = RuleSource { name: &name, text, layer: SourceLayer::Project, trusted: true };
    let loaded = RuleSet::load(&[source]);
    for rule in loaded.rules.rules() {
        let style = style_of(rule.verdict());
        let _ = writeln!(
            shown,
            "{style}{:<5}{style:#} {} {DIM}{}{DIM:#}",
            rule.verdict(),
            rule.id(),
            tame(rule.description())
        );
    }
    for problem in &loaded.problems {
        let _ = writeln!(shown, "{BAD}problem{BAD:#} {}", tame(&problem.to_string()));
    }
    shown
}
