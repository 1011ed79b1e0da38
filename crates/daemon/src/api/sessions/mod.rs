// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sessions over HTTP: list, details, files, timeline and streams.

mod follow;
mod session;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use tenterhook_api::{SessionList, SessionListQuery};
use tenterhook_home::call_meta;
use tenterhook_records::time_spec;

use super::error::ApiError;
use super::extract::QueryParams;
use super::route::Route;
use crate::daemon::Daemon;
use tenterhook_sessions::SessionFilter;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/v1/sessions", "listSessions", list)
            .about("Sessions of all agents, the latest first, a page at a time."),
        Route::get("/v1/sessions/stream", "followSessions", follow::follow_all)
            .about(
                "What happens in all sessions, live: `file-changed`, `todo-update`, `tool`, `prompt`, `denied`, `hint`, \
                 `usage`, `subagent` and `ended`; `lagged` has the number of missed events.",
            )
            .errors(&[503]),
        Route::get("/v1/sessions/{id}", "getSession", session::get)
            .about(
                "One session with its files, to-do list, tools, denials, subagents and prompts. The id may be \
                 `<harness>:<id>`.",
            )
            .errors(&[404]),
        Route::get("/v1/sessions/{id}/files", "getSessionFiles", session::files)
            .about("The files that a session changed, in the order of the first change, and every change.")
            .errors(&[404]),
        Route::get("/v1/sessions/{id}/diff", "getSessionDiff", session::diff)
            .about("The changes of one file of a session, with diffs where calls and results report them.")
            .errors(&[404]),
        Route::get("/v1/sessions/{id}/todos", "getSessionTodos", session::todos)
            .about("The to-do list of a session.")
            .errors(&[404]),
        Route::get("/v1/sessions/{id}/timeline", "getTimeline", session::steps)
            .about("The steps of a session, oldest first, a page at a time from the end.")
            .errors(&[404]),
        Route::get("/v1/sessions/{id}/stream", "followSession", follow::follow_one)
            .about("Live events of one session, as in /v1/sessions/stream.")
            .errors(&[503]),
    ]
}

async fn list(
    State(daemon): State<Arc<Daemon>>,
    QueryParams(query): QueryParams<SessionListQuery>,
) -> Result<Json<SessionList>, ApiError> {
    let SessionListQuery { harness, state, project, since, after, limit } = query;
    let since = since
        .map(|since| time_spec::parse_time_spec(&since, call_meta::now_ms()))
        .transpose()
        .map_err(|why| {
            ApiError::bad_request(format!("invalid `since`: {why}"))
                .hint("write it as 15m, 24h, 7d, a date or a date and time")
        })?;
    let limit = limit.unwrap_or(100).clamp(1, 1000);
    let wanted = SessionFilter { harness, state, project, since, after, limit };
    Ok(Json(daemon.observers.sessions.list(&wanted, call_meta::now())))
}
