// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Installs hooks into Claude Code, and runs it.

pub mod adopt;
mod claude_code_run;
pub mod install;
mod launch;
mod remote_settings;
pub mod repository;

use tenterhook_harness::claude_code::{HARNESS, events};

use crate::{ClientRow, ClientSigns};

/// Claude Code's row of the client table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: ClientSigns { programs: &["claude"], traces: &[".claude"] },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
    guarded_run: Ok(claude_code_run::CLAUDE_RUN_SETTINGS),
};
