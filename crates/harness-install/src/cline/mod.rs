// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Installs hooks into Cline, and runs it.

mod install;
mod launch;

use tenterhook_harness::cline::{HARNESS, events};

use crate::{ClientRow, ClientSigns};

/// Cline's row of the client table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: ClientSigns {
        programs: &["cline"],
        traces: &[".cline", "Documents/Cline", ".config/Code/User/globalStorage/saoudrizwan.claude-dev"],
    },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
    guarded_run: Err("it can run hooks in a background process that other sessions share"),
};
