// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Server-managed settings of Claude Code. The client fetches them from the account's organisation and keeps a copy
//! in `remote-settings.json`. Measured on 2.1.325: while they are not empty, Claude Code silently ignores
//! `managed-settings.json` and `managed-settings.d`, including their hooks. Hooks of the user and of projects still
//! run.

use std::path::Path;

use jsonc_parser::ast::{Object, Value};

use super::install::{SIGNATURE, switched_off};
use crate::{
    InstallRequest, InstallWarning,
    hooks::look_into,
    jsonc::{self, JsoncSource, SettingsError},
};

/// Claude Code's copy of the server-managed settings, in the user's settings directory. It is empty if the
/// organisation has none.
pub(super) const FILE: &str = "remote-settings.json";

/// Warnings about server-managed settings that keep the hooks from running. An installation for the whole machine
/// checks every account; other installations check only the user's.
pub(super) fn warnings(order: &InstallRequest) -> Vec<InstallWarning> {
    let mut directories = vec![order.user_directory.clone()];
    directories.extend(order.account_homes.iter().map(|home| home.join(".claude")));
    directories.dedup();
    let mut warnings = Vec::new();
    for path in directories.into_iter().map(|directory| directory.join(FILE)) {
        warnings.extend(look_into(&path, |text| {
            if order.is_machine() {
                Ok(replaces_files(text, &path)?.into_iter().collect())
            } else {
                switched_off(text, &path)
            }
        }));
    }
    warnings
}

/// A warning if the server-managed settings replace the managed files and do not contain Tenterhook's hooks.
fn replaces_files(text: &str, path: &Path) -> Result<Option<InstallWarning>, SettingsError> {
    let source = JsoncSource::parse(jsonc::split_mark(text).1)?;
    let Some(root) = source.root()? else { return Ok(None) };
    if root.properties.is_empty() || runs_ours(root) {
        return Ok(None);
    }
    Ok(Some(InstallWarning::blocks(format!(
        "Claude Code ignores every file of managed settings, including Tenterhook's hooks, for the account with `{}`: its organisation \
         has server-managed settings. Add these hooks to the server-managed settings, or guard the account by itself \
         (`tenterhook install claude-code` without `--system`)",
        path.display()
    ))))
}

fn runs_ours(root: &Object<'_>) -> bool {
    let groups = root.get_object("hooks").and_then(|hooks| hooks.get_array("PreToolUse"));
    let groups = groups.iter().flat_map(|groups| &groups.elements).filter_map(Value::as_object);
    let handlers = groups.filter_map(|group| group.get_array("hooks")).flat_map(|hooks| &hooks.elements);
    let mut commands = handlers.filter_map(Value::as_object).filter_map(jsonc::command);
    commands.any(SIGNATURE.is_our_command)
}
