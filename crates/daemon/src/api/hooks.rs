// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::IntoResponse as _;
use tenterhook_home::call_meta;

use super::error::ApiError;
use super::extract::{NativePayload, PathParams};
use super::route::{HeaderParameter, Route};
use super::shape::NativeResponse;
use crate::callbacks::Callbacks;
use crate::daemon::Daemon;
use crate::hook::{self, Asked};
use crate::listen::Peer;

const HEADERS: &[HeaderParameter] = &[
    HeaderParameter {
        name: "tenterhook-event",
        kind: "string",
        about: "id of the event; made by the daemon if it is missing",
    },
    HeaderParameter {
        name: "tenterhook-project",
        kind: "string",
        about: "root of the project, if the harness names it",
    },
];

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/v1/hooks/{harness}/{event}", "answerHook", answer)
            .about("One hook call of a harness: its own payload is the request, its own reply the response, recorded first.")
            .headers(HEADERS)
            .errors(&[404, 503]),
    ]
}

/// Harnesses that call by themselves wait this long.
const WITHIN: Duration = Duration::from_secs(55);

/// One hook call over HTTP: the native payload comes in, the native reply goes out. What a process
/// would say by its exit code and on standard error is in headers.
async fn answer(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    PathParams((harness, event)): PathParams<(String, String)>,
    headers: HeaderMap,
    NativePayload(payload): NativePayload,
) -> Result<NativeResponse, ApiError> {
    let Some(harness) = tenterhook_harness::find_harness(&harness) else {
        let known: Vec<_> = tenterhook_harness::HARNESSES.iter().map(|harness| harness.id).collect();
        return Err(ApiError::not_found(format!("`{harness}` is no known harness"))
            .hint(format!("known: {}", known.join(", "))));
    };
    let Some(_call) = daemon.begin_call(peer) else {
        return Err(ApiError::busy("the daemon has too much to do"));
    };
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let id = match text("tenterhook-event").map(str::parse) {
        Some(Ok(id)) => id,
        Some(Err(_)) => return Err(ApiError::bad_request("`tenterhook-event` is no event id")),
        None => call_meta::mint()?.id,
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
    Ok(NativeResponse(response))
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
