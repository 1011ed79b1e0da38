// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Cline on a machine: its settings, and how it is run.

mod install;
mod launch;

use tenterhook_harness::cline::{HARNESS, events};

use crate::{ClientRow, Signs};

/// The row of the table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: Signs {
        programs: &["cline"],
        traces: &[".cline", "Documents/Cline", ".config/Code/User/globalStorage/saoudrizwan.claude-dev"],
    },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
};
