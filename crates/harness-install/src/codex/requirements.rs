// SPDX-License-Identifier: Apache-2.0 OR MIT
//! Tenterhook's hooks in Codex's `requirements.toml`, the settings of the machine. Measured on 0.166.0: hooks there need
//! no trust, and with `features.hooks` required no setting, profile or flag of an account switches them off.

use super::HARNESS;
use super::install::timeout_s;
use crate::{
    Content, InstallError, Order, Piece, hooks,
    toml::{self, Setting, Settings, TomlBlock, WithBlock},
};
use tenterhook_harness::{EventRow, Wiring};

const FILE: &str = "requirements.toml";

/// The one file that holds our hooks for every account.
pub(super) fn pieces(order: &Order) -> Result<Vec<Piece>, InstallError> {
    let wired = HARNESS.events.iter().filter(|row| !matches!(row.wiring, Wiring::Left(_)));
    let tables = wired.map(|row| hook_table(order, row)).collect::<Result<Vec<_>, _>>()?;
    let settings = Settings {
        wanted: vec![Setting { table: vec!["features".into()], key: "hooks".into(), value: "true".into() }],
        is_ours: |_| false,
        known: Vec::new(),
    };
    let block = TomlBlock { body: tables.concat(), is_our_command };
    let editor = WithBlock { settings, block };
    Ok(vec![Piece::new(order.directory.join(FILE), Content::Edited(Box::new(editor)))])
}

fn is_our_command(command: &str) -> bool {
    hooks::is_our_command(&HARNESS, command)
}

/// One `[[hooks.<Event>]]` table.
fn hook_table(order: &Order, row: &'static EventRow) -> Result<String, InstallError> {
    let matcher = if row.matcher { "matcher = \"*\"\n" } else { "" };
    let command = toml::quoted(&order.strict_command("codex", row)?);
    Ok(format!(
        "[[hooks.{}]]\n{matcher}hooks = [{{ type = \"command\", command = {command}, timeout = {} }}]\n",
        row.native,
        timeout_s(row.native)
    ))
}
