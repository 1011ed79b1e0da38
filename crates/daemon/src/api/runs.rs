// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Routes that list and register sandboxed runs.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use serde_json::json;
use tenterhook_api::{RunRegistration, SandboxedRun, SandboxedRunList};
use tenterhook_authority::Process;

use super::error::ApiError;
use super::extract::RequestBody;
use super::route::Route;
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/runs", "listRuns", list).about("The sandboxed runs that have not ended."),
        Route::post("/v1/runs", "registerRun", register)
            .about(
                "Registers a sandboxed run that the caller supervises: its processes are a guarded agent from now on. \
                 Over the socket only, for the account of the daemon, and not for agents.",
            )
            .errors(&[409, 503]),
    ]
}

async fn list(State(daemon): State<Arc<Daemon>>) -> Json<SandboxedRunList> {
    Json(SandboxedRunList { runs: daemon.authority.agents.runs.list() })
}

async fn register(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    RequestBody(run): RequestBody<RunRegistration>,
) -> Result<Json<SandboxedRun>, ApiError> {
    let Peer::Local { uid, pid: Some(pid), start: Some(start) } = peer else {
        return Err(ApiError::forbidden(
            "runs are registered over the Unix socket only, by a running process",
        ));
    };
    let caller = tokio::task::block_in_place(|| daemon.caller(peer));
    if uid != daemon.uid {
        return Err(ApiError::forbidden("only the account of the daemon registers runs"));
    }
    // The outer agent's marks cover everything that it starts, and a run inside it cannot claim a level.
    if let Some(refused) = caller.refusal("register a sandboxed run") {
        return Err(refused.into());
    }
    let supervisor = Process::read(pid).filter(|process| process.start == start);
    let supervisor = supervisor.ok_or_else(|| ApiError::forbidden("the caller has ended"))?;
    let (id, level, command) = (run.id, run.level, run.command.clone());
    let registered = daemon.authority.agents.runs.register(run, &supervisor);
    let is_new = match registered.map_err(|failure| ApiError::internal(failure.message))? {
        Ok(is_new) => is_new,
        Err(refusal) => return Err(ApiError::conflict(refusal.to_string())),
    };
    let runs = daemon.authority.agents.runs.list();
    let run = runs.into_iter().find(|run| run.id == id);
    let run = run.ok_or_else(|| ApiError::conflict("the run's first process has ended"))?;
    if is_new {
        let detail = json!({"run": id, "level": level, "command": command, "authority": caller.to_json()});
        // The run is registered either way: the record says what is confined, not what is permitted.
        if let Err(why) = daemon.record_change("sandbox", uid, detail, Vec::new()).await {
            tracing::warn!(%why, "a sandboxed run could not be recorded");
        }
        daemon.watch_run(run.clone());
    }
    Ok(Json(run))
}
