// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The HTTP API: the same on the socket and on TCP.

mod approvals;
mod authority;
mod events;
mod health;
mod hooks;
mod mode;

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use tenterhook_harness::MAX_PAYLOAD;

use crate::daemon::Daemon;

/// The one path that answers everybody.
pub(crate) const HEALTH: &str = "/v1/health";

/// Every path there is.
pub(crate) fn router(daemon: Arc<Daemon>) -> Router {
    Router::new()
        .route(HEALTH, get(health::health))
        .route("/v1/hooks/{harness}/{event}", post(hooks::answer))
        .route("/v1/events", post(events::judge))
        .route("/v1/approvals", get(approvals::list))
        .route("/v1/approvals/stream", get(approvals::stream))
        .route("/v1/approvals/{id}", get(approvals::show).post(approvals::answer))
        .route("/v1/authority", get(authority::needs).post(authority::admit))
        .route("/v1/mode", get(mode::get).put(mode::put))
        .fallback(unknown)
        .layer(DefaultBodyLimit::max(MAX_PAYLOAD))
        .with_state(daemon)
}

/// What went wrong, and what to do next.
pub(crate) fn error(status: StatusCode, message: &str, hint: Option<&str>) -> (StatusCode, Json<Value>) {
    let mut error = json!({"message": message});
    if let (Some(error), Some(hint)) = (error.as_object_mut(), hint) {
        error.insert("hint".to_owned(), hint.into());
    }
    (status, Json(json!({"error": error})))
}

async fn unknown() -> (StatusCode, Json<Value>) {
    error(StatusCode::NOT_FOUND, "there is no such path", Some("GET /v1/openapi.json lists them"))
}
