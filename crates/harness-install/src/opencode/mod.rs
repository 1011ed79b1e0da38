// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Installs hooks into OpenCode, and runs it.

mod install;
mod launch;
mod opencode_run;

use tenterhook_harness::opencode::{HARNESS, events};

use crate::{ClientRow, ClientSigns};

/// OpenCode's row of the client table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: ClientSigns { programs: &["opencode"], traces: &[".config/opencode", ".opencode"] },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
    guarded_run: Ok(opencode_run::OPENCODE_RUN_SETTINGS),
};
