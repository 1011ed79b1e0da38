// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Safe mode of Qwen Code. In safe mode it runs no hooks of any settings file, including the machine's. Measured on
//! 0.24.4: a project's `.env` can turn safe mode on, and the tools stay available. The variable of `--bare` has the same
//! effect on hooks.

use crate::{
    InstallRequest, InstallWarning,
    env_files::{self, is_on},
    hooks::elsewhere,
};

const VARIABLE: &str = "QWEN_CODE_SAFE_MODE";

/// Variables with which Qwen Code runs no hooks.
pub(super) const HOOKLESS_VARIABLES: &[&str] = &[VARIABLE, "QWEN_CODE_SIMPLE"];

/// The setting that sets the variable.
pub(super) const SETTING: &[&str] = &["env", VARIABLE];

/// Warnings about files that turn on safe mode where the user works.
pub(super) fn warnings(order: &InstallRequest) -> Vec<InstallWarning> {
    let message = |path: &std::path::Path, variable: &str| {
        InstallWarning::blocks(format!(
            "`{variable}` is set in `{}`, and Qwen Code then runs no hooks: remove it",
            path.display()
        ))
    };
    let files = env_files::env_files_of(order, ".qwen");
    let is_set = |path: &std::path::Path, variable: &str| {
        env_files::last_value(path, variable).is_some_and(|value| is_on(&value))
    };
    let mut warnings = Vec::new();
    for variable in HOOKLESS_VARIABLES {
        let found = files.iter().filter(|path| is_set(path, variable));
        warnings.extend(found.map(|path| message(path, variable)));
    }
    // The machine's settings turn the variable off and take precedence, so no warning is needed there.
    if !order.is_machine() {
        let settings = crate::gemini::install::settings_of(order, ".qwen");
        warnings.extend(elsewhere(&settings, std::path::Path::new(""), |_, root| {
            let env = root.get_object("env");
            let is_set = |variable: &&&str| {
                let value = env.and_then(|env| env.get_string(variable));
                value.is_some_and(|value| is_on(&value.value))
            };
            let found = HOOKLESS_VARIABLES.iter().filter(is_set);
            let message = |variable: &&str| {
                InstallWarning::blocks(format!(
                    "`env.{variable}` is set, and Qwen Code then runs no hooks: remove it"
                ))
            };
            found.map(message).collect()
        }));
    }
    warnings
}
