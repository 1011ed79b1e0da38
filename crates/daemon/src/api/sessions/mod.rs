// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use serde::Deserialize;
use serde_json::{Value, json};
use tenterhook_home::door;
use tenterhook_home::recorded::{self, Field as _};
use tenterhook_ledger::{Filter, Record};

use super::refuse;
use super::route::{Gives, Route, query};
use crate::daemon::Daemon;
use crate::sessions::{Key, Wanted, clean};

/// The longest text of a step.
const GIST: usize = 500;

pub(super) const ROUTES: &[Route] = &[
    Route::get("/v1/sessions", "listSessions", |method| on(method, list))
        .about("Sessions of all agents, the latest first.")
        .query(&[&[
            query("harness", "string", "of this harness"),
            query("state", "string", "active, waiting, idle or ended"),
            query("project", "string", "in this project or working directory"),
            query("limit", "integer", "at most so many; 100 unless said, 1000 at most"),
        ]])
        .gives(Gives::Json("Sessions"))
        .refuses(&[400]),
    Route::get("/v1/sessions/{id}", "getSession", |method| on(method, one))
        .about(
            "One session, whole: files, todos, subagents, prompts, counts. The id may be `<harness>:<id>`.",
        )
        .gives(Gives::Json("Session"))
        .refuses(&[404]),
    Route::get("/v1/sessions/{id}/timeline", "getTimeline", |method| on(method, timeline))
        .about("What happened in a session, oldest first, a page at a time from the end.")
        .query(&[&[
            query("limit", "integer", "at most so many; 100 unless said, 1000 at most"),
            query("before", "integer", "only steps before this leaf: the `next` of the page before"),
        ]])
        .gives(Gives::Json("Timeline"))
        .refuses(&[400, 404]),
];

#[derive(Deserialize)]
struct Listing {
    harness: Option<String>,
    state: Option<String>,
    project: Option<String>,
    limit: Option<usize>,
}

async fn list(State(daemon): State<Arc<Daemon>>, Query(asked): Query<Listing>) -> Response {
    let Listing { harness, state, project, limit } = asked;
    if let Some(state) = &state
        && !["active", "waiting", "idle", "ended"].contains(&state.as_str())
    {
        let message = format!("`{state}` is no state of a session");
        return refuse(StatusCode::BAD_REQUEST, &message, Some("say active, waiting, idle or ended"));
    }
    let wanted = Wanted { harness, state, project, limit: limit.unwrap_or(100).min(1000) };
    let (sessions, all) = daemon.observers.sessions.list(&wanted, door::now());
    Json(json!({"sessions": sessions, "all": all})).into_response()
}

async fn one(State(daemon): State<Arc<Daemon>>, Path(id): Path<String>) -> Response {
    let Some((key, mut session)) = daemon.observers.sessions.whole(&id, door::now()) else {
        return unknown(&id);
    };
    let remembered = tenterhook_home::Sessions::new(daemon.home.sessions());
    if let Some(fields) = session.as_object_mut() {
        fields.insert("labels".to_owned(), json!(remembered.labels(&key.harness, &key.id)));
    }
    Json(session).into_response()
}

fn unknown(id: &str) -> Response {
    let message = format!("there is no session `{}`", clean(id, 100));
    let hint = "GET /v1/sessions lists them; older ones are in GET /v1/ledger?session=…";
    refuse(StatusCode::NOT_FOUND, &message, Some(hint))
}

#[derive(Deserialize)]
struct Paging {
    limit: Option<u64>,
    before: Option<u64>,
}

async fn timeline(
    State(daemon): State<Arc<Daemon>>,
    Path(id): Path<String>,
    Query(asked): Query<Paging>,
) -> Response {
    let known = daemon.observers.sessions.whole(&id, door::now()).map(|(key, _)| key);
    // What is older than the daemon's memory is still in the ledger.
    let Key { harness, id: session } = match (known, id.split_once(':')) {
        (Some(key), _) => key,
        (None, Some((harness, session))) => Key { harness: harness.to_owned(), id: session.to_owned() },
        (None, None) => Key { harness: String::new(), id: id.clone() },
    };
    let harness = Some(harness).filter(|harness| !harness.is_empty());
    let filter = Filter { session: Some(session), harness, before: asked.before, ..Filter::default() };
    let limit = asked.limit.unwrap_or(100).min(1000);
    let found = match daemon.readers.with(move |reader| reader.query(&filter, limit)).await {
        Ok(found) => found,
        Err(response) => return *response,
    };
    if found.records.is_empty() && asked.before.is_none() {
        return unknown(&id);
    }
    let steps: Vec<_> = found.records.iter().rev().map(step).collect();
    Json(json!({"steps": steps, "next": found.next})).into_response()
}

/// One leaf as one line of a timeline. The ledger took the secrets out already.
fn step(record: &Record) -> Value {
    let (leaf, payload) = (recorded::leaf(record), recorded::payload(record));
    let detail = payload.field("detail");
    let said = ["prompt", "response", "message", "error", "cause"];
    let said = said.iter().find_map(|key| detail.field(key).as_str()).map(|text| clean(text, GIST));
    let tool = recorded::tool(&leaf, &payload)
        .map(|tool| json!({"name": tool.name, "class": tool.class, "gist": clean(&tool.gist(), GIST)}));
    json!({
        "seq": record.seq,
        "id": leaf.field("id"),
        "ts": leaf.field("ts"),
        "event": leaf.field("event"),
        "native_event": leaf.field("native_event"),
        "tool": tool,
        "tool_use_id": leaf.field("tool_use_id"),
        "turn": leaf.field("turn_id"),
        "agent": leaf.field("agent"),
        "said": said,
        "verdict": leaf.field("verdict"),
        "rule": leaf.field("policy_rule_id"),
        "reason": leaf.field("reason"),
        "took_us": leaf.field("took_us"),
        "ran_ms": detail.field("duration_ms"),
        "pruned": record.bytes.is_none(),
    })
}
