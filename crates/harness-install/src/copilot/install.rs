// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's own file among Copilot CLI's hook files. Copilot always loads hook files in the user's directory, but
//! those of a repository only in a trusted folder.

use super::HARNESS;
use crate::{
    FileContent, InstallWarning, Installer, MachineScope, ManagedFile, SettingsScope,
    hooks::{self, HookSettings, StatusLine, entries},
    jsonc::{HookSignature, JsonNode, switch::RequiredSetting},
    line::StatusFile,
};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "copilot",
    variables: &["COPILOT_HOME"],
    directory: |ground, scope| match scope {
        SettingsScope::User => ground.variable_or("COPILOT_HOME", ".copilot"),
        SettingsScope::Project(root) => Some(root.join(".github")),
        SettingsScope::Machine(_) => None,
    },
    machine: if cfg!(target_os = "linux") {
        MachineScope::Outranks { directory: "etc/github-copilot", bypasses: &[] }
    } else {
        MachineScope::Cannot("where Copilot CLI looks for the hooks of a machine was measured on Linux only")
    },
    pieces: |order| {
        let entries = entries(&HARNESS, |row| {
            Ok(JsonNode::object([
                ("type", JsonNode::text("command")),
                ("bash", JsonNode::text(order.command("copilot", row.native)?)),
                ("timeoutSec", JsonNode::Number(60)),
            ]))
        })?;
        let untrusted = matches!(order.scope, SettingsScope::Project(_)).then(|| {
            InstallWarning::note(
                "Copilot CLI loads a repository's hooks only in a folder it was told to trust; without `--scope \
                 project` they are loaded everywhere",
            )
        });
        let hooks = HookSettings {
            entries,
            signature: SIGNATURE,
            status: None,
            switches: vec![RequiredSetting {
                path: &["version"],
                value: JsonNode::Number(1),
                only_if_missing: true,
            }],
            look: |_| Ok(Vec::new()),
            known: untrusted.into_iter().collect(),
        };
        let folder = if order.is_machine() { "policy.d" } else { "hooks" };
        let path = order.directory.join(folder).join("tenterhook.json");
        let mut pieces = vec![ManagedFile::new(path, FileContent::Edited(Box::new(hooks)))];
        // Copilot reads the status line only from the user's settings.
        if matches!(order.scope, SettingsScope::User) {
            let command = format!("{} copilot", order.program("tenterhook-status")?);
            let line = StatusFile(StatusLine { command, is_ours: is_our_status });
            let path = order.directory.join("settings.json");
            pieces.push(ManagedFile::new(path, FileContent::Edited(Box::new(line))));
        }
        Ok(pieces)
    },
};

/// Whether Tenterhook wrote the status line command. The command may name any state directory.
fn is_our_status(command: &str) -> bool {
    command.starts_with('\'') && command.ends_with("/bin/tenterhook-status' copilot")
}

const SIGNATURE: HookSignature = HookSignature {
    marker: None,
    is_our_command: |command| hooks::is_our_command(&HARNESS, command),
    comes_last: false,
};
