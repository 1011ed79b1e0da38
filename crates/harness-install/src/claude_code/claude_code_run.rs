// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hooks for one run of Claude Code: a settings file that `--settings` names. Measured on 2.1.325: its hooks run in
//! addition to those of the user's and the project's settings, and of two `--settings` only the last one counts.

use super::install::{collect_warnings, hooks, wires};
use crate::InstallError;
use crate::hooks::HookSettings;
use crate::run_settings::{OwnSandbox, RefusedArgument, RunAdditions, RunRequest, RunSettings};

pub(super) const CLAUDE_RUN_SETTINGS: RunSettings = RunSettings {
    refused_arguments: &[
        RefusedArgument::new(
            "--settings",
            "Claude Code reads only one such file: Tenterhook's hooks need it, and another one may turn hooks off",
        ),
        RefusedArgument::new("--bare", "Claude Code then runs no hooks"),
        RefusedArgument::new("--safe-mode", "Claude Code then runs no hooks"),
        RefusedArgument::new("--cloud", "the session then runs on another machine, without these hooks"),
        RefusedArgument::new(
            "--environment",
            "the session then runs on another machine, without these hooks",
        ),
        RefusedArgument::without_settings("--bg", BACKGROUND_REASON),
        RefusedArgument::without_settings("--background", BACKGROUND_REASON),
        RefusedArgument::without_settings("respawn", BACKGROUND_REASON),
    ],
    refused_variables: super::install::HOOKLESS_VARIABLES,
    redirecting_options: &["--setting-sources"],
    own_sandbox: Some(OwnSandbox {
        off_arguments: &["--settings", SANDBOX_OFF],
        off_settings: Some(SANDBOX_OFF),
        on_marker: Some("\"sandbox\""),
    }),
    build_additions,
};

/// Settings without Claude Code's own sandbox.
const SANDBOX_OFF: &str = r#"{"sandbox": {"enabled": false}}"#;

const BACKGROUND_REASON: &str =
    "a session in the background may start after the settings of this run were removed";

fn build_additions(request: &RunRequest<'_>) -> Result<RunAdditions, InstallError> {
    let order = request.own_request();
    let path = order.directory.join("settings.json");
    // The user's own status line stays.
    let editor =
        HookSettings { status: None, known: collect_warnings(&order, &path), ..hooks(&order, &wires())? };
    let args = vec!["--settings".into(), path.clone().into()];
    let mut additions = RunAdditions { args, ..RunAdditions::default() };
    let before = if request.is_sandboxed { SANDBOX_OFF } else { "" };
    additions.add_settings(path, before, &editor)?;
    Ok(additions)
}
