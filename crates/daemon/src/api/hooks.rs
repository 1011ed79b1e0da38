// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use tenterhook_home::door;

use super::error;
use super::route::{Gives, Route, Takes, query};
use crate::callbacks::Callbacks;
use crate::daemon::Daemon;
use crate::hook::{self, Asked};
use crate::listen::Peer;

pub(super) const ROUTES: &[Route] = &[Route::post("/v1/hooks/{harness}/{event}", "answerHook", |method| {
    on(method, answer)
})
.about("One hook call of a harness: its own payload comes in, its own reply goes out, and a leaf before it.")
.headers(&[
    query("tenterhook-event", "string", "the event's id, if the caller minted one"),
    query("tenterhook-project", "string", "the root of the project, if the harness says it"),
])
.takes(Takes::Native)
.gives(Gives::Native)
.refuses(&[400, 404, 503])];

/// Harnesses that call by themselves wait this long.
const WITHIN: Duration = Duration::from_secs(55);

/// One hook call over HTTP: the native payload comes in, the native reply goes out. What a process
/// would say by its exit code and on standard error is in headers.
async fn answer(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    Path((harness, event)): Path<(String, String)>,
    headers: HeaderMap,
    payload: Bytes,
) -> Response {
    let Some(harness) = tenterhook_harness::find(&harness) else {
        let known: Vec<_> = tenterhook_harness::HARNESSES.iter().map(|harness| harness.id).collect();
        let (message, hint) =
            (format!("`{harness}` is no known harness"), format!("known: {}", known.join(", ")));
        return error(StatusCode::NOT_FOUND, &message, Some(&hint)).into_response();
    };
    let Some(_call) = daemon.begin_call(peer) else {
        return error(StatusCode::SERVICE_UNAVAILABLE, "the daemon has too much to do", None).into_response();
    };
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let id = match text("tenterhook-event").map(str::parse) {
        Some(Ok(id)) => id,
        Some(Err(_)) => {
            return error(StatusCode::BAD_REQUEST, "`tenterhook-event` is no event id", None).into_response();
        }
        None => match door::mint() {
            Ok(door) => door.id,
            Err(failure) => {
                return error(StatusCode::INTERNAL_SERVER_ERROR, &failure.message, None).into_response();
            }
        },
    };
    let project = text("tenterhook-project").map(ToOwned::to_owned);
    daemon.calls(peer, harness.id, 0);
    let user = Some(daemon.user_of(peer));
    let (event, payload, within, hook_version) = (event.as_str(), payload.as_ref(), WITHIN, "");
    let callbacks = Callbacks::default();
    let asked = Asked { harness, peer, event, id, project, user, within, hook_version, payload, callbacks };
    let reply = hook::answer(&daemon, asked).await;
    let mut response = reply.stdout.into_response();
    let sent = response.headers_mut();
    sent.insert(header::CONTENT_TYPE, header::HeaderValue::from_static("application/json"));
    sent.insert("tenterhook-exit", u16::from(reply.exit).into());
    if let Ok(value) = percent(&reply.stderr).parse() {
        sent.insert("tenterhook-stderr", value);
    }
    response
}

/// Text that fits a header: everything but plain letters is `%XX`.
fn percent(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'%' | 0..=31 | 127.. => out += &format!("%{byte:02X}"),
            _ => out.push(char::from(byte)),
        }
    }
    out
}
