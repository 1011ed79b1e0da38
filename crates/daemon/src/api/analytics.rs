// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Returns statistics about hooks, and tests a hook with an event.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use tenterhook_api::{HookAnalytics, HookAnalyticsQuery, HookTestRequest, HookTestResult};
use tenterhook_engine::Hook;
use tenterhook_home::call_meta;
use tenterhook_home::hook_packages::{sample_event, sample_run};
use tenterhook_telemetry::analytics::KEPT_MINUTES;

use super::error::ApiError;
use super::extract::{PathParams, QueryParams, RequestBody};
use super::registered_hooks::find_hook;
use super::route::Route;
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/hooks/analytics", "getHookAnalytics", all).about(
            "Statistics of every hook since the daemon started and in the last minutes: calls, times, failures, denials.",
        ),
        Route::post("/v1/hooks/{id}/test", "testHook", test)
            .about("Runs one hook with a sample event. Nothing is recorded, and no rule is evaluated.")
            .errors(&[404, 503]),
    ]
}

async fn all(
    State(daemon): State<Arc<Daemon>>,
    QueryParams(query): QueryParams<HookAnalyticsQuery>,
) -> Json<HookAnalytics> {
    let minutes = query.minutes.unwrap_or(60).clamp(1, KEPT_MINUTES);
    let now = call_meta::now();
    Json(HookAnalytics { hooks: daemon.observers.analytics.summaries(minutes, now), minutes, now })
}

async fn test(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    PathParams(id): PathParams<String>,
    RequestBody(request): RequestBody<HookTestRequest>,
) -> Result<Json<HookTestResult>, ApiError> {
    // A test is not recorded, so a guarded agent must not run hooks this way.
    let caller = tokio::task::block_in_place(|| daemon.caller(peer));
    if let Some(refused) = caller.refusal("hooks test") {
        return Err(refused.into());
    }
    let event = match (request.event, request.sample) {
        (Some(event), None) => event,
        (None, Some(sample)) => sample_event(&sample)?,
        _ => {
            let hint = "send {\"sample\": {\"event\": \"pre-tool\", \"tool\": {\"name\": …, \"args\": …}}}";
            return Err(ApiError::bad_request("either `sample` or `event` is needed").hint(hint));
        }
    };
    let hook = find_hook(&daemon, &id)?;
    let Some(_call) = daemon.begin_call(peer) else {
        return Err(ApiError::busy("server busy"));
    };
    let why = sample_run::reason_not_applicable(&hook, &event);
    let outcome = sample_run::run_hooks(vec![Hook::clone(&hook)], event.clone()).await?;
    Ok(Json(HookTestResult { applies: why.is_none(), why, event, outcome }))
}
