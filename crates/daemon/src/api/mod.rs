// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The HTTP API. [`groups`] lists all operations; their types are in `tenterhook-api`.

mod analytics;
mod approvals;
mod authority;
mod backtest;
mod dashboard;
mod enrolment;
mod events;
mod fleet_policy;
mod harnesses;
mod health;
mod hook_calls;
mod hook_packages;
mod ledger;
mod live_stream;
mod metrics;
mod mode;
mod openapi;
mod packs;
mod policy;
mod readers;
mod registered_hooks;
mod request_body;
mod rule_draft;
mod rule_text;
mod runs;
mod sessions;
mod snapshots;
mod sse;
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
pub(crate) use dashboard::{ENTRY_PATH, Visitor};
pub(crate) use error::ApiError;
pub(crate) use ledger::Verification;
#[cfg(feature = "schema")]
pub use openapi::document as openapi;
pub(crate) use readers::LedgerReaders;
use route::Route;
pub(crate) use sse::to_json;

/// Route types with this daemon as their state.
mod route {
    use std::sync::Arc;

    pub(super) use tenterhook_api_routes::route::HeaderParameter;

    pub(super) type Route = tenterhook_api_routes::route::Route<Arc<crate::daemon::Daemon>>;
}

/// Path of the health check, which needs no token.
pub(crate) const HEALTH_PATH: &str = "/v1/health";

/// Returns all operations, grouped by section of the OpenAPI document.
fn groups() -> Vec<(&'static str, Vec<Route>)> {
    vec![
        ("daemon", health::routes()),
        ("hooks", hook_calls::routes()),
        ("hooks", registered_hooks::routes()),
        ("hooks", analytics::routes()),
        ("hooks", hook_packages::routes()),
        ("hooks", templates::routes()),
        ("events", events::routes()),
        ("sessions", sessions::routes()),
        ("sessions", runs::routes()),
        ("sessions", snapshots::routes()),
        ("ledger", ledger::routes()),
        ("policy", policy::routes()),
        ("policy", packs::routes()),
        ("policy", rule_draft::routes()),
        ("policy", rule_text::routes()),
        ("policy", backtest::routes()),
        ("policy", fleet_policy::routes()),
        ("approvals", approvals::routes()),
        ("harnesses", harnesses::routes()),
        ("authority", mode::routes()),
        ("authority", authority::routes()),
        ("authority", enrolment::routes()),
        ("dashboard", dashboard::routes()),
        ("daemon", live_stream::routes()),
        ("daemon", metrics::routes()),
        ("daemon", openapi::routes()),
    ]
}

/// Builds the router that serves all operations.
pub(crate) fn router(daemon: Arc<Daemon>) -> Router {
    let routes = groups().into_iter().flat_map(|(_, routes)| routes);
    routes
        .fold(Router::new(), |router, route| router.route(route.path, route.serve))
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(MAX_PAYLOAD_BYTES))
        .layer(middleware::from_fn(request_body::read_whole_body))
        .with_state(daemon)
}

/// Converts problems in files to their API form.
pub(crate) fn file_problems<'a>(problems: impl IntoIterator<Item = &'a Problem>) -> Vec<FileProblem> {
    problems.into_iter().cloned().map(file_problem).collect()
}

fn file_problem(problem: Problem) -> FileProblem {
    let Problem { source, line, column, about, message, hint } = problem;
    FileProblem { source, line, column, about, message, hint }
}

async fn unknown_path() -> ApiError {
    ApiError::not_found("unknown path").hint("GET /v1/openapi.json lists the paths")
}

async fn wrong_method() -> ApiError {
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method not allowed for this path")
        .hint("GET /v1/openapi.json lists the methods of each path")
}
