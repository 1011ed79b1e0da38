// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::fmt::Write as _;
use std::process::ExitCode;

use serde_json::json;
use tenterhook_guard::Configuration;
use tenterhook_home::WorkDirs;
use tenterhook_home::hook_packages::{self, MANIFEST, Manifest, PackageEntry, PackageList};

use crate::commands::explain::programs::{self, ListedProgramHook};
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BAD, BOLD, DIM, GOOD, WARN, tame};

/// List hook packages, the hooks in your settings, and those of connected programs
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  tenterhook hooks list\n  tenterhook hooks list --json")]
pub(super) struct Args {}

pub(super) fn run(context: &Context, _args: &Args) -> Result<ExitCode, CommandError> {
    let home = context.home()?;
    let list = PackageList::read_for_update(home)?;
    let configuration = Configuration::read_trusted(home, &context.env, &WorkDirs::default());
    let programs = programs::list_program_hooks(home)?;
    let trust_status = |package: &PackageEntry| match (package.files(home), package.trusted) {
        (Err(failure), _) => ("changed", Some(failure.message)),
        (Ok(_), true) => ("trusted", None),
        (Ok(_), false) => ("not trusted", None),
    };
    let title = |package: &PackageEntry| {
        let text = tenterhook_home::regular_file(&home.hook_packages().join(&package.name).join(MANIFEST));
        let text = text.ok().flatten().unwrap_or_default();
        Manifest::read(MANIFEST, &text).map(|manifest| manifest.title).unwrap_or_default()
    };
    if context.terminal.json {
        let kits: Vec<_> = list
            .packages
            .iter()
            .map(|package| {
                let (standing, why) = trust_status(package);
                json!({"kit": package, "title": title(package), "sha256": hook_packages::digest(&package.files), "standing": standing, "why": why})
            })
            .collect();
        let hooks: Vec<_> = configuration
            .hooks
            .iter()
            .map(|hook| json!({"id": &*hook.id, "on": hook.on, "enabled": hook.enabled}))
            .collect();
        let programs: Option<Vec<_>> = programs.map(|hooks| {
            let hook = |hook: &ListedProgramHook| {
                json!({"id": hook.id, "program": hook.program, "on": hook.on, "enabled": hook.enabled})
            };
            hooks.iter().map(hook).collect()
        });
        context.terminal.print_json(&json!({"kits": kits, "hooks": hooks, "programs": programs}))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = String::new();
    for package in &list.packages {
        let (standing, why) = trust_status(package);
        let style = match standing {
            "trusted" => GOOD,
            "changed" => BAD,
            _ => WARN,
        };
        let _ = writeln!(
            text,
            "{BOLD}{:<26}{BOLD:#} {style}{standing}{style:#}  {} {DIM}{}{DIM:#}",
            package.name,
            tame(&title(package)),
            tame(&package.from)
        );
        if let Some(why) = why {
            let _ = writeln!(text, "  {DIM}→ {}{DIM:#}", tame(&why));
        }
    }
    for hook in &configuration.hooks {
        let on: Vec<_> = hook.on.iter().map(|kind| kind.name()).collect();
        let off = if hook.enabled { "" } else { ", off" };
        let _ =
            writeln!(text, "{GOOD}●{GOOD:#} {:<26} {DIM}on {}{off}{DIM:#}", tame(&hook.id), on.join(", "));
    }
    for hook in programs.iter().flatten() {
        let off = if hook.enabled { "" } else { ", off" };
        let (on, program) = (hook.on.join(", "), tame(&hook.program));
        let _ = writeln!(
            text,
            "{GOOD}●{GOOD:#} {:<26} {DIM}on {on}{off}; program {program}{DIM:#}",
            tame(&hook.id)
        );
    }
    if text.is_empty() {
        text += "no hooks yet; `tenterhook hooks new --list` lists templates\n";
    }
    if programs.is_none() {
        let _ = writeln!(text, "{DIM}no daemon is running: hooks of connected programs are unknown{DIM:#}");
    }
    context.terminal.print(&text)?;
    Ok(ExitCode::SUCCESS)
}
