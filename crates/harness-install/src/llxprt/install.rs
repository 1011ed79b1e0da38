// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's entries in LLxprt Code's `settings.json`. Its hooks are off until two switches are on.
//!
//! LLxprt Code merges its settings in layers, the last of which wins: the user's, the project's, the machine's. The
//! list of hooks of an event is replaced as a whole by the list of a later layer.

use std::path::{Path, PathBuf};

use super::{HARNESS, layers, trust};
use crate::gemini::install::{Timeout, group};
use crate::{
    Content, Editor as _, Ground, InstallError, Installer, MachineScope, Order, Piece, Scope, Warning, file,
    hooks::{self, Hooks, entries, look_at},
    jsonc::{Created, Flaw, Node, Signature, switch::Switch},
};

pub(super) const INSTALLER: Installer = Installer {
    wired_as: "llxprt",
    variables: &[
        "LLXPRT_CONFIG_HOME",
        "LLXPRT_DATA_HOME",
        "LLXPRT_SYSTEM_SETTINGS_PATH",
        "LLXPRT_CODE_TRUSTED_FOLDERS_PATH",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
    ],
    directory: |ground, scope| match scope {
        Scope::User => user_directory(ground),
        Scope::Project(root) => Some(root.join(PROJECT_DIRECTORY)),
        Scope::Machine(_) => None,
    },
    machine: MachineScope::Outranks {
        directory: MACHINE_DIRECTORY,
        bypasses: &[
            "`LLXPRT_SYSTEM_SETTINGS_PATH` or `LLXPRT_CODE_SYSTEM_SETTINGS_PATH` in a project's `.env`, or set where LLxprt \
             Code is started",
            "a folder that is not trusted: LLxprt Code runs no hooks there, and `--allowed-tools` still runs tools",
        ],
    },
    pieces,
};

/// The directory of a project that has its settings; below the user's home, the old place of the user's.
pub(super) const PROJECT_DIRECTORY: &str = ".llxprt";

/// The directory with the settings of the machine, below the root of its file system.
pub(super) const MACHINE_DIRECTORY: &str =
    if cfg!(target_os = "macos") { "Library/Application Support/LlxprtCode" } else { "etc/llxprt-code" };

pub(super) const SETTINGS_FILE: &str = "settings.json";

/// Written to the data directory when the client has copied the old place to the new one. It never looks there again.
const MIGRATION_MARKER: &str = ".migration-complete.json";

const SIGNATURE: Signature = Signature { marker: None, is_our_command, comes_last: false };

pub(super) fn is_our_command(command: &str) -> bool {
    hooks::is_our_command(&HARNESS, command)
}

fn pieces(order: &Order) -> Result<Vec<Piece>, InstallError> {
    let path = order.directory.join(SETTINGS_FILE);
    let mut known = layers::warnings(order, &path);
    known.extend(trust::warnings(order));
    let mut pieces = vec![Piece::new(path.clone(), Content::Edited(Box::new(hooks(order, known)?)))];
    let former = former_settings(order).filter(|former| *former != path);
    if let (Some(former), Some(first)) = (former, pieces.first_mut()) {
        first.copied_from = Some(former.clone());
        // The client leaves the old file behind, with our entries in it.
        let hooks = Hooks { look: |_| Ok(Vec::new()), ..hooks(order, Vec::new())? };
        if holds_ours(&hooks, &former) {
            pieces.push(Piece::new(former, Content::Edited(Box::new(hooks))));
        }
    }
    Ok(pieces)
}

fn hooks(order: &Order, known: Vec<Warning>) -> Result<Hooks, InstallError> {
    let is_machines = matches!(order.scope, Scope::Machine(_));
    let on = |path| Switch { path, value: Node::Bool(true), only_if_missing: false };
    let mut switches = vec![on(layers::HOOKS_ENABLED), on(layers::TOOLS_ENABLE_HOOKS)];
    if is_machines {
        // Without a list here, that of a project would count, and could name our hooks.
        switches.push(Switch {
            path: layers::HOOKS_DISABLED,
            value: Node::List(Vec::new()),
            only_if_missing: false,
        });
    }
    Ok(Hooks {
        entries: entries(&HARNESS, |row| group(order, &HARNESS, row, Timeout::Milliseconds))?,
        signature: SIGNATURE,
        status: None,
        switches,
        look: if is_machines { |_| Ok(Vec::new()) } else { look },
        known,
    })
}

/// Warnings about the file that we write. The switches in it are ours to turn.
fn look(text: &str) -> Result<Vec<Warning>, Flaw> {
    look_at(text, |_, root| layers::disabled_by_name(root).into_iter().collect())
}

fn holds_ours(hooks: &Hooks, path: &Path) -> bool {
    let Ok(Some(bytes)) = file::read(path) else { return false };
    let Ok(text) = file::text(path, &bytes) else { return false };
    hooks.holds(text, &Created::default()).unwrap_or(false)
}

/// The user's settings of earlier versions.
fn former_settings(order: &Order) -> Option<PathBuf> {
    let home = order.user_home.as_ref().filter(|_| order.scope == Scope::User)?;
    Some(home.join(PROJECT_DIRECTORY).join(SETTINGS_FILE))
}

/// The directory of the user's settings: the one its own variable names, else that of the platform. While only the old
/// place has settings, these are used: the next start copies them, our entries included, and would leave them alone if
/// the new place had a file already.
fn user_directory(ground: &Ground<'_>) -> Option<PathBuf> {
    if let Some(named) = ground.variable("LLXPRT_CONFIG_HOME") {
        return Some(named);
    }
    let home = ground.home?;
    let (new, data) = if cfg!(target_os = "macos") {
        let library = home.join("Library");
        (library.join("Preferences/llxprt-code"), library.join("Application Support/llxprt-code"))
    } else {
        let data = ground.variable_or("XDG_DATA_HOME", ".local/share")?;
        (ground.variable_or("XDG_CONFIG_HOME", ".config")?.join("llxprt-code"), data.join("llxprt-code"))
    };
    let data = ground.variable("LLXPRT_DATA_HOME").unwrap_or(data);
    let old = home.join(PROJECT_DIRECTORY);
    let is_copied = new.join(SETTINGS_FILE).exists() || data.join(MIGRATION_MARKER).exists();
    Some(if !is_copied && old.join(SETTINGS_FILE).exists() { old } else { new })
}
