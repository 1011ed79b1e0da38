// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use axum::{Extension, Json};
use tenterhook_event::{Call, Event};

use super::route::{Gives, Route, Takes};
use super::{error, read};
use crate::daemon::Daemon;
use crate::hook;
use crate::listen::Peer;

pub(super) const ROUTES: &[Route] = &[Route::post("/v1/events", "judgeEvent", |method| on(method, judge))
    .about("One event in the normal form; its outcome comes back, once it is recorded.")
    .takes(Takes::Json("Event"))
    .gives(Gives::Json("Outcome"))
    .refuses(&[400])];

/// One event in the normal form; its outcome comes back, once it is recorded.
async fn judge(State(daemon): State<Arc<Daemon>>, Extension(peer): Extension<Peer>, body: Bytes) -> Response {
    let hint = "docs/spec/event.schema.json says what one looks like";
    let mut event: Event = match read(&body, "event", hint) {
        Ok(event) => event,
        Err(response) => return *response,
    };
    daemon.calls(peer, &event.source, 0);
    // Whoever sends an event does not say whose it is: rules ask for that.
    event.agent.user = Some(daemon.user_of(peer));
    daemon.observers.sessions.complete(&mut event);
    match hook::fire(&daemon, &Call { event, native: None }).await {
        Ok(outcome) => Json(outcome).into_response(),
        Err(why) => error(StatusCode::INTERNAL_SERVER_ERROR, &why, None).into_response(),
    }
}
