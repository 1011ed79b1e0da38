// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Switches between enforce and monitor mode. Switching to monitor mode is a privileged action.

use std::sync::Arc;

use serde_json::json;
use tenterhook_authority::{Action, AuthorityRefusal, Proof};
use tenterhook_error::Failure;
use tenterhook_home::{Mode, call_meta};

use crate::daemon::Daemon;
use crate::listen::Peer;

/// Why the mode was not changed.
pub(crate) enum ModeChangeError {
    Refused(AuthorityRefusal),
    Failed(Failure),
}

/// Sets the mode from the next event on. Returns whether the mode changed.
pub(crate) async fn set_mode(
    daemon: &Arc<Daemon>,
    mode: Mode,
    peer: Peer,
    proof: &Proof,
) -> Result<bool, ModeChangeError> {
    let before = Mode::read(&daemon.home);
    if before.as_ref() == Ok(&mode) {
        return Ok(false);
    }
    let detail = json!({"from": before.ok(), "to": mode});
    match mode {
        Mode::Monitor => {
            daemon
                .admit(Action::Monitor, peer, proof, detail, Vec::new())
                .await
                .map_err(ModeChangeError::Refused)?;
        }
        Mode::Enforce => {
            let caller = daemon.caller(peer);
            let detail = json!({"from": detail.get("from"), "to": mode, "authority": caller.to_json()});
            let recorded = daemon.record_change("mode enforce", caller.uid, detail, Vec::new()).await;
            recorded.map_err(|error| ModeChangeError::Failed(Failure::internal(error.to_string())))?;
        }
    }
    mode.write(&daemon.home, call_meta::now()).map_err(ModeChangeError::Failed)?;
    let daemon = Arc::clone(daemon);
    let refreshed = tokio::task::spawn_blocking(move || daemon.generations.refresh(true)).await;
    match refreshed {
        Ok(Ok(_)) => Ok(true),
        Ok(Err(failure)) => Err(ModeChangeError::Failed(failure)),
        Err(error) => Err(ModeChangeError::Failed(Failure::internal(error.to_string()))),
    }
}
