// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What every command is given: the terminal, the environment, the home.

use tenterhook_guard::StateFormat;
use tenterhook_harness::{CallMeta, Harness};
use tenterhook_home::Home;

use crate::args::Cli;
use crate::env::{self, Env};
use crate::error::CommandError;
use crate::terminal::Terminal;

pub(crate) struct Context {
    pub(crate) terminal: Terminal,
    pub(crate) env: Env,
    /// `--home`, as it was typed.
    pub(crate) said_home: Option<std::path::PathBuf>,
    /// The home, even if a newer version wrote it.
    unchecked_home: Option<Home>,
    /// Where our home is, or why that is not known; a command without need of one never asks.
    home: Result<Home, CommandError>,
}

impl Context {
    pub(crate) fn new(cli: &Cli, terminal: Terminal) -> Self {
        let env = env::read_env();
        let program = std::env::current_exe().ok();
        let found = if cli.system {
            Ok(Home::machine_wide(program.as_deref(), &env))
        } else {
            Home::find(cli.home.as_deref(), program.as_deref(), &env)
        };
        Self::with(terminal, env, cli.home.clone(), found)
    }

    /// Every command is given the home here: one that a newer version wrote is refused in this place.
    fn with(
        terminal: Terminal,
        env: Env,
        said_home: Option<std::path::PathBuf>,
        found: Result<Home, CommandError>,
    ) -> Self {
        let unchecked_home = found.as_ref().ok().cloned();
        let home = found.and_then(|home| StateFormat::refuse_newer(&home.state).map(|()| home));
        Self { terminal, env, said_home, unchecked_home, home }
    }

    /// The same for another home, whatever was typed.
    pub(crate) fn at(home: std::path::PathBuf, terminal: Terminal) -> Self {
        Self::with(terminal, env::read_env(), Some(home.clone()), Ok(Home::in_dir(home)))
    }

    /// How the person calls this program, for what they could type next.
    pub(crate) fn program() -> String {
        std::env::args().next().unwrap_or_else(|| "tenterhook".to_owned())
    }

    pub(crate) fn home(&self) -> Result<&Home, CommandError> {
        self.home.as_ref().map_err(Clone::clone)
    }

    /// The home without regard to its format: for reaching the daemon in it and for naming it. Its files are not to be
    /// read or written.
    pub(crate) fn unchecked_home(&self) -> Option<&Home> {
        self.unchecked_home.as_ref()
    }

    /// Mints an id and reads the clock: the door of one call.
    pub(crate) fn door(&self, harness: &Harness, event: &str) -> Result<CallMeta, CommandError> {
        let mut door = tenterhook_home::call_meta::mint()?;
        event.clone_into(&mut door.event);
        door.project = self.env.project_of(harness);
        door.user = Some(tenterhook_home::env::current_user());
        Ok(door)
    }
}
