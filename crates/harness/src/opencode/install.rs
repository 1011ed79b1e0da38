// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's plugin for OpenCode: one file of our own, in the directory whose files OpenCode loads by itself.

use serde_json::json;

use super::events;
use crate::Wiring;
use crate::install::{Content, InstallError, Installer, Order, Owned, Piece, Scope, marked};

const HARNESS: &str = "opencode";

pub(super) const INSTALLER: Installer = Installer {
    wired_as: HARNESS,
    variables: &["XDG_CONFIG_HOME"],
    directory: |ground, scope| match scope {
        Scope::User => Some(ground.variable_or("XDG_CONFIG_HOME", ".config")?.join("opencode")),
        Scope::Project(root) => Some(root.join(".opencode")),
        Scope::Machine(_) => None,
    },
    pieces,
};

/// The plugin; what is in quotes and between `@` is filled in.
const PLUGIN: &str = include_str!("plugin.js");

/// Longer than the small program takes, whatever it waits for.
const DEADLINE_MS: u64 = 60_000;

fn pieces(order: &Order) -> Result<Vec<Piece>, InstallError> {
    let guarded = events::EVENTS.iter().filter(|row| row.wiring == Wiring::Guard);
    let wired = events::EVENTS.iter().filter(|row| !matches!(row.wiring, Wiring::Left(_)));
    let shim = order.program_path("tenterhook-hook")?;
    let filled = [
        ("SHIM", json!(shim)),
        ("GUARDED", guarded.map(|row| row.native).collect()),
        ("WIRED", wired.map(|row| row.native).collect()),
        ("DEADLINE_MS", json!(DEADLINE_MS)),
    ];
    let plugin = filled.into_iter().fold(PLUGIN.to_owned(), |plugin, (name, value)| {
        plugin.replace(&format!("\"@{name}@\""), &value.to_string())
    });
    let owned = Owned {
        bytes: plugin.into_bytes(),
        mode: 0o644,
        is_ours: marked,
        holds: vec![json!(shim).to_string()],
        warnings: Vec::new(),
    };
    let path = order.directory.join("plugin").join("tenterhook.js");
    Ok(vec![Piece::new(path, Content::Owned(owned))])
}
