// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Qwen Code on a machine: its settings, and how it is run.

mod install;
mod launch;
mod safe_mode;

use tenterhook_harness::qwen::HARNESS;

use crate::{ClientRow, Signs};

/// The row of the table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: Signs { programs: &["qwen"], traces: &[".qwen"] },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
};
