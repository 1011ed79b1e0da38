// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Registers a sandboxed run: with the daemon, or in the state directory, from where the next daemon reads it.

use serde_json::Value;
use tenterhook_api::RunRegistration;
use tenterhook_authority::{Agents, Caller, Process, SandboxedRuns};
use tenterhook_daemon_control::ask;
use tenterhook_error::Failure;
use tenterhook_home::Home;

/// Path of the daemon's operation.
const RUNS_PATH: &str = "/v1/runs";

/// Registers a run whose first process was started by this process. From then on, all processes of the run are a guarded
/// agent. Registering a run again changes nothing.
///
/// Fails with the kind `Denied` if this process is itself a guarded agent. The run is then part of that agent.
pub fn register_run(home: &Home, run: &RunRegistration) -> Result<(), Failure> {
    let body = serde_json::to_value(run).map_err(|error| Failure::internal(error.to_string()))?;
    let answer: Option<Value> = ask::request(home, "POST", RUNS_PATH, Some(&body))?;
    if answer.is_some() {
        return Ok(());
    }
    if let Some(refused) = Caller::current(&Agents::of(home)).refusal("register a sandboxed run") {
        return Err(refused.into());
    }
    let own = i32::try_from(std::process::id()).ok().and_then(Process::read);
    // Platforms without `/proc` cannot identify processes; the daemon does not either.
    let Some(own) = own else { return Ok(()) };
    home.create()?;
    match SandboxedRuns::of(home).register(run.clone(), &own)? {
        Ok(_) => Ok(()),
        Err(refusal) => Err(Failure::conflict(refusal.to_string())),
    }
}
