// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Hooks for one run of Qwen Code: a copy of the machine's settings with Tenterhook's hooks, which a variable names.
//! Measured on 0.24.4: the hooks run after those of the user's and the project's settings, and Qwen Code reads the file
//! regardless of its owner.

use std::path::{Path, PathBuf};

use super::install::{INSTALLER, MACHINE_DIRECTORY};
use crate::run_settings::{RefusedArgument, RunAdditions, RunRequest, RunSettings, first_editor, read_text};
use crate::{InstallError, InstallRequest, SettingsScope, WarningLevel};

/// Variable that names the machine's settings file.
const SYSTEM_SETTINGS: &str = "QWEN_CODE_SYSTEM_SETTINGS_PATH";

pub(super) const QWEN_RUN_SETTINGS: RunSettings = RunSettings {
    refused_arguments: &[
        RefusedArgument::new("--safe-mode", "Qwen Code then runs no hooks"),
        RefusedArgument::new("--bare", "Qwen Code then runs no hooks"),
    ],
    refused_variables: super::safe_mode::HOOKLESS_VARIABLES,
    redirecting_options: &[],
    own_sandbox: None,
    build_additions,
};

fn build_additions(request: &RunRequest<'_>) -> Result<RunAdditions, InstallError> {
    let machine = request.variables.get(SYSTEM_SETTINGS).map(PathBuf::from);
    let machine = machine.unwrap_or_else(|| Path::new("/").join(MACHINE_DIRECTORY).join("settings.json"));
    let order = InstallRequest {
        scope: SettingsScope::Machine(PathBuf::from("/")),
        account_homes: request.user.user_home.iter().cloned().collect(),
        ..request.own_request()
    };
    let mut additions = RunAdditions::default();
    if let Some((path, editor)) = first_editor((INSTALLER.pieces)(&order)?) {
        additions.variables.push((SYSTEM_SETTINGS, path.clone().into()));
        additions.add_settings(path, &read_text(&machine)?, editor.as_ref())?;
    }
    // The hooks of the machine's settings run even if the user's settings turn hooks off. Notes about other hooks
    // apply to every scope.
    if let Some((_, editor)) = first_editor((INSTALLER.pieces)(&request.own_request())?) {
        let mut warnings = editor.warnings("").map_err(|error| error.at(&machine))?;
        warnings.retain(|warning| warning.weight == WarningLevel::Note);
        additions.warnings.extend(warnings);
    }
    Ok(additions)
}
