// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::process::ExitCode;

use serde_json::json;

use tenterhook_self_update::install_method::InstallMethod;
use tenterhook_self_update::{build_target, release};

use super::running_program;
use crate::ask;
use crate::context::Context;
use crate::error::CommandError;
use crate::terminal::{BOLD, DIM, WARN};
use tenterhook_setup::versions;

/// Show version, build target and how this program was installed
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(super) fn run(context: &Context, _args: &Args) -> Result<ExitCode, CommandError> {
    let program = running_program()?;
    let home = context.unchecked_home();
    // A state directory written by a newer version is shown with its problem.
    let readable = context.home();
    let health = readable.as_ref().ok().and_then(|home| ask::get(home, "/v1/health").ok().flatten());
    let method = InstallMethod::detect(&program, home);
    let linking = if cfg!(target_feature = "crt-static") { "static" } else { "dynamic" };
    let commit = option_env!("TENTERHOOK_COMMIT");
    let upgrade = method.upgrade_command().unwrap_or("tenterhook self update");
    if context.terminal.json {
        context.terminal.print_json(&json!({
            "version": env!("CARGO_PKG_VERSION"),
            "commit": commit,
            "target": build_target(),
            "linking": linking,
            "program": program,
            "method": method.name(),
            "upgrade": upgrade,
            "release_key": release::compiled_in_key(),
            "versions": readable.as_ref().ok().map(|home| versions::to_json(home, health.as_ref())),
            "problem": readable.as_ref().err().map(|error| &error.message),
            "state": home.map(|home| &home.state),
            "config": home.map(|home| &home.config),
        }))?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = format!("{BOLD}tenterhook {}{BOLD:#}", env!("CARGO_PKG_VERSION"));
    if let Some(commit) = commit {
        text += &format!(" ({})", commit.get(..12).unwrap_or(commit));
    }
    let mut row = |name: &str, value: &str| text += &format!("\n  {DIM}{name:<12}{DIM:#} {value}");
    row("built for", &format!("{}, {linking}", build_target()));
    row("program", &program.display().to_string());
    row("installed by", method.name());
    row("upgrade with", upgrade);
    row("release key", release::compiled_in_key().unwrap_or("none (built from source)"));
    if let Ok(home) = readable {
        let hooks = versions::of_hook_programs(home);
        row("hooks", hooks.as_ref().map_or("not installed", |found| found.version.as_str()));
        let daemon = health.as_ref().and_then(|health| health.get("version")?.as_str());
        row("daemon", daemon.unwrap_or("not running"));
    }
    if let Some(home) = home {
        row("state", &home.state.display().to_string());
        row("settings", &home.config.display().to_string());
    }
    if let Err(error) = context.home()
        && home.is_some()
    {
        text += &format!("\n{WARN}warning{WARN:#}: {}", error.message);
    }
    context.terminal.print(&(text + "\n"))?;
    Ok(ExitCode::SUCCESS)
}
