// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::json;
use tenterhook_home::Mode;
use tenterhook_home::authority::Proof;

use super::authority::refused;
use super::error;
use crate::daemon::Daemon;
use crate::listen::Peer;
use crate::mode::{self, Unchanged};

/// What a person wants.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    mode: Mode,
    #[serde(default)]
    proof: Proof,
}

/// Whether the rules hold.
pub(super) async fn get(State(daemon): State<Arc<Daemon>>) -> Response {
    Json(json!({"mode": daemon.generations.base().mode})).into_response()
}

/// Sets it; to watch only needs a proof.
pub(super) async fn put(
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
