// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Claude Code on a machine: its settings, and how it is run.

pub mod adopt;
pub mod install;
mod launch;
mod remote_settings;

use tenterhook_harness::claude_code::{HARNESS, events};

use crate::{ClientRow, Signs};

/// The row of the table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: Signs { programs: &["claude"], traces: &[".claude"] },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
};
