// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's hooks for Cline: one small script for each event, named after it.

use std::path::{Path, PathBuf};

use super::events;
use crate::{
    Content, InstallError, Installer, MARK, MachineScope, Order, Owned, Piece, Scope, Warning, marked,
};
use tenterhook_harness::Wiring;

const HARNESS: &str = "cline";

pub(super) const INSTALLER: Installer = Installer {
    wired_as: HARNESS,
    variables: &["CLINE_DIR"],
    directory: |ground, scope| match scope {
        Scope::User => ground.variable_or("CLINE_DIR", ".cline"),
        Scope::Project(root) => Some(root.join(".cline")),
        Scope::Machine(_) => None,
    },
    machine: MachineScope::Cannot("Cline has no settings of the machine"),
    pieces,
};

fn pieces(order: &Order) -> Result<Vec<Piece>, InstallError> {
    let wired = events::EVENTS.iter().filter(|row| !matches!(row.wiring, Wiring::Left(_)));
    // The gate first: it is the file that people are told about.
    let (gates, others): (Vec<_>, Vec<_>) = wired.partition(|row| row.is_gate());
    let scripts = gates.into_iter().chain(others).map(|row| {
        let command = order.command(HARNESS, row.native)?;
        let path = order.directory.join("hooks").join(format!("{}.sh", row.native));
        let warnings = if row.is_gate() { rivals(&path, row.native) } else { Vec::new() };
        let bytes = script(&command, row.is_gate()).into_bytes();
        let owned = Owned { bytes, mode: 0o755, is_ours: marked, holds: vec![command], warnings };
        Ok(Piece::new(path, Content::Owned(owned)))
    });
    scripts.collect()
}

fn script(command: &str, is_gate: bool) -> String {
    let body = if is_gate { gate(command) } else { format!("exec {command}\n") };
    format!("#!/bin/sh\n# {MARK}; `tenterhook uninstall cline` removes it.\n{body}")
}

/// Cline heeds no exit code, so that a program of ours that cannot be started would be a "yes": the script says no by
/// itself then.
fn gate(command: &str) -> String {
    format!("said=$({command}) || said=${{said:-{NO}}}\n[ -z \"$said\" ] || printf '%s\\n' \"$said\"\n")
}

const NO: &str = r#"'{"cancel":true,"errorMessage":"Tenterhook could not be asked"}'"#;

/// The other scripts of the same event. Cline runs them all, and what one of them says about a call may be heard
/// instead of what ours says.
fn rivals(ours: &Path, event: &str) -> Vec<Warning> {
    let is_rival = |path: &PathBuf| {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        path != ours && stem.is_some_and(|stem| stem.eq_ignore_ascii_case(event))
    };
    // A directory that cannot be read has no scripts that run.
    let entries = ours.parent().and_then(|directory| fs_err::read_dir(directory).ok());
    let found = entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).filter(is_rival);
    let says = |path: PathBuf| {
        format!("`{}` is asked about the same calls and may be heard instead of Tenterhook", path.display())
    };
    found.map(|path| Warning::note(says(path))).collect()
}
