// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Installs hooks into Codex CLI and Codex Desktop, and runs Codex CLI.

mod codex_run;
mod install;
mod launch;
mod requirements;

use tenterhook_harness::codex::{DESKTOP, HARNESS};

use crate::{ClientRow, ClientSigns};

/// Codex CLI's row of the client table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: ClientSigns { programs: &["codex"], traces: &[".codex"] },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
    guarded_run: Ok(codex_run::CODEX_RUN_SETTINGS),
};

/// Codex Desktop's row of the client table.
pub(crate) const DESKTOP_CLIENT: ClientRow = ClientRow {
    harness: &DESKTOP,
    signs: ClientSigns { programs: &[], traces: &["/Applications/Codex.app", "Applications/Codex.app"] },
    launch: Err("it has a window; it reads the settings of Codex CLI, which can be tested"),
    guarded_run: Err("it has a window and is not started for one run"),
    ..CLIENT
};
