// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::json;
use tenterhook_home::Mode;
use tenterhook_home::authority::Proof;

use super::authority::refused;
use super::error;
use super::route::{Gives, Route, Takes};
use crate::daemon::Daemon;
use crate::listen::Peer;
use crate::mode::{self, Unchanged};

pub(super) const ROUTES: &[Route] = &[
    Route::get("/v1/mode", "getMode", |method| on(method, get))
        .about("Whether the rules hold, or only watch.")
        .gives(Gives::Json("Mode")),
    Route::put("/v1/mode", "setMode", |method| on(method, put))
        .about("Makes the rules hold, or only watch; to watch only needs a person's proof.")
        .takes(Takes::Json("ModeRequest"))
        .gives(Gives::Json("Mode"))
        .refuses(&[400, 403]),
];

/// What a person wants.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    mode: Mode,
    #[serde(default)]
    proof: Proof,
}

/// Whether the rules hold.
async fn get(State(daemon): State<Arc<Daemon>>) -> Response {
    Json(json!({"mode": daemon.generations.base().mode})).into_response()
}

/// Sets it; to watch only needs a proof.
async fn put(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    Json(Wanted { mode, proof }): Json<Wanted>,
) -> Response {
    match mode::set(&daemon, mode, peer, &proof).await {
        Ok(changed) => Json(json!({"mode": mode, "changed": changed})).into_response(),
        Err(Unchanged::Refused(why)) => refused(&why),
        Err(Unchanged::Failed(failure)) => {
            error(StatusCode::INTERNAL_SERVER_ERROR, &failure.message, None).into_response()
        }
    }
}
