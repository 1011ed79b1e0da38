// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Continue on a machine: how it is recognised. It calls no hooks.

use tenterhook_harness::continue_dev::HARNESS;

use crate::{ClientRow, Signs};

/// The row of the table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: Signs { programs: &["cn"], traces: &[".continue"] },
    installer: None,
    launch: Err("it calls no hooks"),
};
