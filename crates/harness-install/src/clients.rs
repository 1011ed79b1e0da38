// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The table of clients: how each harness is detected, installed and run.

use tenterhook_harness::Harness;

use crate::launch::ClientLaunch;
use crate::run_settings::RunSettings;
use crate::{
    ClientSigns, Installer, claude_code, cline, codex, continue_dev, copilot, cursor, gemini, llxprt,
    opencode, pi, qwen, vscode,
};

/// All clients: one row for each row of [`HARNESSES`](tenterhook_harness::HARNESSES), in the same order.
pub const CLIENTS: &[ClientRow] = &[
    claude_code::CLIENT,
    codex::CLIENT,
    codex::DESKTOP_CLIENT,
    cursor::CLIENT,
    gemini::CLIENT,
    llxprt::CLIENT,
    qwen::CLIENT,
    opencode::CLIENT,
    pi::CLIENT,
    cline::CLIENT,
    copilot::CLIENT,
    vscode::CLIENT,
    continue_dev::CLIENT,
];

/// How a harness's client program is detected, hooked and run.
#[derive(Debug)]
pub struct ClientRow {
    /// Harness that the client belongs to.
    pub harness: &'static Harness,
    /// How the client is detected on a machine.
    pub signs: ClientSigns,
    /// How hooks are installed; `None` if the client cannot be hooked.
    pub installer: Option<Installer>,
    /// How the client is run without a user against a model on loopback, or the reason why that is impossible.
    pub launch: Result<ClientLaunch, &'static str>,
    /// How the client takes hooks for one run, or the reason why that is impossible.
    pub guarded_run: Result<RunSettings, &'static str>,
}

/// Access to a harness's row in [`CLIENTS`]. A test checks that every harness has a row.
pub trait HarnessClient {
    /// The client row of the harness.
    fn client(&self) -> Option<&'static ClientRow>;

    /// Names of the client's programs, as a user types them.
    fn programs(&self) -> &'static [&'static str] {
        self.client().map_or(&[], |client| client.signs.programs)
    }

    /// How hooks are installed; `None` if the client cannot be hooked.
    fn installer(&self) -> Option<&'static Installer> {
        self.client()?.installer.as_ref()
    }

    /// How the client is run without a user, or the reason why that is impossible.
    fn launch(&self) -> Result<&'static ClientLaunch, &'static str> {
        match self.client().map(|client| client.launch.as_ref()) {
            Some(launch) => launch.map_err(|reason| *reason),
            None => Err("its program is unknown"),
        }
    }

    /// How the client takes hooks for one run, or the reason why that is impossible.
    fn guarded_run(&self) -> Result<&'static RunSettings, &'static str> {
        match self.client().map(|client| client.guarded_run.as_ref()) {
            Some(run) => run.map_err(|reason| *reason),
            None => Err("its program is unknown"),
        }
    }
}

impl HarnessClient for Harness {
    fn client(&self) -> Option<&'static ClientRow> {
        CLIENTS.iter().find(|client| client.harness.id == self.id)
    }
}

#[cfg(test)]
mod tests {
    use tenterhook_harness::HARNESSES;

    use super::*;

    #[test]
    fn every_harness_has_a_client_in_the_same_place() {
        let harnesses: Vec<_> = HARNESSES.iter().map(|harness| harness.id).collect();
        let clients: Vec<_> = CLIENTS.iter().map(|client| client.harness.id).collect();
        assert_eq!(clients, harnesses, "add a row to `CLIENTS` for every row of `HARNESSES`");
    }
}
