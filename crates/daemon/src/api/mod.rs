// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The HTTP API: the same on the socket and on TCP. [`ROUTES`] is all of it.

mod analytics;
mod approvals;
mod authority;
mod backtest;
mod body;
mod dashboard;
mod draft;
mod events;
mod harnesses;
mod health;
mod hooks;
mod kits;
mod ledger;
mod metrics;
mod mode;
mod openapi;
mod packs;
mod policy;
mod readers;
mod registered;
mod route;
mod sessions;
mod sse;
mod stream;
mod templates;

use std::sync::Arc;

use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::{Json, Router, middleware};
use serde_json::{Value, json};
use tenterhook_harness::MAX_PAYLOAD;
use tenterhook_home::Failure;

use crate::daemon::Daemon;
pub(crate) use dashboard::{ENTRY, Visitor};
pub(crate) use ledger::Verification;
pub use openapi::document as openapi;
pub(crate) use readers::Readers;
use route::Route;

/// The one path that answers everybody.
pub(crate) const HEALTH: &str = "/v1/health";

/// Every operation there is, by the part of the document it belongs to.
const ROUTES: &[(&str, &[Route])] = &[
    ("daemon", health::ROUTES),
    ("hooks", hooks::ROUTES),
    ("hooks", registered::ROUTES),
    ("hooks", analytics::ROUTES),
    ("hooks", kits::ROUTES),
    ("hooks", templates::ROUTES),
    ("events", events::ROUTES),
    ("sessions", sessions::ROUTES),
    ("ledger", ledger::ROUTES),
    ("policy", policy::ROUTES),
    ("policy", packs::ROUTES),
    ("policy", draft::ROUTES),
    ("policy", backtest::ROUTES),
    ("approvals", approvals::ROUTES),
    ("harnesses", harnesses::ROUTES),
    ("authority", mode::ROUTES),
    ("authority", authority::ROUTES),
    ("dashboard", dashboard::ROUTES),
    ("daemon", stream::ROUTES),
    ("daemon", metrics::ROUTES),
    ("daemon", openapi::ROUTES),
];

/// Every path there is.
pub(crate) fn router(daemon: Arc<Daemon>) -> Router {
    let routes = ROUTES.iter().flat_map(|(_, routes)| *routes);
    routes
        .fold(Router::new(), |router, route| router.route(route.path, route.serve()))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(MAX_PAYLOAD))
        .layer(middleware::from_fn(body::bounded))
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

/// The same as an answer.
fn refuse(status: StatusCode, message: &str, hint: Option<&str>) -> Response {
    error(status, message, hint).into_response()
}

/// Work that could not be done.
fn failed(failure: &Failure) -> Response {
    let status = if failure.exit == 2 { StatusCode::BAD_REQUEST } else { StatusCode::INTERNAL_SERVER_ERROR };
    refuse(status, &failure.message, failure.hints.first().map(String::as_str))
}

/// Reads a body that has to be JSON of a type.
fn read<T: serde::de::DeserializeOwned>(body: &[u8], what: &str, hint: &str) -> Result<T, Box<Response>> {
    serde_json::from_slice(body).map_err(|why| {
        let message = format!("this is no {what}: {why}");
        Box::new(refuse(StatusCode::BAD_REQUEST, &message, Some(hint)))
    })
}

async fn unknown() -> (StatusCode, Json<Value>) {
    error(StatusCode::NOT_FOUND, "there is no such path", Some("GET /v1/openapi.json lists them"))
}

async fn wrong_method() -> (StatusCode, Json<Value>) {
    let hint = "GET /v1/openapi.json says what each path takes";
    error(StatusCode::METHOD_NOT_ALLOWED, "this path does not take that method", Some(hint))
}
