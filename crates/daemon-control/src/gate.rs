// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the gate for privileged actions asks of this process: by the daemon, or by the same rules where none runs.

use serde_json::Value;
use tenterhook_authority::{Action, Authority, Caller, ProofRequirement};
use tenterhook_error::Failure;
use tenterhook_home::Home;

use crate::ask;

/// The gate of a home without a daemon.
pub fn local_authority(home: &Home) -> Authority {
    Authority::of(home, rustix::process::getuid().as_raw())
}

/// What this process has to show for an action, and whether it comes from a guarded agent or cannot be told from one.
pub fn caller_standing(home: &Home, action: Action) -> Result<(ProofRequirement, bool), Failure> {
    let path = format!("/v1/authority?action={}", action.name().replace(' ', "%20"));
    if let Some(answer) = ask::get(home, &path)? {
        let needs = answer.get("needs").cloned().unwrap_or_default();
        let needs = serde_json::from_value(needs)
            .map_err(|error| Failure::internal(format!("the daemon's answer cannot be read: {error}")))?;
        return Ok((needs, answer.get("guarded") == Some(&Value::Bool(true))));
    }
    let authority = local_authority(home);
    let caller = Caller::current(&authority.agents);
    Ok((authority.required_proof(action, &caller), caller.refusal(action.name()).is_some()))
}
