// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Installs hooks into Qwen Code, and runs it.

mod install;
mod launch;
mod qwen_run;
mod safe_mode;

use tenterhook_harness::qwen::HARNESS;

use crate::{ClientRow, ClientSigns};

/// Qwen Code's row of the client table.
pub(crate) const CLIENT: ClientRow = ClientRow {
    harness: &HARNESS,
    signs: ClientSigns { programs: &["qwen"], traces: &[".qwen"] },
    installer: Some(install::INSTALLER),
    launch: Ok(launch::LAUNCH),
    guarded_run: Ok(qwen_run::QWEN_RUN_SETTINGS),
};
