// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Returns one session. Details that are no longer in memory are reloaded from the ledger.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use tenterhook_api::{
    SessionDetails, SessionDiff, SessionDiffQuery, SessionFiles, SessionTodos, Timeline, TimelineQuery,
};
use tenterhook_home::call_meta;

use crate::api::error::ApiError;
use crate::api::extract::{PathParams, QueryParams};
use crate::daemon::Daemon;
use tenterhook_records::sanitize;
use tenterhook_sessions::{SessionKey, SessionProjector, SessionView};

pub(super) async fn get(
    State(daemon): State<Arc<Daemon>>,
    PathParams(id): PathParams<String>,
) -> Result<Json<SessionDetails>, ApiError> {
    let (key, mut session) = read_session(&daemon, &id, |view| view.details(call_meta::now())).await?;
    let remembered = tenterhook_guard::SessionStateDir::new(daemon.home.sessions());
    session.labels = match remembered.labels(&key.harness, &key.id) {
        Ok(labels) => Some(labels),
        Err(failure) => {
            tracing::warn!(why = failure.message, "a session is shown without its labels");
            None
        }
    };
    let id = key.id;
    let found = tokio::task::block_in_place(|| tenterhook_guard::list_session_snapshots(&daemon.home, &id));
    session.snapshots = found.unwrap_or_else(|error| {
        tracing::warn!(%error, "a session is shown without its snapshots");
        Vec::new()
    });
    Ok(Json(session))
}

pub(super) async fn files(
    State(daemon): State<Arc<Daemon>>,
    PathParams(id): PathParams<String>,
) -> Result<Json<SessionFiles>, ApiError> {
    read_session(&daemon, &id, |view: &SessionView<'_>| view.files()).await.map(|(_, files)| Json(files))
}

pub(super) async fn todos(
    State(daemon): State<Arc<Daemon>>,
    PathParams(id): PathParams<String>,
) -> Result<Json<SessionTodos>, ApiError> {
    read_session(&daemon, &id, |view: &SessionView<'_>| view.todos()).await.map(|(_, todos)| Json(todos))
}

pub(super) async fn diff(
    State(daemon): State<Arc<Daemon>>,
    PathParams(id): PathParams<String>,
    QueryParams(query): QueryParams<SessionDiffQuery>,
) -> Result<Json<SessionDiff>, ApiError> {
    let Some(path) = query.path.filter(|path| !path.is_empty()) else {
        let hint = "add ?path=…; GET /v1/sessions/{id}/files lists the files";
        return Err(ApiError::bad_request("`path` is missing").hint(hint));
    };
    let wanted = path.clone();
    let (_, changes) = read_session(&daemon, &id, move |view| view.changes_of(&wanted)).await?;
    if changes.is_empty() {
        let message = format!("session `{}` changed no file `{}`", sanitize(&id, 100), sanitize(&path, 500));
        return Err(ApiError::not_found(message).hint("GET /v1/sessions/{id}/files lists the files"));
    }
    let changes = daemon.readers.with(move |reader| tenterhook_sessions::diff(changes, reader)).await?;
    Ok(Json(SessionDiff { path, changes }))
}

pub(super) async fn steps(
    State(daemon): State<Arc<Daemon>>,
    PathParams(id): PathParams<String>,
    QueryParams(TimelineQuery { limit, before }): QueryParams<TimelineQuery>,
) -> Result<Json<Timeline>, ApiError> {
    let (key, _) = find(&daemon, &id).await?;
    let limit = limit.unwrap_or(100).clamp(1, 1000);
    daemon
        .readers
        .with(move |reader| tenterhook_sessions::timeline(reader, &key, before, limit))
        .await
        .map(Json)
}

/// Finds the session with an id. Also returns whether all its details are in memory.
pub(super) async fn find(daemon: &Arc<Daemon>, id: &str) -> Result<(SessionKey, bool), ApiError> {
    if let Some(found) = daemon.observers.sessions.find(id) {
        return Ok(found);
    }
    let asked = id.to_owned();
    let found = daemon.readers.with(move |reader| SessionProjector::find_recorded(&asked, reader)).await?;
    found.map(|key| (key, false)).ok_or_else(|| unknown_session(id))
}

/// Reads a session with all its details.
async fn read_session<T: Send + 'static>(
    daemon: &Arc<Daemon>,
    id: &str,
    read: impl Fn(&SessionView<'_>) -> T + Send + 'static,
) -> Result<(SessionKey, T), ApiError> {
    let (key, is_complete) = find(daemon, id).await?;
    let sessions = Arc::clone(&daemon.observers.sessions);
    if is_complete && let Some(found) = sessions.with_session(&key, &read) {
        return Ok((key, found));
    }
    let wanted = key.clone();
    let found = daemon.readers.with(move |reader| sessions.reload(&wanted, reader, read)).await?;
    found.map(|found| (key, found)).ok_or_else(|| unknown_session(id))
}

fn unknown_session(id: &str) -> ApiError {
    ApiError::not_found(format!("unknown session `{}`", sanitize(id, 100)))
        .hint("GET /v1/sessions lists sessions; older ones are in GET /v1/ledger?session=…")
}
