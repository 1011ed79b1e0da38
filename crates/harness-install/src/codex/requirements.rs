// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's hooks in Codex's `requirements.toml`, the settings for the whole machine. Measured on 0.166.0: hooks in
//! this file need no trust. While the file requires `features.hooks`, no setting, profile or flag of an account
//! disables them.

use super::HARNESS;
use super::install::timeout_s;
use crate::{
    FileContent, InstallError, InstallRequest, ManagedFile, hooks,
    toml::{self, SettingsWithBlock, TomlBlock, TomlSetting, TomlSettings},
};
use tenterhook_harness::{EventRow, InstallWiring};

const FILE: &str = "requirements.toml";

/// The `requirements.toml` that contains the hooks for every account.
pub(super) fn pieces(order: &InstallRequest) -> Result<Vec<ManagedFile>, InstallError> {
    let wired = HARNESS.events.iter().filter(|row| !matches!(row.wiring, InstallWiring::Skip(_)));
    let tables = wired.map(|row| hook_table(order, row)).collect::<Result<Vec<_>, _>>()?;
    let settings = TomlSettings {
        wanted: vec![TomlSetting {
            table: vec!["features".into()],
            key: "hooks".into(),
            value: "true".into(),
        }],
        is_ours: |_| false,
        known: Vec::new(),
    };
    let block = TomlBlock { body: tables.concat(), is_our_command };
    let editor = SettingsWithBlock { settings, block };
    Ok(vec![ManagedFile::new(order.directory.join(FILE), FileContent::Edited(Box::new(editor)))])
}

fn is_our_command(command: &str) -> bool {
    hooks::is_our_command(&HARNESS, command)
}

/// The `[[hooks.<Event>]]` table for one event.
fn hook_table(order: &InstallRequest, row: &'static EventRow) -> Result<String, InstallError> {
    let matcher = if row.matcher { "matcher = \"*\"\n" } else { "" };
    let command = toml::quote_string(&order.strict_command("codex", row)?);
    Ok(format!(
        "[[hooks.{}]]\n{matcher}hooks = [{{ type = \"command\", command = {command}, timeout = {} }}]\n",
        row.native,
        timeout_s(row.native)
    ))
}
