// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sets how much is recorded about hooks that programs registered. Recording less is a privileged action.

use std::sync::Arc;

use serde_json::json;
use tenterhook_authority::{Action, Proof};
use tenterhook_engine::load::HookAuditLevel;
use tenterhook_home::Switches;

use super::{ProgramRefusal, RefusalCode};
use crate::daemon::Daemon;
use crate::listen::Peer;

/// Sets the level and returns the previous one.
pub(crate) async fn set(
    daemon: &Arc<Daemon>,
    peer: Peer,
    level: HookAuditLevel,
    proof: &Proof,
) -> Result<HookAuditLevel, ProgramRefusal> {
    let _turn = daemon.change_lock.lock().await;
    let before = daemon.generations.base().defaults.audit;
    if level == before {
        return Ok(before);
    }
    let detail = json!({"hooks": {"from": before, "to": level}});
    if level < before {
        let admitted = daemon.admit(Action::LedgerLevel, peer, proof, detail, Vec::new()).await;
        admitted.map_err(|refused| ProgramRefusal::new(RefusalCode::Refused, refused.why, &refused.hint))?;
    } else {
        let caller = daemon.admit_program(Action::LedgerLevel, peer, detail.clone()).await?;
        let recorded = daemon.record_change("hook audit level", caller.uid, detail, Vec::new()).await;
        recorded.map_err(|error| {
            ProgramRefusal::new(RefusalCode::Internal, error.to_string(), "free disk space for the ledger")
        })?;
    }
    let changing = Arc::clone(daemon);
    let changed = tokio::task::spawn_blocking(move || {
        let mut switches = Switches::read(&changing.home)?;
        switches.audit = Some(level);
        switches.write(&changing.home)?;
        changing.generations.refresh(true)
    });
    match changed.await {
        Ok(Ok(_)) => Ok(before),
        Ok(Err(failure)) => Err(ProgramRefusal::new(RefusalCode::Internal, failure.message, "")),
        Err(error) => Err(ProgramRefusal::new(RefusalCode::Internal, error.to_string(), "")),
    }
}
