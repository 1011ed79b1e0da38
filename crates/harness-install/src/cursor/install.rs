// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's entries in Cursor's `hooks.json`. Cursor has no groups: each entry is a single handler.

use super::HARNESS;
use crate::{
    FileContent, InstallWarning, Installer, MachineScope, ManagedFile, SettingsScope,
    hooks::{self, HookSettings, entries},
    jsonc::{HookSignature, JsonNode, switch::RequiredSetting},
};
use tenterhook_harness::InstallWiring;

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "cursor",
    variables: &[],
    directory: |ground, scope| match scope {
        SettingsScope::User => Some(ground.home?.join(".cursor")),
        SettingsScope::Project(root) => Some(root.join(".cursor")),
        SettingsScope::Machine(_) => None,
    },
    machine: MachineScope::Cannot(
        "it was not tested whether hooks in `/etc/cursor` take precedence over hooks of an account, because Cursor cannot run headless here",
    ),
    pieces: |order| {
        let entries = entries(&HARNESS, |row| {
            let command = JsonNode::text(order.command("cursor", row.native)?);
            let mut handler = vec![("command", command), ("timeout", JsonNode::Number(60))];
            if row.wiring == InstallWiring::Guard {
                handler.push(("failClosed", JsonNode::Bool(true)));
            }
            Ok(JsonNode::object(handler))
        })?;
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
            known: vec![InstallWarning::note(
                "a Cursor that does not know one of these events ignores the whole file without a word: look under \
                 Hooks in its settings, or see with `tenterhook doctor --probe cursor` that it calls",
            )],
        };
        let path = order.directory.join("hooks.json");
        Ok(vec![ManagedFile::new(path, FileContent::Edited(Box::new(hooks)))])
    },
};

const SIGNATURE: HookSignature = HookSignature {
    marker: None,
    is_our_command: |command| hooks::is_our_command(&HARNESS, command),
    comes_last: false,
};
