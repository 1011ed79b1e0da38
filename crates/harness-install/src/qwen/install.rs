// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's entries in Qwen Code's `settings.json`.
//!
//! There the hook that is configured last has the last word, and another hook's `allow` beats a deny: so ours
//! stand behind everybody else's, and whoever could speak against them is named.

use jsonc_parser::ast::{Object, Value};
use tenterhook_event::EventKind;

use super::{HARNESS, safe_mode};
use crate::gemini::install::{Timeout, group, settings_of};
use crate::{
    Content, Installer, MachineScope, Piece, Scope, Warning,
    hooks::{self, Hooks, elsewhere, entries, look_at, off_by},
    jsonc::{self, Node, Signature, switch::Switch},
};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "qwen",
    variables: &[],
    directory: |ground, scope| match scope {
        Scope::User => Some(ground.home?.join(".qwen")),
        Scope::Project(root) => Some(root.join(".qwen")),
        Scope::Machine(_) => None,
    },
    machine: MachineScope::Outranks {
        directory: if cfg!(target_os = "macos") {
            "Library/Application Support/QwenCode"
        } else {
            "etc/qwen-code"
        },
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
        let look: fn(&Object<'_>) -> Vec<Warning> = if is_machine { |_| Vec::new() } else { look_in };
        let mut known = elsewhere(&files, &path, |_, root| look(root));
        known.extend(safe_mode::warnings(order));
        let hooks = Hooks {
            entries: entries(&HARNESS, |row| group(order, &HARNESS, row, Timeout::Seconds))?,
            signature: SIGNATURE,
            status: None,
            switches: if is_machine { machine_switches() } else { Vec::new() },
            look: if is_machine { |_| Ok(Vec::new()) } else { |text| look_at(text, |_, root| look_in(root)) },
            known,
        };
        Ok(vec![Piece::new(path, Content::Edited(Box::new(hooks)))])
    },
};

/// Set in the settings of the machine, an account's own value does not count.
fn machine_switches() -> Vec<Switch> {
    let switch = |path, value| Switch { path, value, only_if_missing: false };
    vec![switch(&["disableAllHooks"], Node::Bool(false)), switch(safe_mode::SETTING, Node::text("0"))]
}

const SIGNATURE: Signature = Signature { marker: None, is_our_command, comes_last: true };

fn is_our_command(command: &str) -> bool {
    hooks::is_our_command(&HARNESS, command)
}

fn look_in(root: &Object<'_>) -> Vec<Warning> {
    let mut warnings: Vec<_> = off_by(root, &["disableAllHooks"], true).into_iter().collect();
    warnings.extend(off_by(root, &["hooksConfig", "enabled"], false));
    // At `PermissionRequest` a deny beats an allow.
    for event in HARNESS.events.iter().filter(|row| row.kind == EventKind::PreTool).map(|row| row.native) {
        let groups = root.get_object("hooks").and_then(|hooks| hooks.get_array(event));
        let handlers = groups.iter().flat_map(|groups| &groups.elements).filter_map(Value::as_object);
        let handlers =
            handlers.filter_map(|group| group.get_array("hooks")).flat_map(|hooks| &hooks.elements);
        let commands = handlers.filter_map(Value::as_object).filter_map(jsonc::command);
        warnings.extend(commands.filter(|command| !is_our_command(command)).map(|command| {
            Warning::note(format!(
                "another hook at `{event}` can allow what ours denies, because in Qwen Code an allow beats a deny: \
                 `{command}`"
            ))
        }));
    }
    warnings
}
