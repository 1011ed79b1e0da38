// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The HTTP API: the same on the socket and on TCP. [`groups`] lists all operations; their types are in
//! `tenterhook-api`.

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
mod sessions;
mod sse;
mod stream;
mod templates;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware;
use tenterhook_api::FileProblem;
use tenterhook_api_routes::{error, extract, shape};
use tenterhook_document::Problem;
use tenterhook_harness::MAX_PAYLOAD_BYTES;

use crate::daemon::Daemon;
pub(crate) use dashboard::{ENTRY, Visitor};
pub(crate) use error::ApiError;
pub(crate) use ledger::Verification;
#[cfg(feature = "schema")]
pub use openapi::document as openapi;
pub(crate) use readers::Readers;
use route::Route;
pub(crate) use sse::to_json;

/// Routes of this daemon.
mod route {
    use std::sync::Arc;

    pub(super) use tenterhook_api_routes::route::HeaderParameter;

    pub(super) type Route = tenterhook_api_routes::route::Route<Arc<crate::daemon::Daemon>>;
}

/// The one path that answers everybody.
pub(crate) const HEALTH: &str = "/v1/health";

/// All operations, by the part of the document that they belong to.
fn groups() -> Vec<(&'static str, Vec<Route>)> {
    vec![
        ("daemon", health::routes()),
        ("hooks", hooks::routes()),
        ("hooks", registered::routes()),
        ("hooks", analytics::routes()),
        ("hooks", kits::routes()),
        ("hooks", templates::routes()),
        ("events", events::routes()),
        ("sessions", sessions::routes()),
        ("ledger", ledger::routes()),
        ("policy", policy::routes()),
        ("policy", packs::routes()),
        ("policy", draft::routes()),
        ("policy", backtest::routes()),
        ("approvals", approvals::routes()),
        ("harnesses", harnesses::routes()),
        ("authority", mode::routes()),
        ("authority", authority::routes()),
        ("dashboard", dashboard::routes()),
        ("daemon", stream::routes()),
        ("daemon", metrics::routes()),
        ("daemon", openapi::routes()),
    ]
}

/// Serves all operations.
pub(crate) fn router(daemon: Arc<Daemon>) -> Router {
    let routes = groups().into_iter().flat_map(|(_, routes)| routes);
    routes
        .fold(Router::new(), |router, route| router.route(route.path, route.serve))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(MAX_PAYLOAD_BYTES))
        .layer(middleware::from_fn(body::bounded))
        .with_state(daemon)
}

/// Problems in files, as the API describes them.
pub(crate) fn file_problems<'a>(problems: impl IntoIterator<Item = &'a Problem>) -> Vec<FileProblem> {
    problems.into_iter().cloned().map(file_problem).collect()
}

fn file_problem(problem: Problem) -> FileProblem {
    let Problem { source, line, column, about, message, hint } = problem;
    FileProblem { source, line, column, about, message, hint }
}

async fn unknown() -> ApiError {
    ApiError::not_found("there is no such path").hint("GET /v1/openapi.json lists them")
}

async fn wrong_method() -> ApiError {
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "this path does not take that method")
        .hint("GET /v1/openapi.json says what each path takes")
}
