// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures_util::Stream;
use serde_json::{Value, json};

use super::authority::refused;
use super::error;
use crate::approvals::{self, Answer, Refusal};
use crate::daemon::Daemon;
use crate::listen::Peer;

/// What waits.
pub(super) async fn list(State(daemon): State<Arc<Daemon>>) -> Json<Value> {
    Json(pending(&daemon))
}

/// One call that waits.
pub(super) async fn show(State(daemon): State<Arc<Daemon>>, Path(id): Path<String>) -> Response {
    match daemon.approvals.find(&id) {
        Some((card, _)) => Json(card).into_response(),
        None => nobody_waits(&id),
    }
}

/// A person's answer.
pub(super) async fn answer(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    Path(id): Path<String>,
    Json(said): Json<Answer>,
) -> Response {
    match approvals::answer(&daemon, &id, said, peer).await {
        Ok(done) => Json(done).into_response(),
        Err(Refusal::NobodyWaits) => nobody_waits(&id),
        Err(Refusal::Refused(why)) => refused(&why),
        Err(Refusal::Failed(failure)) => {
            let hint = failure.hints.first().map(String::as_str);
            error(StatusCode::UNPROCESSABLE_ENTITY, &failure.message, hint).into_response()
        }
    }
}

/// What waits, now and whenever that changes, until the daemon ends.
pub(super) async fn stream(
    State(daemon): State<Arc<Daemon>>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>>> {
    let changes = daemon.approvals.changes();
    let next = |(daemon, mut changes, first): (Arc<Daemon>, tokio::sync::watch::Receiver<u64>, bool)| async move {
        if !first {
            tokio::select! {
                changed = changes.changed() => changed.ok()?,
                () = daemon.drained() => return None,
            }
        }
        changes.mark_unchanged();
        let event = Event::default().event("approvals").data(pending(&daemon).to_string());
        Some((Ok(event), (daemon, changes, false)))
    };
    let events = futures_util::stream::unfold((daemon, changes, true), next);
    Sse::new(events).keep_alive(KeepAlive::default())
}

fn pending(daemon: &Daemon) -> Value {
    json!({"pending": daemon.approvals.cards()})
}

fn nobody_waits(id: &str) -> Response {
    let hint = "GET /v1/approvals lists what waits; a call that was answered or expired does not";
    error(StatusCode::NOT_FOUND, &format!("no call `{id}` waits for an answer"), Some(hint)).into_response()
}
