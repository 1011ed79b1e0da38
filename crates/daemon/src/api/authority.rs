// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_home::authority::{Action, Proof, Refused};

use super::error;
use crate::daemon::Daemon;
use crate::listen::Peer;

/// What somebody wants to do.
#[derive(Debug, Deserialize)]
pub(super) struct Asked {
    action: String,
}

/// The same, with what they show for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Shown {
    action: String,
    #[serde(default)]
    detail: Value,
    #[serde(default)]
    proof: Proof,
}

/// What whoever asks would have to show.
pub(super) async fn needs(
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
pub(super) async fn admit(
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
