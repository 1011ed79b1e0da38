// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Shows and changes retention limits. Shortening a limit is a privileged action; lengthening one is only recorded.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::json;
use tenterhook_api::{RetentionRequest, RetentionStatus};
use tenterhook_authority::Action;
use tenterhook_guard::{Retention, RetentionLimits};
use tenterhook_home::call_meta;

use crate::api::error::ApiError;
use crate::api::extract::RequestBody;
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) async fn show(State(daemon): State<Arc<Daemon>>) -> Json<RetentionStatus> {
    Json(status(&daemon))
}

pub(super) async fn set(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    RequestBody(RetentionRequest { max_age, max_size, proof }): RequestBody<RetentionRequest>,
) -> Result<Json<RetentionStatus>, ApiError> {
    let limits = RetentionLimits::parse(max_age.as_deref(), max_size.as_deref())
        .map_err(|error| ApiError::bad_request(error.to_string()))?;
    let _changing = daemon.change_lock.lock().await;
    let home = &daemon.home;
    let (before, settings) = tokio::task::block_in_place(|| {
        Ok::<_, ApiError>((Retention::read(home), Retention::edit_settings(home, &limits)?))
    })?;
    let (from, to) = (before.authorized.to_string(), limits.to_string());
    if limits.is_shorter_than(&before.authorized) {
        let detail = json!({"from": from, "to": to});
        daemon.admit(Action::LedgerRetention, peer, &proof, detail, Vec::new()).await?;
    } else {
        let caller = daemon.caller(peer);
        let detail = json!({"from": from, "to": to, "authority": caller.to_json()});
        let recorded =
            daemon.record_change(Action::LedgerRetention.name(), caller.uid, detail, Vec::new()).await;
        recorded.map_err(|error| ApiError::internal(format!("retention was not changed: {error}")))?;
    }
    tokio::task::block_in_place(|| Retention::write(home, &limits, &settings, call_meta::now()))?;
    daemon.retention.apply();
    Ok(Json(status(&daemon)))
}

fn status(daemon: &Daemon) -> RetentionStatus {
    daemon.retention.status(&tokio::task::block_in_place(|| Retention::read(&daemon.home)))
}
