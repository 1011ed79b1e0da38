// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `run --sandbox --explain`: prints the paths of a sandbox and the rules behind them.

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_sandbox::{PathAccess, PathEntry};
use tenterhook_sandbox_run::SandboxPlan;

use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, tame};

/// Titles of the sections, in order.
const SECTIONS: &[(PathAccess, &str)] = &[
    (PathAccess::Write, "writable"),
    (PathAccess::Private, "private: empty, and removed after the run"),
    (PathAccess::ReadOnly, "read-only"),
    (PathAccess::Hidden, "hidden"),
    (PathAccess::Checked, "changes are undone after the run"),
];

pub(super) fn print(context: &Context, plan: &SandboxPlan) -> Result<ExitCode, CommandError> {
    if context.terminal.json {
        context.terminal.print_json(&json!({
            "level": plan.level,
            "profile": plan.profile,
            "network": plan.network,
            "project": plan.roots.project,
            "repositories": plan.roots.repositories.iter().map(|found| &found.root).collect::<Vec<_>>(),
            "searched_all": plan.searched_all,
            "paths": plan.sets.entries,
            "left_to_hooks": plan.sets.unexpressed,
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let home = &plan.roots.home;
    let mut text = format!("sandbox: {} (profile {})\n", plan.level.title(), plan.profile.profile);
    for (access, title) in SECTIONS {
        let entries: Vec<_> = plan.sets.with_access(*access).collect();
        if entries.is_empty() {
            continue;
        }
        let _ = writeln!(text, "\n{BOLD}{title}{BOLD:#}");
        let width =
            entries.iter().map(|entry| display(entry, home).chars().count()).max().unwrap_or_default();
        for entry in entries {
            let path = display(entry, home);
            let _ =
                writeln!(text, "  {}  {DIM}{}{DIM:#}", tame(&format!("{path:width$}")), tame(&entry.reason));
        }
    }
    let _ = writeln!(text, "\n{BOLD}left to hooks{BOLD:#}");
    let width = plan.sets.unexpressed.iter().map(|part| part.rule.len()).max().unwrap_or_default();
    let globs = plan.sets.unexpressed.iter().map(|part| part.glob.chars().count()).max().unwrap_or_default();
    for part in &plan.sets.unexpressed {
        let line = format!("{:width$}  {:globs$}", part.rule, part.glob);
        let _ = writeln!(text, "  {}  {DIM}{}{DIM:#}", tame(&line), part.why);
    }
    let _ = writeln!(text, "\neverything else is read-only; /tmp, /run and /dev are the sandbox's own");
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn display(entry: &PathEntry, home: &Path) -> String {
    let slash = if entry.is_directory { "/" } else { "" };
    match entry.path.strip_prefix(home) {
        Ok(rest) if !rest.as_os_str().is_empty() => format!("~/{}{slash}", rest.display()),
        _ => format!("{}{slash}", entry.path.display()),
    }
}
