// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's plugin for OpenCode: one file of our own, in the directory whose files OpenCode loads by itself.

use super::events;
use crate::{
    Content, InstallError, Installer, MachineScope, Order, Piece, Scope, list_item::ListItem,
    plugin::plugin_file, utf8,
};

const HARNESS: &str = "opencode";

pub(super) const INSTALLER: Installer = Installer {
    wired_as: HARNESS,
    variables: &["XDG_CONFIG_HOME"],
    directory: |ground, scope| match scope {
        Scope::User => Some(ground.variable_or("XDG_CONFIG_HOME", ".config")?.join("opencode")),
        Scope::Project(root) => Some(root.join(".opencode")),
        Scope::Machine(_) => None,
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

/// The plugin we named, from whatever root.
fn is_our_plugin(name: &str) -> bool {
    name.starts_with("file:///") && name.ends_with("/opencode/tenterhook.js")
}

/// The plugin; what is in quotes and between `@` is filled in.
const PLUGIN: &str = include_str!("plugin.js");

fn pieces(order: &Order) -> Result<Vec<Piece>, InstallError> {
    let owned = plugin_file(order, PLUGIN, events::EVENTS)?;
    if !order.is_machine() {
        let path = order.directory.join("plugin").join(PLUGIN_FILE);
        return Ok(vec![Piece::new(path, Content::Owned(owned))]);
    }
    // Plugins of the machine's directory are not loaded by themselves; its settings have to name them.
    let path = order.directory.join(PLUGIN_FILE);
    let url = format!("file://{}", utf8(&path)?);
    let item = ListItem { key: "plugin", value: url, is_ours: is_our_plugin };
    Ok(vec![
        Piece::new(order.directory.join("opencode.json"), Content::Edited(Box::new(item))),
        Piece::new(path, Content::Owned(owned)),
    ])
}
