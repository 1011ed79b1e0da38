// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hooks for one run of Claude Code: a settings file that `--settings` names. Measured on 2.1.325: its hooks run in
//! addition to those of the user's and the project's settings, and of two `--settings` only the last one counts.

use super::install::{elsewhere, hooks, wires};
use crate::InstallError;
use crate::guarded_run::{RefusedOption, RunAdditions, RunRequest, RunSettings};
use crate::hooks::HookSettings;

pub(super) const RUN: RunSettings = RunSettings {
    refused_options: &[
        RefusedOption::new(
            "--settings",
            "Claude Code reads only one such file, and Tenterhook's hooks need it",
        ),
        RefusedOption::new("--bare", "Claude Code then runs no hooks"),
        RefusedOption::new("--safe-mode", "Claude Code then runs no hooks"),
    ],
    refused_variables: &["CLAUDE_CODE_SIMPLE", "CLAUDE_CODE_SAFE_MODE"],
    additions,
};

fn additions(request: &RunRequest<'_>) -> Result<RunAdditions, InstallError> {
    let order = request.order();
    let path = order.directory.join("settings.json");
    // The user's own status line stays.
    let editor = HookSettings { status: None, known: elsewhere(&order, &path), ..hooks(&order, &wires())? };
    let args = vec!["--settings".into(), path.clone().into()];
    let mut additions = RunAdditions { args, ..RunAdditions::default() };
    additions.add_settings(path, "", &editor)?;
    Ok(additions)
}
