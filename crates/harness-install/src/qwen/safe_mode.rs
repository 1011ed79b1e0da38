// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Safe mode of Qwen Code. In safe mode it runs no hooks of any settings file, including the machine's. Measured on
//! 0.24.4: a project's `.env` can turn safe mode on, and the tools stay available.

use crate::{
    InstallRequest, InstallWarning,
    env_files::{self, is_on},
    hooks::elsewhere,
};

const VARIABLE: &str = "QWEN_CODE_SAFE_MODE";

/// The setting that sets the variable.
pub(super) const SETTING: &[&str] = &["env", VARIABLE];

/// Warnings about files that turn on safe mode where the user works.
pub(super) fn warnings(order: &InstallRequest) -> Vec<InstallWarning> {
    let message = |path: &std::path::Path| {
        InstallWarning::blocks(format!(
            "`{VARIABLE}` is set in `{}`, and Qwen Code then runs no hooks: remove it",
            path.display()
        ))
    };
    let files = env_files::env_files_of(order, ".qwen");
    let mut warnings: Vec<_> = files
        .iter()
        .filter(|path| env_files::last_value(path, VARIABLE).is_some_and(|value| is_on(&value)))
        .map(|path| message(path))
        .collect();
    // The machine's settings turn the variable off and take precedence, so no warning is needed there.
    if !order.is_machine() {
        let settings = crate::gemini::install::settings_of(order, ".qwen");
        warnings.extend(elsewhere(&settings, std::path::Path::new(""), |_, root| {
            let value = root.get_object("env").and_then(|env| env.get_string(VARIABLE));
            let is_set = value.is_some_and(|value| is_on(&value.value));
            let message = format!("`env.{VARIABLE}` is set, and Qwen Code then runs no hooks: remove it");
            is_set.then(|| InstallWarning::blocks(message)).into_iter().collect()
        }));
    }
    warnings
}
