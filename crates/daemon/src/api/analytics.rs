// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How hooks do, and what one of them makes of an event.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::json;
use tenterhook_engine::Hook;
use tenterhook_event::Event;
use tenterhook_home::door;
use tenterhook_home::kits::{Sample, tried};

use super::route::{Gives, Route, Takes, query};
use super::{failed, read, refuse, registered};
use crate::analytics::KEPT;
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) const ROUTES: &[Route] = &[
    Route::get("/v1/hooks/analytics", "getHookAnalytics", |method| on(method, all))
        .about("How every hook did since the daemon began and in the last minutes: calls, times, failures, blocks.")
        .query(&[&[query("minutes", "integer", "of so many minutes; 60 unless said, 180 at most")]])
        .gives(Gives::Json("HookAnalytics")),
    Route::post("/v1/hooks/{id}/test", "testHook", |method| on(method, test))
        .about("Runs one hook with a sample event. Nothing is recorded, and no rule is asked.")
        .takes(Takes::Json("HookTestRequest"))
        .gives(Gives::Json("HookTested"))
        .refuses(&[400, 403, 404, 503]),
];

#[derive(Deserialize)]
struct Asked {
    minutes: Option<u64>,
}

async fn all(State(daemon): State<Arc<Daemon>>, Query(asked): Query<Asked>) -> Response {
    let minutes = asked.minutes.unwrap_or(60).clamp(1, KEPT);
    let now = door::now();
    let hooks = daemon.observers.analytics.all(minutes, now);
    Json(json!({"hooks": hooks, "minutes": minutes, "now": now})).into_response()
}

/// The event to try it with: in our own words, or what there is to say of one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    sample: Option<Sample>,
    event: Option<Event>,
}

async fn test(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    Path(id): Path<String>,
    body: Bytes,
) -> Response {
    // What a hook does is not for an agent to set off, unseen by the record.
    let caller = tokio::task::block_in_place(|| daemon.caller(peer));
    if let Some(refused) = caller.refusal("hooks test") {
        return refuse(StatusCode::FORBIDDEN, &refused.why, Some(&refused.hint));
    }
    let hint = "send {\"sample\": {\"event\": \"pre-tool\", \"tool\": {\"name\": …, \"args\": …}}}";
    let wanted: Wanted = match read(&body, "sample event", hint) {
        Ok(wanted) => wanted,
        Err(response) => return *response,
    };
    let event = match (wanted.event, wanted.sample) {
        (Some(event), None) => Ok(event),
        (None, Some(sample)) => sample.event(),
        _ => return refuse(StatusCode::BAD_REQUEST, "either `sample` or `event` is needed", Some(hint)),
    };
    let event = match event {
        Ok(event) => event,
        Err(failure) => return failed(&failure),
    };
    let Some(hook) = registered::found(&daemon, &id) else { return registered::unknown(&id) };
    let Some(_call) = daemon.begin_call(peer) else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "the daemon has too much to do", None);
    };
    let why = tried::why_not(&hook, &event);
    match tried::run(vec![Hook::clone(&hook)], event.clone()).await {
        Ok(outcome) => {
            Json(json!({"applies": why.is_none(), "why": why, "event": event, "outcome": outcome}))
                .into_response()
        }
        Err(failure) => failed(&failure),
    }
}
