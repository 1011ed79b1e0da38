// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codex CLI and Codex Desktop on a machine: their settings, and how they are run.

mod install;
mod launch;
mod requirements;

use tenterhook_harness::codex::{DESKTOP, HARNESS};

use crate::{ClientRow, Signs};

/// The row of the table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: Signs { programs: &["codex"], traces: &[".codex"] },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
};

/// The row of the Desktop program.
pub(crate) const DESKTOP_CLIENT: ClientRow = ClientRow {
    harness: &DESKTOP,
    signs: Signs { programs: &[], traces: &["/Applications/Codex.app", "Applications/Codex.app"] },
    launch: Err("it has a window; it reads the settings of Codex CLI, which can be proved"),
    ..CLIENT
};
