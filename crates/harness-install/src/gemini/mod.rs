// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Installs hooks into Gemini CLI, and runs it.

pub(crate) mod install;
mod launch;

use tenterhook_harness::gemini::HARNESS;

use crate::{ClientRow, ClientSigns};

/// Gemini CLI's row of the client table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: ClientSigns { programs: &["gemini"], traces: &[".gemini"] },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
    guarded_run: Err(
        "it skips a settings file for one run unless root owns the file and every directory above it",
    ),
};
