// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's entries in Gemini CLI's `settings.json`, which may hold comments.

use jsonc_parser::ast::Object;

use super::HARNESS;
use crate::install::{
    Content, InstallError, Installer, Order, Piece, Scope, Warning,
    hooks::{self, Hooks, elsewhere, entries, look_at, off_by},
    jsonc::{Node, Signature},
};
use crate::{EventRow, Harness};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "gemini",
    variables: &[],
    directory: |ground, scope| match scope {
        Scope::User => Some(ground.home?.join(".gemini")),
        Scope::Project(root) => Some(root.join(".gemini")),
        Scope::Machine(_) => None,
    },
    pieces: |order| {
        let path = order.directory.join("settings.json");
        let files = settings_of(order, ".gemini");
        let hooks = Hooks {
            entries: entries(&HARNESS, |row| group(order, &HARNESS, row, Timeout::Milliseconds))?,
            signature: SIGNATURE,
            status: None,
            switches: Vec::new(),
            look: |text| look_at(text, |_, root| switched_off(root)),
            known: elsewhere(&files, &path, |_, root| switched_off(root)),
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
    let projects = order.project.iter().map(|root| root.join(directory));
    std::iter::once(order.user_directory.clone())
        .chain(projects)
        .map(|directory| directory.join("settings.json"))
        .collect()
}

/// What turns our hooks off.
pub(crate) fn switched_off(root: &Object<'_>) -> Vec<Warning> {
    let mut warnings: Vec<_> = off_by(root, &["hooksConfig", "enabled"], false).into_iter().collect();
    let disabled = root.get_object("hooksConfig").and_then(|config| config.get_array("disabled"));
    let ours = |name: &jsonc_parser::ast::Value<'_>| {
        name.as_string_lit()
            .is_some_and(|name| name.value == NAME || name.value.contains("/bin/tenterhook-hook'"))
    };
    if disabled.is_some_and(|disabled| disabled.elements.iter().any(ours)) {
        warnings.push(Warning::blocks("`hooksConfig.disabled` names our hooks, so none of them will run"));
    }
    warnings
}
