// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_home::authority::{Action, Proof, Refused};

use super::error;
use super::route::{Gives, Route, Takes, query};
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
    let caller = daemon.caller(peer);
    let needs = daemon.authority.needs(action, &caller);
    Json(json!({"action": action.name(), "needs": needs, "guarded": caller.agent.is_some()})).into_response()
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

/// Somebody may not.
pub(super) fn refused(why: &Refused) -> Response {
    error(StatusCode::FORBIDDEN, &why.why, Some(&why.hint)).into_response()
}

fn unknown(action: &str) -> Response {
    error(StatusCode::BAD_REQUEST, &format!("`{action}` is nothing that passes the gate"), None)
        .into_response()
}
