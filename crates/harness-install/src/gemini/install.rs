// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's entries in Gemini CLI's `settings.json`, which may hold comments.

use jsonc_parser::ast::Object;

use super::HARNESS;
use crate::{
    Content, InstallError, Installer, MachineScope, Order, Piece, Scope, Warning,
    hooks::{self, Hooks, elsewhere, entries, look_at, off_by},
    jsonc::{Node, Signature, switch::Switch},
};
use tenterhook_harness::{EventRow, Harness};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "gemini",
    variables: &[],
    directory: |ground, scope| match scope {
        Scope::User => Some(ground.home?.join(".gemini")),
        Scope::Project(root) => Some(root.join(".gemini")),
        Scope::Machine(_) => None,
    },
    machine: MachineScope::Outranks {
        directory: if cfg!(target_os = "macos") {
            "Library/Application Support/GeminiCli"
        } else {
            "etc/gemini-cli"
        },
        bypasses: &[
            "`hooksConfig.disabled` in the settings of an account or of a trusted project, if it names `tenterhook`",
            "the variable `GEMINI_CLI_SYSTEM_SETTINGS_PATH`, set where Gemini CLI is started",
            "a folder that is not trusted: Gemini CLI runs no hooks there, and does not start without a terminal",
        ],
    },
    pieces: |order| {
        let path = order.directory.join("settings.json");
        let files = settings_of(order, ".gemini");
        let is_machine = order.is_machine();
        let look: fn(&Object<'_>) -> Vec<Warning> = if is_machine { disabled_by_name } else { switched_off };
        // Set here, an account's own value does not count.
        let enabled =
            Switch { path: &["hooksConfig", "enabled"], value: Node::Bool(true), only_if_missing: false };
        let hooks = Hooks {
            entries: entries(&HARNESS, |row| group(order, &HARNESS, row, Timeout::Milliseconds))?,
            signature: SIGNATURE,
            status: None,
            switches: is_machine.then_some(enabled).into_iter().collect(),
            look: if is_machine {
                |text| look_at(text, |_, root| disabled_by_name(root))
            } else {
                |text| look_at(text, |_, root| switched_off(root))
            },
            known: elsewhere(&files, &path, |_, root| look(root)),
        };
        Ok(vec![Piece::new(path, Content::Edited(Box::new(hooks)))])
    },
};

const SIGNATURE: Signature = Signature {
    marker: None,
    is_our_command: |command| hooks::is_our_command(&HARNESS, command),
    comes_last: false,
};

/// The name our hooks have where hooks have names.
pub(crate) const NAME: &str = "tenterhook";

/// How long a harness waits for a hook of ours, in seconds: longer than we let ourselves take.
const PATIENCE: u64 = 60;

/// In what a harness counts time.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Timeout {
    Milliseconds,
    Seconds,
}

/// One group, in the form that Gemini CLI and its kin share.
pub(crate) fn group(
    order: &Order,
    harness: &Harness,
    row: &EventRow,
    timeout: Timeout,
) -> Result<Node, InstallError> {
    let patience = match timeout {
        Timeout::Milliseconds => PATIENCE * 1000,
        Timeout::Seconds => PATIENCE,
    };
    let handler = Node::object([
        ("type", Node::text("command")),
        ("name", Node::text(NAME)),
        ("command", Node::text(order.strict_command(harness.id, row)?)),
        ("timeout", Node::Number(patience)),
    ]);
    Ok(Node::object([("hooks", Node::List(vec![handler]))]))
}

/// The settings files that the harness reads.
pub(crate) fn settings_of(order: &Order, directory: &str) -> Vec<std::path::PathBuf> {
    let below = order.account_homes.iter().chain(&order.project).map(|home| home.join(directory));
    let mut files = vec![order.user_directory.join("settings.json")];
    for file in below.map(|directory| directory.join("settings.json")) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// What turns our hooks off.
pub(crate) fn switched_off(root: &Object<'_>) -> Vec<Warning> {
    let mut warnings: Vec<_> = off_by(root, &["hooksConfig", "enabled"], false).into_iter().collect();
    warnings.extend(disabled_by_name(root));
    warnings
}

/// Whether the list of hooks that do not run names ours. The lists of all settings files are united.
fn disabled_by_name(root: &Object<'_>) -> Vec<Warning> {
    let disabled = root.get_object("hooksConfig").and_then(|config| config.get_array("disabled"));
    let ours = |name: &jsonc_parser::ast::Value<'_>| {
        name.as_string_lit()
            .is_some_and(|name| name.value == NAME || name.value.contains("/bin/tenterhook-hook'"))
    };
    let is_disabled = disabled.is_some_and(|disabled| disabled.elements.iter().any(ours));
    let says = "`hooksConfig.disabled` names our hooks, so none of them will run";
    is_disabled.then(|| Warning::blocks(says)).into_iter().collect()
}
