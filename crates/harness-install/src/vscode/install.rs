// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's own file among the hook files of VS Code's own agent. Copilot CLI reads the same directory, and
//! has a file of its own: where it runs, these entries say nothing.

use super::HARNESS;
use crate::{
    Content, Installer, MachineScope, Piece, Scope,
    hooks::{self, Hooks, entries},
    jsonc::{Node, Signature},
};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "vscode",
    variables: &[],
    directory: |ground, scope| match scope {
        Scope::User => Some(ground.home?.join(".copilot")),
        Scope::Project(root) => Some(root.join(".github")),
        Scope::Machine(_) => None,
    },
    machine: MachineScope::Cannot(
        "VS Code has no hooks of the machine that were measured: it cannot be run headless here",
    ),
    pieces: |order| {
        let entries = entries(&HARNESS, |row| {
            let command = format!("{NOT_COPILOT}{}", order.command("vscode", row.native)?);
            Ok(Node::object([
                ("type", Node::text("command")),
                ("command", Node::text(command)),
                ("timeout", Node::Number(60)),
            ]))
        })?;
        let hooks = Hooks {
            entries,
            signature: SIGNATURE,
            status: None,
            switches: Vec::new(),
            look: |_| Ok(Vec::new()),
            known: Vec::new(),
        };
        let path = order.directory.join("hooks").join("tenterhook-vscode.json");
        Ok(vec![Piece::new(path, Content::Edited(Box::new(hooks)))])
    },
};

/// Copilot CLI says so to its hooks.
const NOT_COPILOT: &str = "[ -n \"$COPILOT_CLI\" ] || ";

const SIGNATURE: Signature = Signature {
    marker: None,
    is_our_command: |command| {
        command.strip_prefix(NOT_COPILOT).is_some_and(|command| hooks::is_our_command(&HARNESS, command))
    },
    comes_last: false,
};
