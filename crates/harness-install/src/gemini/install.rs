// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's entries in Gemini CLI's `settings.json`, which may contain comments.

use jsonc_parser::ast::Object;

use super::HARNESS;
use crate::{
    FileContent, InstallError, InstallRequest, InstallWarning, Installer, MachineScope, ManagedFile,
    SettingsScope,
    hooks::{self, HookSettings, elsewhere, entries, look_at, off_by},
    jsonc::{HookSignature, JsonNode, switch::RequiredSetting},
};
use tenterhook_harness::{EventRow, Harness};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "gemini",
    variables: &[],
    directory: |ground, scope| match scope {
        SettingsScope::User => Some(ground.home?.join(".gemini")),
        SettingsScope::Project(root) => Some(root.join(".gemini")),
        SettingsScope::Machine(_) => None,
    },
    machine: MachineScope::Outranks {
        directory: if cfg!(target_os = "macos") {
            "Library/Application Support/GeminiCli"
        } else {
            "etc/gemini-cli"
        },
        bypasses: &[
            "`hooksConfig.disabled` in the settings of an account or of a trusted project, if it names `tenterhook`",
            "the variable `GEMINI_CLI_SYSTEM_SETTINGS_PATH`, set where Gemini CLI is started",
            "a folder that is not trusted: Gemini CLI runs no hooks there, and does not start without a terminal",
        ],
    },
    pieces: |order| {
        let path = order.directory.join("settings.json");
        let files = settings_of(order, ".gemini");
        let is_machine = order.is_machine();
        let look: fn(&Object<'_>) -> Vec<InstallWarning> =
            if is_machine { disabled_by_name } else { switched_off };
        // In the machine's settings, this value takes precedence over an account's.
        let enabled = RequiredSetting {
            path: &["hooksConfig", "enabled"],
            value: JsonNode::Bool(true),
            only_if_missing: false,
        };
        let hooks = HookSettings {
            entries: entries(&HARNESS, |row| group(order, &HARNESS, row, TimeoutUnit::Milliseconds))?,
            signature: SIGNATURE,
            status: None,
            switches: is_machine.then_some(enabled).into_iter().collect(),
            look: if is_machine {
                |text| look_at(text, |_, root| disabled_by_name(root))
            } else {
                |text| look_at(text, |_, root| switched_off(root))
            },
            known: elsewhere(&files, &path, |_, root| look(root)),
        };
        Ok(vec![ManagedFile::new(path, FileContent::Edited(Box::new(hooks)))])
    },
};

const SIGNATURE: HookSignature = HookSignature {
    marker: None,
    is_our_command: |command| hooks::is_our_command(&HARNESS, command),
    comes_last: false,
};

/// Name of Tenterhook's hooks.
pub(crate) const NAME: &str = "tenterhook";

/// Timeout of a hook in seconds. It is longer than the hook program's own timeout.
const HOOK_TIMEOUT_SECONDS: u64 = 60;

/// Unit of timeouts in a harness's settings.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TimeoutUnit {
    Milliseconds,
    Seconds,
}

/// One hook group, in the format that Gemini CLI shares with the clients derived from it.
pub(crate) fn group(
    order: &InstallRequest,
    harness: &Harness,
    row: &EventRow,
    timeout: TimeoutUnit,
) -> Result<JsonNode, InstallError> {
    let patience = match timeout {
        TimeoutUnit::Milliseconds => HOOK_TIMEOUT_SECONDS * 1000,
        TimeoutUnit::Seconds => HOOK_TIMEOUT_SECONDS,
    };
    let handler = JsonNode::object([
        ("type", JsonNode::text("command")),
        ("name", JsonNode::text(NAME)),
        ("command", JsonNode::text(order.strict_command(harness.id, row)?)),
        ("timeout", JsonNode::Number(patience)),
    ]);
    Ok(JsonNode::object([("hooks", JsonNode::List(vec![handler]))]))
}

/// Settings files that the harness reads.
pub(crate) fn settings_of(order: &InstallRequest, directory: &str) -> Vec<std::path::PathBuf> {
    let below = order.account_homes.iter().chain(&order.project).map(|home| home.join(directory));
    let mut files = vec![order.user_directory.join("settings.json")];
    for file in below.map(|directory| directory.join("settings.json")) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// Warnings about settings that disable the hooks.
pub(crate) fn switched_off(root: &Object<'_>) -> Vec<InstallWarning> {
    let mut warnings: Vec<_> = off_by(root, &["hooksConfig", "enabled"], false).into_iter().collect();
    warnings.extend(disabled_by_name(root));
    warnings
}

/// A warning if the list of disabled hooks contains Tenterhook's hooks. Gemini CLI merges the lists of all settings
/// files.
fn disabled_by_name(root: &Object<'_>) -> Vec<InstallWarning> {
    let disabled = root.get_object("hooksConfig").and_then(|config| config.get_array("disabled"));
    let ours = |name: &jsonc_parser::ast::Value<'_>| {
        name.as_string_lit()
            .is_some_and(|name| name.value == NAME || name.value.contains("/bin/tenterhook-hook'"))
    };
    let is_disabled = disabled.is_some_and(|disabled| disabled.elements.iter().any(ours));
    let message = "`hooksConfig.disabled` lists Tenterhook's hooks, so none of them will run";
    is_disabled.then(|| InstallWarning::blocks(message)).into_iter().collect()
}
