// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's own file among the hook files of VS Code's built-in agent. Copilot CLI reads the same directory, but
//! Tenterhook writes a separate file for it. When Copilot CLI runs the entries of this file, they do nothing.

use super::HARNESS;
use crate::{
    FileContent, Installer, MachineScope, ManagedFile, SettingsScope,
    hooks::{self, HookSettings, entries},
    jsonc::{HookSignature, JsonNode},
};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "vscode",
    variables: &[],
    directory: |ground, scope| match scope {
        SettingsScope::User => Some(ground.home?.join(".copilot")),
        SettingsScope::Project(root) => Some(root.join(".github")),
        SettingsScope::Machine(_) => None,
    },
    machine: MachineScope::Cannot(
        "machine-wide hooks of VS Code were not tested, because VS Code cannot run headless here",
    ),
    pieces: |order| {
        let entries = entries(&HARNESS, |row| {
            let command = format!("{NOT_COPILOT}{}", order.command("vscode", row.native)?);
            Ok(JsonNode::object([
                ("type", JsonNode::text("command")),
                ("command", JsonNode::text(command)),
                ("timeout", JsonNode::Number(60)),
            ]))
        })?;
        let hooks = HookSettings {
            entries,
            signature: SIGNATURE,
            status: None,
            switches: Vec::new(),
            look: |_| Ok(Vec::new()),
            known: Vec::new(),
        };
        let path = order.directory.join("hooks").join("tenterhook-vscode.json");
        Ok(vec![ManagedFile::new(path, FileContent::Edited(Box::new(hooks)))])
    },
};

/// Shell prefix that skips the hook under Copilot CLI, which sets this variable for its hooks.
const NOT_COPILOT: &str = "[ -n \"$COPILOT_CLI\" ] || ";

const SIGNATURE: HookSignature = HookSignature {
    marker: None,
    is_our_command: |command| {
        command.strip_prefix(NOT_COPILOT).is_some_and(|command| hooks::is_our_command(&HARNESS, command))
    },
    comes_last: false,
};
