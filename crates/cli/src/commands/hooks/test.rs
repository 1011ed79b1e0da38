// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_home::hook_packages::{self, PackageList, sample_run};

use super::{find_package, package_environment};
use crate::context::Context;
use crate::error::CommandError;
use crate::run_until_signal;
use crate::terminal::{BAD, DIM, GOOD, tame};

const EXAMPLES: &str = "\
Runs the hooks of a package with the samples in its `hook.yaml`, and compares their decisions with the expected \
ones. Nothing is recorded. A third-party package must be trusted first.

Examples:
  tenterhook hooks test env-guard";

/// Test a hook package with its samples
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Args {
    /// Name of the hook package
    name: String,
}

pub(super) fn run(context: &Context, args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let list = PackageList::read_for_update(home)?;
    let package = find_package(&list, &args.name)?;
    let dir = home.hook_packages().join(&package.name);
    let is_own = package.from.starts_with("template ");
    if !package.trusted && !is_own {
        return Err(CommandError::user(format!("hook package `{}` is not trusted", package.name))
            .hint(format!("read it, then run `tenterhook hooks trust {}`", package.name)));
    }
    let files = if is_own { hook_packages::read_files(&dir)? } else { package.files(home)? };
    let (manifest, hooks) = hook_packages::check(&dir, &files, &package_environment(context)?)?;
    let all = run_until_signal::run_until_signal(async {
        let mut all = Vec::new();
        for sample in &manifest.samples {
            all.push(sample_run::run_sample(&hooks, sample).await?);
        }
        Ok(all)
    })?;
    let exit = if all.iter().all(|one| one.ok) { ExitCode::SUCCESS } else { ExitCode::FAILURE };
    if context.terminal.json {
        context.terminal.print_json(&json!({"kit": package.name, "samples": all}))?;
        return Ok(exit);
    }
    let mut text = String::new();
    for one in &all {
        let (mark, style) = if one.ok { ("✓", GOOD) } else { ("✗", BAD) };
        let _ = writeln!(text, "{style}{mark}{style:#} {}: {}", tame(&one.title), one.decision.label());
        let notes = one.outcome.trace.iter().filter_map(|step| step.note.as_deref());
        let details = one.outcome.reason_with_nudge().into_iter().chain(notes.map(ToOwned::to_owned));
        for line in details.filter(|_| !one.ok || one.outcome.reason().is_some()) {
            let _ = writeln!(text, "  {DIM}{}{DIM:#}", tame(&line.replace('\n', " ")));
        }
        if !one.ok {
            let _ = writeln!(text, "  expected: {}", one.expect.label());
        }
    }
    context.terminal.print(&text)?;
    Ok(exit)
}
