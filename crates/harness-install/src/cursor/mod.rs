// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Installs hooks into Cursor, which cannot be run against a scripted model.

mod install;

use tenterhook_harness::cursor::HARNESS;

use crate::{ClientRow, ClientSigns};

/// Cursor's row of the client table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: ClientSigns { programs: &["cursor", "cursor-agent"], traces: &[".cursor"] },
    installer: Some(install::INSTALLER),
    launch: Err("its models are only available through its vendor's services"),
    guarded_run: Err("it reads hooks only from its own directory and from the project"),
};
