// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's entries in LLxprt Code's `settings.json`. LLxprt Code runs hooks only if two settings turn them on.
//!
//! LLxprt Code merges its settings in layers: the user's, the project's, the machine's. Later layers take precedence.
//! If a later layer has hooks for an event, they replace all hooks of earlier layers for that event.

use std::path::{Path, PathBuf};

use super::{HARNESS, layers, trust};
use crate::gemini::install::{TimeoutUnit, group};
use crate::{
    FileContent, InstallError, InstallRequest, InstallWarning, Installer, MachineEnvironment, MachineScope,
    ManagedFile, SettingsEditor as _, SettingsScope, file,
    hooks::{self, HookSettings, entries, look_at},
    jsonc::{CreatedContainers, HookSignature, JsonNode, SettingsError, switch::RequiredSetting},
};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "llxprt",
    variables: &[
        "LLXPRT_CONFIG_HOME",
        "LLXPRT_DATA_HOME",
        "LLXPRT_SYSTEM_SETTINGS_PATH",
        "LLXPRT_CODE_TRUSTED_FOLDERS_PATH",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
    ],
    directory: |ground, scope| match scope {
        SettingsScope::User => user_directory(ground),
        SettingsScope::Project(root) => Some(root.join(PROJECT_DIRECTORY)),
        SettingsScope::Machine(_) => None,
    },
    machine: MachineScope::Outranks {
        directory: MACHINE_DIRECTORY,
        bypasses: &[
            "`LLXPRT_SYSTEM_SETTINGS_PATH` or `LLXPRT_CODE_SYSTEM_SETTINGS_PATH` in a project's `.env`, or set where LLxprt \
             Code is started",
            "a folder that is not trusted: LLxprt Code runs no hooks there, and `--allowed-tools` still runs tools",
        ],
    },
    pieces,
};

/// Name of the settings directory in a project. Earlier versions also used it in the home directory, for the user's
/// settings.
pub(super) const PROJECT_DIRECTORY: &str = ".llxprt";

/// Directory of the machine's settings, below the root of the file system.
pub(super) const MACHINE_DIRECTORY: &str =
    if cfg!(target_os = "macos") { "Library/Application Support/LlxprtCode" } else { "etc/llxprt-code" };

pub(super) const SETTINGS_FILE: &str = "settings.json";

/// File that marks a completed migration from the former directory. After the migration the client no longer reads
/// that directory.
const MIGRATION_MARKER: &str = ".migration-complete.json";

const SIGNATURE: HookSignature = HookSignature { marker: None, is_our_command, comes_last: false };

pub(super) fn is_our_command(command: &str) -> bool {
    hooks::is_our_command(&HARNESS, command)
}

fn pieces(order: &InstallRequest) -> Result<Vec<ManagedFile>, InstallError> {
    let path = order.directory.join(SETTINGS_FILE);
    let mut known = layers::warnings(order, &path);
    known.extend(trust::warnings(order));
    let mut pieces =
        vec![ManagedFile::new(path.clone(), FileContent::Edited(Box::new(hooks(order, known)?)))];
    let former = former_settings(order).filter(|former| *former != path);
    if let (Some(former), Some(first)) = (former, pieces.first_mut()) {
        first.copied_from = Some(former.clone());
        // After copying, the client leaves the old file in place, with Tenterhook's entries in it. Uninstalling must
        // remove them too.
        let hooks = HookSettings { look: |_| Ok(Vec::new()), ..hooks(order, Vec::new())? };
        if holds_ours(&hooks, &former) {
            pieces.push(ManagedFile::new(former, FileContent::Edited(Box::new(hooks))));
        }
    }
    Ok(pieces)
}

fn hooks(order: &InstallRequest, known: Vec<InstallWarning>) -> Result<HookSettings, InstallError> {
    let is_machines = matches!(order.scope, SettingsScope::Machine(_));
    let on = |path| RequiredSetting { path, value: JsonNode::Bool(true), only_if_missing: false };
    let mut switches = vec![on(layers::HOOKS_ENABLED), on(layers::TOOLS_ENABLE_HOOKS)];
    if is_machines {
        // Without this empty list, the list of a project would apply and could disable Tenterhook's hooks.
        switches.push(RequiredSetting {
            path: layers::HOOKS_DISABLED,
            value: JsonNode::List(Vec::new()),
            only_if_missing: false,
        });
    }
    Ok(HookSettings {
        entries: entries(&HARNESS, |row| group(order, &HARNESS, row, TimeoutUnit::Milliseconds))?,
        signature: SIGNATURE,
        status: None,
        switches,
        look: if is_machines { |_| Ok(Vec::new()) } else { look },
        known,
    })
}

/// Warnings about the settings file that is written. It does not check the switches, because the installer sets them.
fn look(text: &str) -> Result<Vec<InstallWarning>, SettingsError> {
    look_at(text, |_, root| layers::disabled_by_name(root).into_iter().collect())
}

fn holds_ours(hooks: &HookSettings, path: &Path) -> bool {
    let Ok(Some(bytes)) = file::read(path) else { return false };
    let Ok(text) = file::text(path, &bytes) else { return false };
    hooks.contains(text, &CreatedContainers::default()).unwrap_or(false)
}

/// Path of the user's settings in earlier versions of the client.
fn former_settings(order: &InstallRequest) -> Option<PathBuf> {
    let home = order.user_home.as_ref().filter(|_| order.scope == SettingsScope::User)?;
    Some(home.join(PROJECT_DIRECTORY).join(SETTINGS_FILE))
}

/// Directory of the user's settings: the value of the client's variable, or the platform's directory. While only the
/// former directory has settings, it is used instead. The client copies it at its next start, including Tenterhook's
/// entries, but only if the new directory has no settings file.
fn user_directory(ground: &MachineEnvironment<'_>) -> Option<PathBuf> {
    if let Some(named) = ground.variable("LLXPRT_CONFIG_HOME") {
        return Some(named);
    }
    let home = ground.home?;
    let (new, data) = if cfg!(target_os = "macos") {
        let library = home.join("Library");
        (library.join("Preferences/llxprt-code"), library.join("Application Support/llxprt-code"))
    } else {
        let data = ground.variable_or("XDG_DATA_HOME", ".local/share")?;
        (ground.variable_or("XDG_CONFIG_HOME", ".config")?.join("llxprt-code"), data.join("llxprt-code"))
    };
    let data = ground.variable("LLXPRT_DATA_HOME").unwrap_or(data);
    let old = home.join(PROJECT_DIRECTORY);
    let is_copied = new.join(SETTINGS_FILE).exists() || data.join(MIGRATION_MARKER).exists();
    Some(if !is_copied && old.join(SETTINGS_FILE).exists() { old } else { new })
}
