// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Installs hooks into pi, and runs it.

mod install;
mod launch;

use tenterhook_harness::pi::{HARNESS, events};

use crate::{ClientRow, ClientSigns};

/// pi's row of the client table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: ClientSigns { programs: &["pi"], traces: &[".pi/agent"] },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
    guarded_run: Err("its options for extensions of one run have not been tested"),
};
