// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sessions, as pages and programs ask for them.

mod follow;
mod one;

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use serde::Deserialize;
use tenterhook_home::{door, moment};

use super::refuse;
use super::route::{Gives, Query as Asked, Route, query};
use crate::daemon::Daemon;
use crate::sessions::{STATES, Wanted};

const LIMIT: Asked = query("limit", "integer", "at most so many; 100 unless said, 1000 at most");

pub(super) const ROUTES: &[Route] = &[
    Route::get("/v1/sessions", "listSessions", |method| on(method, list))
        .about("Sessions of all agents, the latest first, a page at a time.")
        .query(&[&[
            query("harness", "string", "of this harness"),
            query("state", "string", "active, waiting, idle or ended"),
            query("project", "string", "in this project or working directory"),
            query("since", "string", "with an event since then: 15m, 24h, 7d, 2026-11-15 or a date and time"),
            query("after", "string", "the `next` of the page before"),
            LIMIT,
        ]])
        .gives(Gives::Json("Sessions"))
        .refuses(&[400]),
    Route::get("/v1/sessions/stream", "followSessions", |method| on(method, follow::all))
        .about(
            "What happens in all sessions, live: `file-changed`, `todo-update`, `tool`, `prompt`, `denied`, `hint`, \
             `usage`, `subagent` and `ended`; `lagged` says how many were missed.",
        )
        .gives(Gives::Stream("SessionNews"))
        .refuses(&[503]),
    Route::get("/v1/sessions/{id}", "getSession", |method| on(method, one::whole))
        .about(
            "One session, whole: files, todos, tools, denials, subagents, prompts, counts. The id may be `<harness>:<id>`.",
        )
        .gives(Gives::Json("Session"))
        .refuses(&[404]),
    Route::get("/v1/sessions/{id}/files", "getSessionFiles", |method| on(method, one::files))
        .about("The files that a session changed: each once in the order of its first change, and every change.")
        .gives(Gives::Json("SessionFiles"))
        .refuses(&[404]),
    Route::get("/v1/sessions/{id}/diff", "getSessionDiff", |method| on(method, one::diff))
        .about("The changes of one file of a session, with diffs where calls and results tell them.")
        .query(&[&[query("path", "string", "the file: its whole path, or from the project")]])
        .gives(Gives::Json("SessionDiff"))
        .refuses(&[400, 404]),
    Route::get("/v1/sessions/{id}/todos", "getSessionTodos", |method| on(method, one::todos))
        .about("The to-do list of a session.")
        .gives(Gives::Json("SessionTodos"))
        .refuses(&[404]),
    Route::get("/v1/sessions/{id}/timeline", "getTimeline", |method| on(method, one::steps))
        .about("What happened in a session, oldest first, a page at a time from the end.")
        .query(&[&[LIMIT, query("before", "integer", "only steps before this leaf: the `next` of the page before")]])
        .gives(Gives::Json("Timeline"))
        .refuses(&[400, 404]),
    Route::get("/v1/sessions/{id}/stream", "followSession", |method| on(method, follow::one))
        .about("What happens in one session, live; the events are those of /v1/sessions/stream.")
        .gives(Gives::Stream("SessionNews"))
        .refuses(&[503]),
];

#[derive(Deserialize)]
struct Listing {
    harness: Option<String>,
    state: Option<String>,
    project: Option<String>,
    since: Option<String>,
    after: Option<String>,
    limit: Option<usize>,
}

async fn list(State(daemon): State<Arc<Daemon>>, Query(asked): Query<Listing>) -> Response {
    let Listing { harness, state, project, since, after, limit } = asked;
    if let Some(state) = &state
        && !STATES.contains(&state.as_str())
    {
        let message = format!("`{state}` is no state of a session");
        return refuse(StatusCode::BAD_REQUEST, &message, Some("say active, waiting, idle or ended"));
    }
    let since = match since.map(|since| moment::read(&since, door::now_ms())).transpose() {
        Ok(since) => since,
        Err(why) => {
            let hint = "say 15m, 24h, 7d, a day or a moment";
            return refuse(StatusCode::BAD_REQUEST, &format!("`since` is no moment: {why}"), Some(hint));
        }
    };
    let limit = limit.unwrap_or(100).clamp(1, 1000);
    let wanted = Wanted { harness, state, project, since, after, limit };
    Json(daemon.observers.sessions.list(&wanted, door::now())).into_response()
}
