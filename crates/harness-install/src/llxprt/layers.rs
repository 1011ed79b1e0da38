// SPDX-License-Identifier: Apache-2.0 OR MIT
//! How LLxprt Code's other settings files affect Tenterhook's hooks in one of these files.

use std::path::{Path, PathBuf};

use jsonc_parser::ast::{Object, Value};

use super::HARNESS;
use super::install::{MACHINE_DIRECTORY, PROJECT_DIRECTORY, SETTINGS_FILE, is_our_command};
use crate::gemini::install::NAME;
use crate::{
    InstallRequest, InstallWarning, env_files,
    hooks::{elsewhere, off_by},
    jsonc,
};

pub(super) const HOOKS_ENABLED: &[&str] = &["hooksConfig", "enabled"];
pub(super) const HOOKS_DISABLED: &[&str] = &["hooksConfig", "disabled"];
pub(super) const TOOLS_ENABLE_HOOKS: &[&str] = &["tools", "enableHooks"];

/// Warnings about the other layers. `own` is the settings file that is written.
pub(super) fn warnings(order: &InstallRequest, own: &Path) -> Vec<InstallWarning> {
    if order.is_machine() {
        let mut warnings = vec![InstallWarning::note(
            "the hooks in the machine's settings replace those that accounts and projects have in theirs for the same \
             events; hooks in tenterhook.yaml still run",
        )];
        warnings.extend(moved_by_env_file(order));
        return warnings;
    }
    let files = files(order);
    let position = files.iter().position(|file| file == own);
    let later = position.and_then(|at| files.get(at + 1..)).unwrap_or_default();
    let mut warnings = elsewhere(later, own, |_, root| switched_off(root));
    // Both calls of `elsewhere` report a later file that cannot be read; keep one report.
    let by_name = elsewhere(&files, own, |_, root| disabled_by_name(root).into_iter().collect());
    let by_name: Vec<_> = by_name.into_iter().filter(|warning| !warnings.contains(warning)).collect();
    warnings.extend(by_name);
    warnings
}

/// Warnings about `.env` files that move the machine's settings to another path (measured on 0.11.0).
fn moved_by_env_file(order: &InstallRequest) -> Vec<InstallWarning> {
    let mut warnings = Vec::new();
    for path in env_files::env_files_of(order, PROJECT_DIRECTORY) {
        for variable in ["LLXPRT_SYSTEM_SETTINGS_PATH", "LLXPRT_CODE_SYSTEM_SETTINGS_PATH"] {
            if env_files::last_value(&path, variable).is_some() {
                warnings.push(InstallWarning::blocks(format!(
                    "`{variable}` is set in `{}`, so LLxprt Code does not read the machine's settings there: remove it",
                    path.display()
                )));
            }
        }
    }
    warnings
}

/// Settings files of all layers; the last takes precedence.
pub(super) fn files(order: &InstallRequest) -> Vec<PathBuf> {
    let user = order.user_directory.join(SETTINGS_FILE);
    let project = order.project.iter().map(|root| root.join(PROJECT_DIRECTORY).join(SETTINGS_FILE));
    let machine = order.variables.get("LLXPRT_SYSTEM_SETTINGS_PATH").filter(|path| path.is_absolute());
    let machine =
        machine.cloned().unwrap_or_else(|| Path::new("/").join(MACHINE_DIRECTORY).join(SETTINGS_FILE));
    let mut files: Vec<_> = std::iter::once(user).chain(project).chain([machine]).collect();
    // A session in the home directory reads only the user's settings.
    files.dedup();
    files
}

/// Warnings about a later layer that disables or replaces the hooks.
fn switched_off(root: &Object<'_>) -> Vec<InstallWarning> {
    let mut warnings: Vec<_> = off_by(root, TOOLS_ENABLE_HOOKS, false).into_iter().collect();
    let is_set = root.get_object("hooksConfig").is_some_and(|config| config.get("enabled").is_some());
    // The older name of the setting applies if the newer name is not set.
    let path = if is_set { HOOKS_ENABLED } else { &["hooks", "enabled"] };
    warnings.extend(off_by(root, path, false));
    warnings.extend(replaced(root));
    warnings
}

/// A warning if the list of disabled hooks contains Tenterhook's hooks.
pub(super) fn disabled_by_name(root: &Object<'_>) -> Option<InstallWarning> {
    let lists = ["hooksConfig", "hooks"].map(|section| root.get_object(section)?.get_array("disabled"));
    let is_ours = |name: &Value<'_>| {
        name.as_string_lit().is_some_and(|name| name.value == NAME || is_our_command(&name.value))
    };
    let [newer, older] = lists;
    let list = newer.or(older)?;
    list.elements.iter().any(is_ours).then(|| {
        InstallWarning::blocks("`hooksConfig.disabled` lists Tenterhook's hooks, so none of them will run")
    })
}

/// A warning about events for which a later layer replaces the hooks by a list without Tenterhook's hooks.
fn replaced(root: &Object<'_>) -> Option<InstallWarning> {
    let hooks = root.get_object("hooks")?;
    let is_replaced = |event: &&str| hooks.get(event).is_some() && !runs_ours(hooks, event);
    let events: Vec<_> = HARNESS.events.iter().map(|row| row.native).filter(is_replaced).collect();
    if events.is_empty() {
        return None;
    }
    let message = format!(
        "these settings replace your hooks, including Tenterhook's, at {}: install there too (`--scope project`, `--system`)",
        events.join(", ")
    );
    Some(InstallWarning::blocks(message))
}

fn runs_ours(hooks: &Object<'_>, event: &str) -> bool {
    let Some(groups) = hooks.get_array(event) else { return false };
    let groups = groups.elements.iter().filter_map(Value::as_object);
    let handlers = groups.filter_map(|group| group.get_array("hooks")).flat_map(|hooks| &hooks.elements);
    let mut commands = handlers.filter_map(Value::as_object).filter_map(jsonc::command);
    commands.any(is_our_command)
}
