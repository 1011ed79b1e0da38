// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What every command is given: the terminal, the environment, the home.

use std::time::{SystemTime, UNIX_EPOCH};

use tenterhook_event::{EventId, Timestamp};
use tenterhook_harness::{Door, Harness};

use crate::args::Cli;
use crate::env::{self, Env};
use crate::error::CommandError;
use crate::home::Home;
use crate::terminal::Terminal;

pub(crate) struct Context {
    pub(crate) terminal: Terminal,
    pub(crate) env: Env,
    /// Where our home is, or why that is not known; a command without need of one never asks.
    home: Result<Home, CommandError>,
}

impl Context {
    pub(crate) fn new(cli: &Cli, terminal: Terminal) -> Self {
        let env = Env::read();
        let program = std::env::current_exe().ok();
        let home = Home::find(cli.home.as_deref(), program.as_deref(), &env);
        Self { terminal, env, home }
    }

    /// How the person calls this program, for what they could type next.
    pub(crate) fn program() -> String {
        std::env::args().next().unwrap_or_else(|| "tenterhook".to_owned())
    }

    pub(crate) fn home(&self) -> Result<&Home, CommandError> {
        self.home.as_ref().map_err(|error| {
            let mut copy = CommandError::failed(&error.message);
            copy.hints.clone_from(&error.hints);
            copy
        })
    }

    /// Mints an id and reads the clock: the door of one call.
    pub(crate) fn door(&self, harness: &Harness, event: &str) -> Result<Door, CommandError> {
        let mut door = Self::bare_door()?;
        event.clone_into(&mut door.event);
        door.project = self.env.project_of(harness);
        door.user = Some(env::user());
        Ok(door)
    }

    /// A door that knows no harness.
    pub(crate) fn bare_door() -> Result<Door, CommandError> {
        let mut random = [0; 16];
        getrandom::fill(&mut random)
            .map_err(|error| CommandError::failed(format!("no randomness for an event id: {error}")))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let ms = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        let id = EventId::from_parts(ms, u128::from_ne_bytes(random));
        Ok(Door::new(id, Timestamp::from_unix_ms(ms), ""))
    }
}
