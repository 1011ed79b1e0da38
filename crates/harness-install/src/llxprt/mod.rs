// SPDX-License-Identifier: Apache-2.0 OR MIT

//! LLxprt Code on a machine: its settings, and how it is run.

mod install;
mod launch;
mod layers;
mod trust;

use tenterhook_harness::llxprt::HARNESS;

use crate::{ClientRow, Signs};

/// The row of the table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: Signs { programs: &["llxprt"], traces: &[".config/llxprt-code", ".llxprt"] },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
};
