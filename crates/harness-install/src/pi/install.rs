// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's extension for pi: one file of our own, in the directory whose files pi loads by itself.

use super::events;
use crate::{Content, InstallError, Installer, MachineScope, Order, Piece, Scope, plugin::plugin_file};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "pi",
    variables: &["PI_CODING_AGENT_DIR"],
    directory: |ground, scope| match scope {
        Scope::User => ground.variable_or("PI_CODING_AGENT_DIR", ".pi/agent"),
        Scope::Project(root) => Some(root.join(".pi")),
        Scope::Machine(_) => None,
    },
    machine: MachineScope::Cannot("pi has no settings or extensions of the machine"),
    pieces,
};

const EXTENSION: &str = include_str!("extension.js");

fn pieces(order: &Order) -> Result<Vec<Piece>, InstallError> {
    let path = order.directory.join("extensions/tenterhook.js");
    Ok(vec![Piece::new(path, Content::Owned(plugin_file(order, EXTENSION, events::EVENTS)?))])
}
