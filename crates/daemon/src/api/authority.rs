// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_home::authority::{Action, Proof, Refused};

use super::route::{Gives, Route, Takes, query};
use super::{error, failed};
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) const ROUTES: &[Route] = &[
    Route::get("/v1/authority", "getAuthority", |method| on(method, needs))
        .about("What whoever asks would have to show to do something that loosens protection.")
        .query(&[&[query("action", "string", "such as `mode monitor` or `policy change`")]])
        .gives(Gives::Json("AuthorityNeeds"))
        .refuses(&[400]),
    Route::post("/v1/authority", "passAuthority", |method| on(method, admit))
        .about("Passes the gate for something that whoever asks then does themselves; a leaf says so either way.")
        .takes(Takes::Json("AuthorityRequest"))
        .gives(Gives::Json("AuthorityGranted"))
        .refuses(&[400, 403]),
    Route::get("/v1/authority/agents", "listAgents", |method| on(method, agents))
        .about("The processes that are marked as guarded agents: they and what they start pass the gate with a code only.")
        .gives(Gives::Json("MarkedAgents")),
    Route::post("/v1/authority/agents/{pid}/forget", "forgetAgent", |method| on(method, forget))
        .about("Clears the mark of a process that is not an agent; needs a proof. A hook call of a harness marks its process again.")
        .takes(Takes::Json("SwitchRequest"))
        .gives(Gives::Json("ForgottenAgent"))
        .refuses(&[400, 403, 404]),
];

/// What somebody wants to do.
#[derive(Debug, Deserialize)]
struct Asked {
    action: String,
}

/// The same, with what they show for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shown {
    action: String,
    #[serde(default)]
    detail: Value,
    #[serde(default)]
    proof: Proof,
}

/// What whoever asks would have to show.
async fn needs(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    Query(Asked { action }): Query<Asked>,
) -> Response {
    let Some(action) = Action::from_name(&action) else { return unknown(&action) };
    let caller = tokio::task::block_in_place(|| daemon.caller(peer));
    let needs = daemon.authority.needs(action, &caller);
    Json(json!({"action": action.name(), "needs": needs, "guarded": caller.agent.is_some() || caller.doubt().is_some()})).into_response()
}

/// Passes the gate, for something that is done by whoever asks.
async fn admit(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    Json(Shown { action, detail, proof }): Json<Shown>,
) -> Response {
    let Some(action) = Action::from_name(&action) else { return unknown(&action) };
    match daemon.admit(action, peer, &proof, detail, Vec::new()).await {
        Ok(granted) => Json(json!({"action": action.name(), "proof": granted.proof})).into_response(),
        Err(why) => refused(&why),
    }
}

/// Request to clear a mark.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct ForgetAgentRequest {
    proof: Proof,
}

async fn agents(State(daemon): State<Arc<Daemon>>) -> Json<Value> {
    Json(json!({"agents": tokio::task::block_in_place(|| daemon.authority.agents.list())}))
}

async fn forget(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    Path(pid): Path<i32>,
    Json(ForgetAgentRequest { proof }): Json<ForgetAgentRequest>,
) -> Response {
    let marks = &daemon.authority.agents;
    let Some(agent) = marks.list().into_iter().find(|agent| agent.pid == pid) else {
        let message = format!("process {pid} is not marked as an agent");
        return error(StatusCode::NOT_FOUND, &message, Some("`tenterhook agent list` shows the marks"))
            .into_response();
    };
    if let Err(why) =
        daemon.admit(Action::AgentForget, peer, &proof, json!({"agent": agent}), Vec::new()).await
    {
        return refused(&why);
    }
    match marks.forget(pid) {
        Ok(_) => Json(json!({"pid": pid, "name": agent.name})).into_response(),
        Err(failure) => failed(&failure),
    }
}

/// Somebody may not.
pub(super) fn refused(why: &Refused) -> Response {
    error(StatusCode::FORBIDDEN, &why.why, Some(&why.hint)).into_response()
}

fn unknown(action: &str) -> Response {
    error(StatusCode::BAD_REQUEST, &format!("`{action}` is nothing that passes the gate"), None)
        .into_response()
}
