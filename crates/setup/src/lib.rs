// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Guarding the harnesses of a machine: which are here, what installing our hooks would change, and making that change.
//!
//! The command line and the dashboard use the same functions, so that a change that a user types and one that they
//! click have the same diff, receipt and record. Nothing here prints or asks; the program that calls it implements
//! [`SetupHost`].

pub mod adopt;
pub mod detect;
mod hook_lines;
pub mod hook_programs;
pub mod install;
pub mod plain_json;
pub mod versions;
pub mod wiring;

use std::path::PathBuf;

use serde_json::Value;
use tenterhook_error::Failure;
use tenterhook_home::{Env, Home};

use self::hook_programs::HookPrograms;

/// What a change of a harness's settings is made with.
pub struct Setup<'a> {
    /// The home whose hooks are installed.
    pub home: &'a Home,
    /// The environment of the user.
    pub env: &'a Env,
    /// The directory in which the user works; project settings are looked for from here.
    pub working_directory: Option<PathBuf>,
    /// The programs that harnesses spawn.
    pub programs: HookPrograms,
    /// The program that runs this.
    pub host: &'a dyn SetupHost,
}

/// What the flows need from the program that runs them.
pub trait SetupHost {
    /// Address of the daemon's TCP port, as `HOST:PORT`. `None`: it listens on its socket only.
    fn daemon_address(&self) -> Result<Option<String>, Failure>;

    /// Fails if the caller is a guarded agent: `action` is what it may not do.
    fn refuse_guarded_agent(&self, action: &str) -> Result<(), Failure>;

    /// Records a change before it is made. A change that cannot be recorded is not made.
    fn record_change(&self, name: &str, detail: Value) -> Result<(), Failure>;
}
