// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Detects Continue, which calls no hooks.

use tenterhook_harness::continue_dev::HARNESS;

use crate::{ClientRow, ClientSigns};

/// Continue's row of the client table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: ClientSigns { programs: &["cn"], traces: &[".continue"] },
    installer: None,
    launch: Err("it calls no hooks"),
    guarded_run: Err("it calls no hooks"),
};
