// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Cursor on a machine: its settings. It cannot be run against a scripted model.

mod install;

use tenterhook_harness::cursor::HARNESS;

use crate::{ClientRow, Signs};

/// The row of the table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: Signs { programs: &["cursor", "cursor-agent"], traces: &[".cursor"] },
    installer: Some(install::INSTALLER),
    launch: Err("its models are reached through the services of its maker only"),
};
