// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Installs hooks into GitHub Copilot CLI, and runs it.

mod install;
mod launch;

use tenterhook_harness::copilot::HARNESS;

use crate::{ClientRow, ClientSigns};

/// Copilot CLI's row of the client table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: ClientSigns { programs: &["copilot"], traces: &[".copilot"] },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
    guarded_run: Err("it reads hooks only from its own directories and from the project"),
};
