// SPDX-License-Identifier: Apache-2.0 OR MIT

//! pi on a machine: its extension directory, and how it is run.

mod install;
mod launch;

use tenterhook_harness::pi::{HARNESS, events};

use crate::{ClientRow, Signs};

/// The row of the table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: Signs { programs: &["pi"], traces: &[".pi/agent"] },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
};
