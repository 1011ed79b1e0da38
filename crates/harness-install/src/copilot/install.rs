// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's own file among Copilot CLI's hook files. The person's are loaded everywhere; those of a
//! repository only in a folder that is trusted.

use super::HARNESS;
use crate::{
    Content, Installer, MachineScope, Piece, Scope, Warning,
    hooks::{self, Hooks, StatusLine, entries},
    jsonc::{Node, Signature, switch::Switch},
    line::StatusFile,
};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "copilot",
    variables: &["COPILOT_HOME"],
    directory: |ground, scope| match scope {
        Scope::User => ground.variable_or("COPILOT_HOME", ".copilot"),
        Scope::Project(root) => Some(root.join(".github")),
        Scope::Machine(_) => None,
    },
    machine: if cfg!(target_os = "linux") {
        MachineScope::Outranks { directory: "etc/github-copilot", bypasses: &[] }
    } else {
        MachineScope::Cannot("where Copilot CLI looks for the hooks of a machine was measured on Linux only")
    },
    pieces: |order| {
        let entries = entries(&HARNESS, |row| {
            Ok(Node::object([
                ("type", Node::text("command")),
                ("bash", Node::text(order.command("copilot", row.native)?)),
                ("timeoutSec", Node::Number(60)),
            ]))
        })?;
        let untrusted = matches!(order.scope, Scope::Project(_)).then(|| {
            Warning::note(
                "Copilot CLI loads a repository's hooks only in a folder it was told to trust; without `--scope \
                 project` they are loaded everywhere",
            )
        });
        let hooks = Hooks {
            entries,
            signature: SIGNATURE,
            status: None,
            switches: vec![Switch { path: &["version"], value: Node::Number(1), only_if_missing: true }],
            look: |_| Ok(Vec::new()),
            known: untrusted.into_iter().collect(),
        };
        let folder = if order.is_machine() { "policy.d" } else { "hooks" };
        let path = order.directory.join(folder).join("tenterhook.json");
        let mut pieces = vec![Piece::new(path, Content::Edited(Box::new(hooks)))];
        // A repository has no status line, only a person has.
        if matches!(order.scope, Scope::User) {
            let command = format!("{} copilot", order.program("tenterhook-status")?);
            let line = StatusFile(StatusLine { command, is_ours: is_our_status });
            let path = order.directory.join("settings.json");
            pieces.push(Piece::new(path, Content::Edited(Box::new(line))));
        }
        Ok(pieces)
    },
};

/// The status line we wrote, from whatever home.
fn is_our_status(command: &str) -> bool {
    command.starts_with('\'') && command.ends_with("/bin/tenterhook-status' copilot")
}

const SIGNATURE: Signature = Signature {
    marker: None,
    is_our_command: |command| hooks::is_our_command(&HARNESS, command),
    comes_last: false,
};
