// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Erases payloads and prunes records. Both are privileged actions, and each is recorded.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::json;
use tenterhook_api::{EraseRequest, PruneRequest, RemovedRecords};
use tenterhook_authority::{Action, Proof};
use tenterhook_fleet_state::FleetDir;
use tenterhook_home::call_meta;
use tenterhook_ledger::Reader;
use tenterhook_records::{record_range, secrets, time_spec};

use crate::api::error::{ApiError, run_blocking};
use crate::api::extract::RequestBody;
use crate::backfill;
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) async fn erase(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    RequestBody(EraseRequest { from, to, reason, proof }): RequestBody<EraseRequest>,
) -> Result<Json<RemovedRecords>, ApiError> {
    let to = to.unwrap_or(from);
    if from > to {
        return Err(ApiError::bad_request("`to` is less than `from`"));
    }
    let size = daemon.readers.with(Reader::size).await?;
    record_range::check_exists(to, size)?;
    remove(&daemon, Action::LedgerErase, (from, to), reason, peer, &proof).await
}

pub(super) async fn prune(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    RequestBody(PruneRequest { to, before, reason, force, proof }): RequestBody<PruneRequest>,
) -> Result<Json<RemovedRecords>, ApiError> {
    let hint = "send {\"to\": …} or {\"before\": …}, with \"reason\" and \"proof\"";
    let before = before.map(|before| time_spec::parse_time_spec(&before, call_meta::now_ms())).transpose();
    let before = before.map_err(|why| ApiError::bad_request(why.to_string()).hint(hint))?;
    let (to, size) = match (to, before) {
        (Some(to), None) => (Some(to), daemon.readers.with(Reader::size).await?),
        (None, Some(before)) => {
            let last = move |reader: &Reader| {
                Ok((record_range::last_recorded_before(reader, before.unix_ms())?, reader.size()?))
            };
            daemon.readers.with(last).await?
        }
        _ => return Err(ApiError::bad_request("either `to` or `before` is needed").hint(hint)),
    };
    let Some(to) = to else { return Ok(Json(RemovedRecords { from: 0, to: None, leaf: None })) };
    record_range::check_exists(to, size)?;
    if !force {
        let checked = FleetDir::of_state(&daemon.home.state).check_removable(to);
        checked.map_err(|error| {
            ApiError::conflict(error.to_string()).hint("send \"force\": true to remove them")
        })?;
    }
    remove(&daemon, Action::LedgerPrune, (0, to), reason, peer, &proof).await
}

async fn remove(
    daemon: &Arc<Daemon>,
    action: Action,
    (from, to): (u64, u64),
    reason: String,
    peer: Peer,
    proof: &Proof,
) -> Result<Json<RemovedRecords>, ApiError> {
    let detail = json!({"from": from, "to": to, "reason": reason});
    daemon.admit(action, peer, proof, detail, Vec::new()).await?;
    let (ledger, who) = (daemon.ledger.clone(), daemon.user_name(peer));
    let appended = run_blocking(move || {
        let removed = match action {
            Action::LedgerErase => ledger.erase(from, to, &who, &reason, &secrets),
            _ => ledger.prune(to, &who, &reason, &secrets),
        };
        removed.map_err(|error| ApiError::internal(format!("nothing was removed: {error}")))
    })
    .await?;
    backfill::rebuild_sessions(daemon);
    Ok(Json(RemovedRecords { from, to: Some(to), leaf: Some(appended.seq()) }))
}
