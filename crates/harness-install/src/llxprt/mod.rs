// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Installs hooks into LLxprt Code, and runs it.

mod install;
mod launch;
mod layers;
mod trust;

use tenterhook_harness::llxprt::HARNESS;

use crate::{ClientRow, ClientSigns};

/// LLxprt Code's row of the client table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: ClientSigns { programs: &["llxprt"], traces: &[".config/llxprt-code", ".llxprt"] },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
    guarded_run: Err("the hooks of such a run would replace those of your and your project's settings"),
};
