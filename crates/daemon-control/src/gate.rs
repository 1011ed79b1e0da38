// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Determines which proof this process needs for a privileged action. A running daemon decides this. If no
//! daemon is running, this process applies the same rules itself.

use serde_json::Value;
use tenterhook_authority::{Action, Authority, Caller, ProofRequirement};
use tenterhook_error::Failure;
use tenterhook_home::Home;

use crate::ask;

/// Returns the authority of a state directory, for use without a daemon.
pub fn local_authority(home: &Home) -> Authority {
    Authority::of(home, rustix::process::getuid().as_raw())
}

/// Returns the proof that this process needs for an action, and whether the process is treated as a guarded agent.
pub fn caller_standing(home: &Home, action: Action) -> Result<(ProofRequirement, bool), Failure> {
    let path = format!("/v1/authority?action={}", action.name().replace(' ', "%20"));
    if let Some(answer) = ask::get(home, &path)? {
        let needs = answer.get("needs").cloned().unwrap_or_default();
        let needs = serde_json::from_value(needs)
            .map_err(|error| Failure::internal(format!("unexpected response of the daemon: {error}")))?;
        return Ok((needs, answer.get("guarded") == Some(&Value::Bool(true))));
    }
    let authority = local_authority(home);
    let caller = Caller::current(&authority.agents);
    Ok((authority.required_proof(action, &caller), caller.refusal(action.name()).is_some()))
}
