// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's hooks for Cline: one script for each event, named after the event.

use std::path::{Path, PathBuf};

use super::events;
use crate::{
    FileContent, InstallError, InstallRequest, InstallWarning, Installer, MARK, MachineScope, ManagedFile,
    OwnedFile, SettingsScope, has_mark,
};
use tenterhook_harness::InstallWiring;

const HARNESS: &str = "cline";

pub(super) const INSTALLER: Installer = Installer {
    wired_as: HARNESS,
    variables: &["CLINE_DIR"],
    directory: |ground, scope| match scope {
        SettingsScope::User => ground.variable_or("CLINE_DIR", ".cline"),
        SettingsScope::Project(root) => Some(root.join(".cline")),
        SettingsScope::Machine(_) => None,
    },
    machine: MachineScope::Cannot("Cline has no settings of the machine"),
    pieces,
};

fn pieces(order: &InstallRequest) -> Result<Vec<ManagedFile>, InstallError> {
    let wired = events::EVENTS.iter().filter(|row| !matches!(row.wiring, InstallWiring::Skip(_)));
    // Users see the first file of the list, so it is the gate: the script that can deny a tool call.
    let (gates, others): (Vec<_>, Vec<_>) = wired.partition(|row| row.is_gate());
    let scripts = gates.into_iter().chain(others).map(|row| {
        let command = order.command(HARNESS, row.native)?;
        let path = order.directory.join("hooks").join(format!("{}.sh", row.native));
        let warnings = if row.is_gate() { rivals(&path, row.native) } else { Vec::new() };
        let bytes = script(&command, row.is_gate()).into_bytes();
        let owned = OwnedFile { bytes, mode: 0o755, is_ours: has_mark, holds: vec![command], warnings };
        Ok(ManagedFile::new(path, FileContent::Owned(owned)))
    });
    scripts.collect()
}

fn script(command: &str, is_gate: bool) -> String {
    let body = if is_gate { gate(command) } else { format!("exec {command}\n") };
    format!("#!/bin/sh\n# {MARK}; `tenterhook uninstall cline` removes it.\n{body}")
}

/// Body of the gate, the script that can deny a tool call. Cline ignores exit codes, so it would allow the call if
/// the hook program could not be started. In that case the script itself prints a deny.
fn gate(command: &str) -> String {
    format!("said=$({command}) || said=${{said:-{NO}}}\n[ -z \"$said\" ] || printf '%s\\n' \"$said\"\n")
}

const NO: &str = r#"'{"cancel":true,"errorMessage":"Tenterhook could not be asked"}'"#;

/// Warnings about other scripts for the same event. Cline runs all of them, and may use another script's reply.
fn rivals(ours: &Path, event: &str) -> Vec<InstallWarning> {
    let is_rival = |path: &PathBuf| {
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        path != ours && stem.is_some_and(|stem| stem.eq_ignore_ascii_case(event))
    };
    // An unreadable directory needs no warning: Cline cannot run scripts from it.
    let entries = ours.parent().and_then(|directory| fs_err::read_dir(directory).ok());
    let found = entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path())).filter(is_rival);
    let message = |path: PathBuf| {
        format!(
            "`{}` runs for the same calls, and its reply may be used instead of Tenterhook's",
            path.display()
        )
    };
    found.map(|path| InstallWarning::note(message(path))).collect()
}
