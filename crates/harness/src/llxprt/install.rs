// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's entries in LLxprt Code's `settings.json`. Its hooks are off until two switches are on.

use jsonc_parser::ast::Object;

use super::HARNESS;
use crate::gemini::install::{Timeout, group, settings_of, switched_off};
use crate::install::{
    Content, Ground, Installer, Piece, Scope, Warning,
    hooks::{self, Hooks, elsewhere, entries, look_at, off_by},
    jsonc::{Node, Signature, switch::Switch},
};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "llxprt",
    variables: &["LLXPRT_CONFIG_HOME", "XDG_CONFIG_HOME"],
    directory: |ground, scope| match scope {
        Scope::User => user_directory(ground),
        Scope::Project(root) => Some(root.join(".llxprt")),
        Scope::Machine(_) => None,
    },
    pieces: |order| {
        let path = order.directory.join("settings.json");
        let files = settings_of(order, ".llxprt");
        // Whatever the project says of an event takes the place of what the person says of it.
        let is_users = order.scope == Scope::User;
        let hooks = Hooks {
            entries: entries(&HARNESS, |row| group(order, &HARNESS, row, Timeout::Milliseconds))?,
            signature: SIGNATURE,
            status: None,
            switches: SWITCHES
                .map(|path| Switch { path, value: Node::Bool(true), only_if_missing: false })
                .into(),
            look: |text| look_at(text, |_, root| named(root)),
            known: elsewhere(&files, &path, |_, root| {
                let mut warnings = switched_off(root);
                warnings.extend(off_by(root, &["tools", "enableHooks"], false));
                warnings.extend(is_users.then(|| replaced(root)).flatten());
                warnings
            }),
        };
        Ok(vec![Piece { path, content: Content::Edited(Box::new(hooks)) }])
    },
};

const SIGNATURE: Signature = Signature {
    marker: None,
    is_our_command: |command| hooks::is_our_command(&HARNESS, command),
    comes_last: false,
};

/// Both have to be on.
const SWITCHES: [&[&str]; 2] = [&["hooksConfig", "enabled"], &["tools", "enableHooks"]];

/// Where the person's settings are: as its own variable says, else where the platform has them. What lies in
/// the old place only is moved by its next start, our entries with it.
fn user_directory(ground: &Ground<'_>) -> Option<std::path::PathBuf> {
    if let Some(said) = ground.variable("LLXPRT_CONFIG_HOME") {
        return Some(said);
    }
    let home = ground.home?;
    let new = if cfg!(target_os = "macos") {
        home.join("Library/Preferences/llxprt-code")
    } else {
        ground.variable_or("XDG_CONFIG_HOME", ".config")?.join("llxprt-code")
    };
    let old = home.join(".llxprt");
    Some(if !new.exists() && old.join("settings.json").exists() { old } else { new })
}

/// In the file we write, the switches are ours to turn.
fn named(root: &Object<'_>) -> Vec<Warning> {
    let is_switch = |warning: &Warning| warning.says.starts_with("`hooksConfig.enabled`");
    switched_off(root).into_iter().filter(|warning| !is_switch(warning)).collect()
}

/// Whether a project takes our hooks' place.
fn replaced(root: &Object<'_>) -> Option<Warning> {
    let hooks = root.get_object("hooks")?;
    let events: Vec<_> =
        HARNESS.events.iter().map(|row| row.native).filter(|event| hooks.get(event).is_some()).collect();
    if events.is_empty() {
        return None;
    }
    let says = format!(
        "the project's own hooks take the place of yours, ours among them, at {}: install with `--scope project` there",
        events.join(", ")
    );
    Some(Warning::blocks(says))
}
