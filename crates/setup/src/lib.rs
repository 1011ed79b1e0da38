// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Guards the harnesses of a machine: detects them, plans the installation of hooks, and applies it.
//!
//! The command line and the dashboard use the same functions, so both produce the same diff, receipt and record. This
//! crate does not print and asks no questions. The calling program implements [`SetupHost`] for that.

pub mod adopt;
pub mod detect;
mod hook_lines;
pub mod hook_programs;
pub mod install;
pub mod plain_json;
pub mod repository;
pub mod run_plan;
pub mod versions;
pub mod wiring;

use std::path::PathBuf;

use serde_json::Value;
use tenterhook_error::Failure;
use tenterhook_home::{Env, Home};

use self::hook_programs::HookPrograms;

/// Context of a change to a harness's settings.
pub struct Setup<'a> {
    /// State directory for which hooks are installed.
    pub home: &'a Home,
    /// Environment of the user.
    pub env: &'a Env,
    /// Directory in which the user works; project settings are searched from here.
    pub working_directory: Option<PathBuf>,
    /// Programs that harnesses start.
    pub programs: HookPrograms,
    /// The calling program.
    pub host: &'a dyn SetupHost,
}

/// Functions that the calling program provides.
pub trait SetupHost {
    /// Address of the daemon's TCP port as `HOST:PORT`; `None` if it listens on its socket only.
    fn daemon_address(&self) -> Result<Option<String>, Failure>;

    /// Fails if the caller is a guarded agent. `action` names the refused action in the error.
    fn refuse_guarded_agent(&self, action: &str) -> Result<(), Failure>;

    /// Records a change before it is made. A change that cannot be recorded is not made.
    fn record_change(&self, name: &str, detail: Value) -> Result<(), Failure>;
}
