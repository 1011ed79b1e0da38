// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The context that every command receives: terminal, environment and state directory.

use std::path::PathBuf;

use tenterhook_guard::StateFormat;
use tenterhook_harness::{CallMeta, Harness};
use tenterhook_home::Home;

use crate::env::{self, Env};
use crate::error::CommandError;
use crate::terminal::Terminal;

/// Terminal, environment and state directory of one call of the program.
pub struct Context {
    /// How output is printed.
    pub terminal: Terminal,
    /// The environment variables that Tenterhook reads.
    pub env: Env,
    /// Value of `--home`.
    pub explicit_home: Option<PathBuf>,
    /// The state directory, even if a newer version wrote it.
    unchecked_home: Option<Home>,
    /// The state directory, or why it is not usable. Commands that need no state directory never report the error.
    home: Result<Home, CommandError>,
}

impl Context {
    /// Finds the state directory: the machine-wide one, the given one, or the platform's.
    pub fn new(explicit_home: Option<PathBuf>, is_machine_wide: bool, terminal: Terminal) -> Self {
        let env = env::read_env();
        let program = std::env::current_exe().ok();
        let home = if is_machine_wide {
            Ok(Home::machine_wide(program.as_deref(), &env))
        } else {
            Home::find(explicit_home.as_deref(), program.as_deref(), &env)
        };
        Self::from_parts(terminal, env, explicit_home, home)
    }

    /// Creates a context and checks the state directory's format: one written by a newer version is refused.
    fn from_parts(
        terminal: Terminal,
        env: Env,
        explicit_home: Option<PathBuf>,
        home: Result<Home, CommandError>,
    ) -> Self {
        let unchecked_home = home.as_ref().ok().cloned();
        let home = home.and_then(|home| StateFormat::refuse_newer(&home.state).map(|()| home));
        Self { terminal, env, explicit_home, unchecked_home, home }
    }

    /// Creates a context for another state directory and ignores the command line.
    pub fn for_home(home: PathBuf, terminal: Terminal) -> Self {
        Self::from_parts(terminal, env::read_env(), Some(home.clone()), Ok(Home::in_dir(home)))
    }

    /// Returns the name under which this program was called, for commands that are suggested to the user.
    pub fn program() -> String {
        std::env::args().next().unwrap_or_else(|| "tenterhook".to_owned())
    }

    /// Returns the state directory, or why it is not usable.
    pub fn home(&self) -> Result<&Home, CommandError> {
        self.home.as_ref().map_err(Clone::clone)
    }

    /// Returns the state directory without checking its format. Use it only to reach the daemon or to print the path;
    /// do not read or write files in it.
    pub fn unchecked_home(&self) -> Option<&Home> {
        self.unchecked_home.as_ref()
    }

    /// Creates the metadata of one call: id, time, project and user.
    pub fn new_call_meta(&self, harness: &Harness, event: &str) -> Result<CallMeta, CommandError> {
        let mut meta = tenterhook_home::call_meta::mint()?;
        event.clone_into(&mut meta.event);
        meta.project = self.env.project_of(harness);
        meta.user = Some(tenterhook_home::env::current_user());
        meta.headless = self.env.is_headless(harness);
        Ok(meta)
    }
}
