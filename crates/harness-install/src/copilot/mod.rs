// SPDX-License-Identifier: Apache-2.0 OR MIT

//! GitHub Copilot CLI on a machine: its settings, and how it is run.

mod install;
mod launch;

use tenterhook_harness::copilot::HARNESS;

use crate::{ClientRow, Signs};

/// The row of the table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: Signs { programs: &["copilot"], traces: &[".copilot"] },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
};
