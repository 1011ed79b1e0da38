// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's plugin for OpenCode: one file in the directory from which OpenCode loads plugins.

use super::events;
use crate::{
    FileContent, InstallError, InstallRequest, Installer, MachineScope, ManagedFile, SettingsScope,
    list_item::JsoncListEntry, plugin::plugin_file, utf8,
};

const HARNESS: &str = "opencode";

pub(super) const INSTALLER: Installer = Installer {
    wired_as: HARNESS,
    variables: &["XDG_CONFIG_HOME"],
    directory: |ground, scope| match scope {
        SettingsScope::User => Some(ground.variable_or("XDG_CONFIG_HOME", ".config")?.join("opencode")),
        SettingsScope::Project(root) => Some(root.join(".opencode")),
        SettingsScope::Machine(_) => None,
    },
    machine: MachineScope::Outranks {
        directory: if cfg!(target_os = "macos") {
            "Library/Application Support/opencode"
        } else {
            "etc/opencode"
        },
        bypasses: &[
            "the flag `--pure` and the variable `OPENCODE_PURE`, which load no plugins",
            "the variable `OPENCODE_TEST_MANAGED_CONFIG_DIR`, set where OpenCode is started",
        ],
    },
    pieces,
};

const PLUGIN_FILE: &str = "tenterhook.js";

/// Whether Tenterhook wrote the plugin path, for any root of the file system.
pub(super) fn is_our_plugin(name: &str) -> bool {
    name.starts_with("file:///") && name.ends_with("/opencode/tenterhook.js")
}

/// Template of the plugin; quoted names between `@` are replaced.
pub(super) const PLUGIN: &str = include_str!("plugin.js");

fn pieces(order: &InstallRequest) -> Result<Vec<ManagedFile>, InstallError> {
    let owned = plugin_file(order, PLUGIN, events::EVENTS)?;
    if !order.is_machine() {
        let path = order.directory.join("plugin").join(PLUGIN_FILE);
        return Ok(vec![ManagedFile::new(path, FileContent::Owned(owned))]);
    }
    // Plugins in the machine's directory are not loaded automatically; the settings have to name them.
    let path = order.directory.join(PLUGIN_FILE);
    let url = format!("file://{}", utf8(&path)?);
    let item = JsoncListEntry { key: "plugin", value: url, is_ours: is_our_plugin };
    Ok(vec![
        ManagedFile::new(order.directory.join("opencode.json"), FileContent::Edited(Box::new(item))),
        ManagedFile::new(path, FileContent::Owned(owned)),
    ])
}
