// SPDX-License-Identifier: Apache-2.0 OR MIT

//! OpenCode on a machine: its settings, and how it is run.

mod install;
mod launch;

use tenterhook_harness::opencode::{HARNESS, events};

use crate::{ClientRow, Signs};

/// The row of the table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: Signs { programs: &["opencode"], traces: &[".config/opencode", ".opencode"] },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
};
