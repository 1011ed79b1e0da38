// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists snapshots of calls and restores them.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::json;
use tenterhook_api::{CallSnapshotList, CallSnapshotQuery, RestorePreview, RestoreRequest, RestoreResult};
use tenterhook_authority::Action;
use tenterhook_guard::{SavedCalls, UndoError};
use tenterhook_home::call_meta;
use tenterhook_records::sanitize;

use super::error::{ApiError, run_blocking};
use super::extract::{PathParams, QueryParams, RequestBody};
use super::route::Route;
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/snapshots", "listSnapshots", list)
            .about("What calls would have lost, saved before they ran: the newest first."),
        Route::get("/v1/snapshots/{id}", "previewRestore", preview)
            .about(
                "What a restore of a snapshot would do. The id is that of the snapshot or of the call's event, or `last`.",
            )
            .errors(&[404]),
        Route::post("/v1/snapshots/{id}/restore", "restoreSnapshot", restore)
            .about(
                "Restores a snapshot. What was changed after the call stays as it is, unless `force` is set; `force` \
                 then needs a proof of the user.",
            )
            .errors(&[404, 409]),
    ]
}

async fn list(
    State(daemon): State<Arc<Daemon>>,
    QueryParams(query): QueryParams<CallSnapshotQuery>,
) -> Result<Json<CallSnapshotList>, ApiError> {
    run_blocking(move || {
        let saved = to_api_result(SavedCalls::open(&daemon.home))?;
        let snapshots = saved.map(|saved| to_api_result(saved.list(&query))).transpose()?;
        Ok::<_, ApiError>(Json(CallSnapshotList { snapshots: snapshots.unwrap_or_default() }))
    })
    .await
}

async fn preview(
    State(daemon): State<Arc<Daemon>>,
    PathParams(id): PathParams<String>,
) -> Result<Json<RestorePreview>, ApiError> {
    run_blocking(move || {
        let saved = open(&daemon, &id)?;
        let undo = to_api_result(saved.plan(&id, &[]))?;
        Ok::<_, ApiError>(Json(undo.preview()))
    })
    .await
}

async fn restore(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    PathParams(id): PathParams<String>,
    RequestBody(request): RequestBody<RestoreRequest>,
) -> Result<Json<RestoreResult>, ApiError> {
    let caller = tokio::task::block_in_place(|| daemon.caller(peer));
    if caller.uid != daemon.uid {
        return Err(ApiError::forbidden("only the account of the daemon restores its snapshots"));
    }
    let _turn = daemon.change_lock.lock().await;
    let saved = open(&daemon, &id)?;
    let undo = to_api_result(tokio::task::block_in_place(|| saved.plan(&id, &request.paths)))?;
    // As on the command line, the user needs no proof, because what is replaced is saved first. A guarded agent needs
    // one, and so does a browser or the holder of a token: an agent may have requested the link, or read the token.
    let is_user = matches!(peer, Peer::Local { .. }) && caller.refusal(Action::UndoForce.name()).is_none();
    if undo.replaces_newer_work(&request) && !is_user {
        let detail = json!({"snapshot": undo.preview().snapshot.id});
        daemon.admit(Action::UndoForce, peer, &request.proof, detail, Vec::new()).await?;
    }
    let result = tokio::task::block_in_place(|| undo.restore(request.force, call_meta::now_ms()));
    let result = to_api_result(result)?;
    let detail = json!({
        "snapshot": result.id, "restored": result.restored, "left": result.left.len(), "saved": result.saved,
        "force": request.force, "authority": caller.to_json(),
    });
    let recorded = daemon.record_change("undo", caller.uid, detail, Vec::new()).await;
    recorded.map_err(|why| ApiError::internal(format!("the restore was not recorded: {why}")))?;
    Ok(Json(result))
}

fn open(daemon: &Daemon, id: &str) -> Result<SavedCalls, ApiError> {
    let saved = to_api_result(SavedCalls::open(&daemon.home))?;
    saved.map_or_else(|| to_api_result(Err(UndoError::UnknownSnapshot(id.to_owned()))), Ok)
}

fn to_api_result<T>(result: Result<T, UndoError>) -> Result<T, ApiError> {
    result.map_err(|error| {
        let message = sanitize(&error.to_string(), 1000);
        match error {
            UndoError::UnknownSnapshot(_) => {
                ApiError::not_found(message).hint("GET /v1/snapshots lists the snapshots")
            }
            UndoError::CannotSaveCurrent(_) => ApiError::conflict(message),
            _ => ApiError::internal(message),
        }
    })
}
