// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Switches between enforce and monitor mode. Switching to monitor mode is a privileged action.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tenterhook_authority::{Action, AuthorityRefusal, Proof};
use tenterhook_error::Failure;
use tenterhook_home::{Mode, ModeSetting, call_meta};

use crate::daemon::Daemon;
use crate::listen::Peer;

/// How often a running time limit is checked. The clock may be changed, and the machine may sleep, in between.
const TIME_LIMIT_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Why the mode was not changed.
pub(crate) enum ModeChangeError {
    Refused(AuthorityRefusal),
    Failed(Failure),
}

/// Sets the mode from the next event on, for a limited time if there is one. Returns whether the mode changed.
pub(crate) async fn set_mode(
    daemon: &Arc<Daemon>,
    mode: Mode,
    time: Option<Duration>,
    peer: Peer,
    proof: &Proof,
) -> Result<bool, ModeChangeError> {
    let before = ModeSetting::read(&daemon.home);
    let is_same = |before: &ModeSetting| before.mode == mode && before.until.is_none();
    if time.is_none() && before.as_ref().is_ok_and(is_same) {
        return Ok(false);
    }
    if time.is_some() && mode == Mode::Enforce {
        return Err(ModeChangeError::Failed(Failure::user("only monitor mode can have a time limit")));
    }
    if let Some(time) = time {
        ModeSetting::check_time(time).map_err(ModeChangeError::Failed)?;
    }
    let mut detail = json!({"from": before.ok().map(|before| before.mode), "to": mode});
    if let (Some(time), Some(fields)) = (time, detail.as_object_mut()) {
        fields.insert("for_s".to_owned(), json!(time.as_secs()));
    }
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
    match time {
        Some(time) => {
            let set = ModeSetting::write_monitor_for(&daemon.home, time, call_meta::now());
            watch_time_limit(daemon, set.map_err(ModeChangeError::Failed)?);
        }
        None => mode.write(&daemon.home, call_meta::now()).map_err(ModeChangeError::Failed)?,
    }
    refresh(daemon).await
}

/// Enforces the rules again when the time of monitor mode is over.
pub(crate) fn watch_time_limit(daemon: &Arc<Daemon>, limited: ModeSetting) {
    if limited.until.is_none() {
        return;
    }
    let daemon = Arc::clone(daemon);
    tokio::spawn(async move {
        while !limited.is_over(call_meta::now_ms()) {
            tokio::time::sleep(TIME_LIMIT_CHECK_INTERVAL).await;
        }
        // The user may have changed the mode in the meantime.
        if ModeSetting::read_stored(&daemon.home).as_ref() != Ok(&limited) {
            return;
        }
        let detail =
            json!({"from": Mode::Monitor, "to": Mode::Enforce, "why": "the time of monitor mode is over"});
        if let Err(error) = daemon.record_change("mode enforce", daemon.uid, detail, Vec::new()).await {
            tracing::warn!(%error, "the end of monitor mode could not be recorded");
        }
        if let Err(Failure { message, .. }) = Mode::Enforce.write(&daemon.home, call_meta::now()) {
            tracing::warn!(message, "the end of monitor mode could not be stored; it applies regardless");
        }
        if let Err(ModeChangeError::Failed(Failure { message, .. })) = refresh(&daemon).await {
            tracing::warn!(message, "the rules could not be loaded at the end of monitor mode");
        }
    });
}

/// Loads the rules again. Returns true.
async fn refresh(daemon: &Arc<Daemon>) -> Result<bool, ModeChangeError> {
    let daemon = Arc::clone(daemon);
    let refreshed = tokio::task::spawn_blocking(move || daemon.generations.refresh(true)).await;
    match refreshed {
        Ok(Ok(_)) => Ok(true),
        Ok(Err(failure)) => Err(ModeChangeError::Failed(failure)),
        Err(error) => Err(ModeChangeError::Failed(Failure::internal(error.to_string()))),
    }
}
