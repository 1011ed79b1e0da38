// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One session. What is not in memory any more comes back from the ledger.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;
use tenterhook_home::door;

use crate::api::refuse;
use crate::daemon::Daemon;
use crate::sessions::{self, Key, Projector, View, clean};

pub(super) async fn whole(State(daemon): State<Arc<Daemon>>, Path(id): Path<String>) -> Response {
    let (key, mut session) = match look(&daemon, &id, |view| view.whole(door::now())).await {
        Ok(found) => found,
        Err(response) => return *response,
    };
    let remembered = tenterhook_home::Sessions::new(daemon.home.sessions());
    if let Some(fields) = session.as_object_mut() {
        fields.insert("labels".to_owned(), json!(remembered.labels(&key.harness, &key.id)));
    }
    Json(session).into_response()
}

pub(super) async fn files(State(daemon): State<Arc<Daemon>>, Path(id): Path<String>) -> Response {
    match look(&daemon, &id, |view: &View<'_>| view.files()).await {
        Ok((_, files)) => Json(files).into_response(),
        Err(response) => *response,
    }
}

pub(super) async fn todos(State(daemon): State<Arc<Daemon>>, Path(id): Path<String>) -> Response {
    match look(&daemon, &id, |view: &View<'_>| view.todos()).await {
        Ok((_, todos)) => Json(todos).into_response(),
        Err(response) => *response,
    }
}

#[derive(Deserialize)]
pub(super) struct File {
    path: Option<String>,
}

pub(super) async fn diff(
    State(daemon): State<Arc<Daemon>>,
    Path(id): Path<String>,
    Query(asked): Query<File>,
) -> Response {
    let Some(path) = asked.path.filter(|path| !path.is_empty()) else {
        let hint = "say ?path=…; GET /v1/sessions/{id}/files lists them";
        return refuse(StatusCode::BAD_REQUEST, "which file is meant?", Some(hint));
    };
    let wanted = path.clone();
    let changes = match look(&daemon, &id, move |view| view.changes_of(&wanted)).await {
        Ok((_, changes)) => changes,
        Err(response) => return *response,
    };
    if changes.is_empty() {
        let message = format!("session `{}` changed no file `{}`", clean(&id, 100), clean(&path, 500));
        let hint = "GET /v1/sessions/{id}/files lists them";
        return refuse(StatusCode::NOT_FOUND, &message, Some(hint));
    }
    match daemon.readers.with(move |reader| sessions::diff(changes, reader)).await {
        Ok(changes) => Json(json!({"path": path, "changes": changes})).into_response(),
        Err(response) => *response,
    }
}

#[derive(Deserialize)]
pub(super) struct Paging {
    limit: Option<u64>,
    before: Option<u64>,
}

pub(super) async fn steps(
    State(daemon): State<Arc<Daemon>>,
    Path(id): Path<String>,
    Query(asked): Query<Paging>,
) -> Response {
    let key = match find(&daemon, &id).await {
        Ok((key, _)) => key,
        Err(response) => return *response,
    };
    let limit = asked.limit.unwrap_or(100).clamp(1, 1000);
    let page = daemon.readers.with(move |reader| sessions::timeline(reader, &key, asked.before, limit)).await;
    match page {
        Ok((steps, next)) => Json(json!({"steps": steps, "next": next})).into_response(),
        Err(response) => *response,
    }
}

/// The session that an id means, and whether it is whole in memory.
pub(super) async fn find(daemon: &Arc<Daemon>, id: &str) -> Result<(Key, bool), Box<Response>> {
    if let Some(found) = daemon.observers.sessions.find(id) {
        return Ok(found);
    }
    let asked = id.to_owned();
    let found = daemon.readers.with(move |reader| Projector::find_recorded(&asked, reader)).await?;
    found.map(|key| (key, false)).ok_or_else(|| Box::new(unknown(id)))
}

/// Looks at a session, whole.
async fn look<T: Send + 'static>(
    daemon: &Arc<Daemon>,
    id: &str,
    look: impl Fn(&View<'_>) -> T + Send + 'static,
) -> Result<(Key, T), Box<Response>> {
    let (key, whole) = find(daemon, id).await?;
    let sessions = Arc::clone(&daemon.observers.sessions);
    if whole && let Some(seen) = sessions.look(&key, &look) {
        return Ok((key, seen));
    }
    let wanted = key.clone();
    let seen = daemon.readers.with(move |reader| sessions.bring_back(&wanted, reader, look)).await?;
    seen.map(|seen| (key, seen)).ok_or_else(|| Box::new(unknown(id)))
}

fn unknown(id: &str) -> Response {
    let message = format!("there is no session `{}`", clean(id, 100));
    let hint = "GET /v1/sessions lists them; older ones are in GET /v1/ledger?session=…";
    refuse(StatusCode::NOT_FOUND, &message, Some(hint))
}
