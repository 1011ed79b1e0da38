// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What every command uses: the terminal, and values of the environment, which is read once.

use std::path::PathBuf;

use tenterhook_command::env::{Env, read_env};
use tenterhook_command::terminal::Terminal;
use tenterhook_error::Failure;
use tenterhook_fleet_server::{EngineSearch, FleetError, FleetErrorKind};

/// Context of a command.
pub(crate) struct FleetContext {
    /// Where output goes.
    pub(crate) terminal: Terminal,
    /// Variables of the environment.
    pub(crate) env: Env,
}

impl FleetContext {
    pub(crate) fn new(terminal: Terminal) -> Self {
        Self { terminal, env: read_env() }
    }

    /// Returns the value of a variable.
    pub(crate) fn variable(&self, name: &str) -> Option<String> {
        self.env
            .all
            .iter()
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value.clone())
            .filter(|value| !value.is_empty())
    }

    /// Returns the default state directory of a server.
    pub(crate) fn server_state(&self) -> Result<PathBuf, Failure> {
        let state = self.env.xdg_state_home.clone();
        let state = state.or_else(|| self.env.home.as_ref().map(|home| home.join(".local/state")));
        let state = state
            .ok_or_else(|| Failure::user("`HOME` is not set").hint("name a directory with `--state`"))?;
        Ok(state.join("tenterhook-fleet"))
    }

    /// Returns where the engines of a trial are searched.
    pub(crate) fn engine_search(&self) -> EngineSearch {
        EngineSearch {
            nats_server: self.variable("TENTERHOOK_NATS_SERVER").map(PathBuf::from),
            postgres_bin: self.variable("TENTERHOOK_POSTGRES_BIN").map(PathBuf::from),
            path: self.variable("PATH").map(Into::into),
        }
    }
}

/// Converts an error of the server for the terminal.
#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes a value")]
pub(crate) fn failure(error: FleetError) -> Failure {
    let message = error.to_string();
    let failure = match error.kind() {
        FleetErrorKind::Invalid | FleetErrorKind::Incompatible => Failure::user(message),
        FleetErrorKind::Unavailable => Failure::busy(message),
        FleetErrorKind::Forbidden => Failure::denied(message),
        FleetErrorKind::NotFound => Failure::not_found(message),
        FleetErrorKind::Conflict => Failure::conflict(message),
        FleetErrorKind::Internal => Failure::internal(message),
    };
    let hints = error.hint().unwrap_or_default().lines();
    hints.fold(failure, Failure::hint)
}
