// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use tenterhook_event::{Call, Event};

use super::error;
use crate::daemon::Daemon;
use crate::hook;
use crate::listen::Peer;

/// One event in the normal form; its outcome comes back, once it is recorded.
pub(super) async fn judge(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    body: Bytes,
) -> Response {
    let event: Event = match serde_json::from_slice(&body) {
        Ok(event) => event,
        Err(why) => {
            let message = format!("this is no event: {why}");
            let hint = "docs/reference/event.schema.json says what one looks like";
            return error(StatusCode::BAD_REQUEST, &message, Some(hint)).into_response();
        }
    };
    daemon.calls(peer, &event.source);
    match hook::fire(&daemon, &Call { event, native: None }).await {
        Ok(outcome) => Json(outcome).into_response(),
        Err(why) => error(StatusCode::INTERNAL_SERVER_ERROR, &why, None).into_response(),
    }
}
