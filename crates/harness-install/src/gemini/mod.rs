// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Gemini CLI on a machine: its settings, and how it is run.

pub(crate) mod install;
mod launch;

use tenterhook_harness::gemini::HARNESS;

use crate::{ClientRow, Signs};

/// The row of the table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: Signs { programs: &["gemini"], traces: &[".gemini"] },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
};
