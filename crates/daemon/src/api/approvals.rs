// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::Event;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use axum::{Extension, Json};
use serde_json::{Value, json};

use super::authority::refused;
use super::route::{Gives, Route, Takes};
use super::{error, sse};
use crate::approvals::{self, Answer, Refusal};
use crate::daemon::Daemon;
use crate::listen::Peer;

pub(super) const ROUTES: &[Route] = &[
    Route::get("/v1/approvals", "listApprovals", |method| on(method, list))
        .about("The calls that wait for a person's answer.")
        .gives(Gives::Json("Approvals")),
    Route::get("/v1/approvals/stream", "streamApprovals", |method| on(method, stream))
        .about("The calls that wait, now and whenever that changes.")
        .gives(Gives::Stream("Approvals"))
        .refuses(&[503]),
    Route::get("/v1/approvals/{id}", "getApproval", |method| on(method, show))
        .about("One call that waits for a person's answer.")
        .gives(Gives::Json("Approval"))
        .refuses(&[404]),
    Route::post("/v1/approvals/{id}", "answerApproval", |method| on(method, answer))
        .about("A person's answer to a call that waits. To approve takes a proof, the full id, and the digest of the call that was shown; to deny, the end of an id is enough.")
        .takes(Takes::Json("ApprovalRequest"))
        .gives(Gives::Json("Approved"))
        .refuses(&[400, 403, 404, 409, 422]),
];

/// What waits.
async fn list(State(daemon): State<Arc<Daemon>>) -> Json<Value> {
    Json(pending(&daemon))
}

/// One call that waits.
async fn show(State(daemon): State<Arc<Daemon>>, Path(id): Path<String>) -> Response {
    match daemon.approvals.find(&id) {
        Some((card, _)) => Json(card).into_response(),
        None => nobody_waits(&id),
    }
}

/// A person's answer.
async fn answer(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    Path(id): Path<String>,
    Json(said): Json<Answer>,
) -> Response {
    match approvals::answer(&daemon, &id, said, peer).await {
        Ok(done) => Json(done).into_response(),
        Err(Refusal::NobodyWaits) => nobody_waits(&id),
        Err(Refusal::NotNamed) => {
            let hint = "send the full id and the `digest` that GET /v1/approvals/{id} shows";
            let message = "an approval has to name the call by its full id and digest";
            error(StatusCode::BAD_REQUEST, message, Some(hint)).into_response()
        }
        Err(Refusal::Changed) => {
            let hint = "nothing was approved; look at it again";
            let message = "the call that waits is not the one that was shown";
            error(StatusCode::CONFLICT, message, Some(hint)).into_response()
        }
        Err(Refusal::Refused(why)) => refused(&why),
        Err(Refusal::Failed(failure)) => {
            let hint = failure.hints.first().map(String::as_str);
            error(StatusCode::UNPROCESSABLE_ENTITY, &failure.message, hint).into_response()
        }
    }
}

/// What waits, now and whenever that changes, until the daemon ends.
async fn stream(State(daemon): State<Arc<Daemon>>) -> Response {
    let mut changes = daemon.approvals.changes();
    sse::stream(daemon, |daemon, sender| async move {
        loop {
            changes.mark_unchanged();
            let event = Event::default().event("approvals").data(pending(&daemon).to_string());
            if sender.send(event).await.is_err() || changes.changed().await.is_err() {
                return;
            }
        }
    })
}

fn pending(daemon: &Daemon) -> Value {
    json!({"pending": daemon.approvals.cards()})
}

fn nobody_waits(id: &str) -> Response {
    let hint = "GET /v1/approvals lists what waits; a call that was answered or expired does not";
    error(StatusCode::NOT_FOUND, &format!("no call `{id}` waits for an answer"), Some(hint)).into_response()
}
