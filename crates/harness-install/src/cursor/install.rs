// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's entries in Cursor's `hooks.json`: one handler each, without groups.

use super::HARNESS;
use crate::{
    Content, Installer, MachineScope, Piece, Scope, Warning,
    hooks::{self, Hooks, entries},
    jsonc::{Node, Signature, switch::Switch},
};
use tenterhook_harness::Wiring;

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "cursor",
    variables: &[],
    directory: |ground, scope| match scope {
        Scope::User => Some(ground.home?.join(".cursor")),
        Scope::Project(root) => Some(root.join(".cursor")),
        Scope::Machine(_) => None,
    },
    machine: MachineScope::Cannot(
        "whether the hooks in `/etc/cursor` hold against those of an account was not measured: Cursor cannot be run headless here",
    ),
    pieces: |order| {
        let entries = entries(&HARNESS, |row| {
            let command = Node::text(order.command("cursor", row.native)?);
            let mut handler = vec![("command", command), ("timeout", Node::Number(60))];
            if row.wiring == Wiring::Guard {
                handler.push(("failClosed", Node::Bool(true)));
            }
            Ok(Node::object(handler))
        })?;
        let hooks = Hooks {
            entries,
            signature: SIGNATURE,
            status: None,
            switches: vec![Switch { path: &["version"], value: Node::Number(1), only_if_missing: true }],
            look: |_| Ok(Vec::new()),
            known: vec![Warning::note(
                "a Cursor that does not know one of these events ignores the whole file without a word: look under \
                 Hooks in its settings, or see with `tenterhook doctor --probe cursor` that it calls",
            )],
        };
        let path = order.directory.join("hooks.json");
        Ok(vec![Piece::new(path, Content::Edited(Box::new(hooks)))])
    },
};

const SIGNATURE: Signature = Signature {
    marker: None,
    is_our_command: |command| hooks::is_our_command(&HARNESS, command),
    comes_last: false,
};
