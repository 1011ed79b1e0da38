// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's entries in Qwen Code's `settings.json`.
//!
//! The hook that is configured last decides, and another hook's `allow` overrides a deny. So Tenterhook's hooks
//! follow all others, and hooks that could override them are reported.

use jsonc_parser::ast::{Object, Value};
use tenterhook_event::EventKind;

use super::{HARNESS, safe_mode};
use crate::gemini::install::{TimeoutUnit, group, settings_of};
use crate::{
    FileContent, InstallWarning, Installer, MachineScope, ManagedFile, SettingsScope,
    hooks::{self, HookSettings, elsewhere, entries, look_at, off_by},
    jsonc::{self, HookSignature, JsonNode, switch::RequiredSetting},
};

/// Directory of the machine's settings, relative to the root of the file system.
pub(super) const MACHINE_DIRECTORY: &str =
    if cfg!(target_os = "macos") { "Library/Application Support/QwenCode" } else { "etc/qwen-code" };

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "qwen",
    variables: &[],
    directory: |ground, scope| match scope {
        SettingsScope::User => Some(ground.home?.join(".qwen")),
        SettingsScope::Project(root) => Some(root.join(".qwen")),
        SettingsScope::Machine(_) => None,
    },
    machine: MachineScope::Outranks {
        directory: MACHINE_DIRECTORY,
        bypasses: &[
            "`QWEN_CODE_SAFE_MODE` in a project's `.env` or `.qwen/.env`, or where Qwen Code is started",
            "the flags `--safe-mode` and `--bare`",
            "the variable `QWEN_CODE_SYSTEM_SETTINGS_PATH`, set where Qwen Code is started",
        ],
    },
    pieces: |order| {
        let path = order.directory.join("settings.json");
        let files = settings_of(order, ".qwen");
        let is_machine = order.is_machine();
        let look: fn(&Object<'_>) -> Vec<InstallWarning> = if is_machine { |_| Vec::new() } else { look_in };
        let mut known = elsewhere(&files, &path, |_, root| look(root));
        known.extend(safe_mode::warnings(order));
        let hooks = HookSettings {
            entries: entries(&HARNESS, |row| group(order, &HARNESS, row, TimeoutUnit::Seconds))?,
            signature: SIGNATURE,
            status: None,
            switches: if is_machine { machine_switches() } else { Vec::new() },
            look: if is_machine { |_| Ok(Vec::new()) } else { |text| look_at(text, |_, root| look_in(root)) },
            known,
        };
        Ok(vec![ManagedFile::new(path, FileContent::Edited(Box::new(hooks)))])
    },
};

/// Settings that turn hooks on. In the machine's settings they take precedence over an account's values.
fn machine_switches() -> Vec<RequiredSetting> {
    let switch = |path, value| RequiredSetting { path, value, only_if_missing: false };
    vec![switch(&["disableAllHooks"], JsonNode::Bool(false)), switch(safe_mode::SETTING, JsonNode::text("0"))]
}

const SIGNATURE: HookSignature = HookSignature { marker: None, is_our_command, comes_last: true };

fn is_our_command(command: &str) -> bool {
    hooks::is_our_command(&HARNESS, command)
}

fn look_in(root: &Object<'_>) -> Vec<InstallWarning> {
    let mut warnings: Vec<_> = off_by(root, &["disableAllHooks"], true).into_iter().collect();
    warnings.extend(off_by(root, &["hooksConfig", "enabled"], false));
    // Only pre-tool events are checked. For `PermissionRequest`, a deny takes precedence over an allow.
    for event in HARNESS.events.iter().filter(|row| row.kind == EventKind::PreTool).map(|row| row.native) {
        let groups = root.get_object("hooks").and_then(|hooks| hooks.get_array(event));
        let handlers = groups.iter().flat_map(|groups| &groups.elements).filter_map(Value::as_object);
        let handlers =
            handlers.filter_map(|group| group.get_array("hooks")).flat_map(|hooks| &hooks.elements);
        let commands = handlers.filter_map(Value::as_object).filter_map(jsonc::command);
        warnings.extend(commands.filter(|command| !is_our_command(command)).map(|command| {
            InstallWarning::note(format!(
                "another hook at `{event}` can allow what ours denies, because in Qwen Code an allow beats a deny: \
                 `{command}`"
            ))
        }));
    }
    warnings
}
