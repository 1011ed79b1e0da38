// SPDX-License-Identifier: Apache-2.0 OR MIT

mod draft;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::on;
use axum::{Extension, Json};
use serde::Deserialize;
use serde_json::{Map, Value};
use tenterhook_event::{Call, Decision, Native};
use tenterhook_home::door;
use tokio::time::Instant;

use super::route::{Gives, Route, Takes, query};
use super::{error, read};
use crate::daemon::Daemon;
use crate::listen::Peer;
use crate::{approvals, hook};
use draft::Draft;

const HINT: &str = "docs/spec/event.schema.json says what one looks like";

pub(super) const ROUTES: &[Route] = &[Route::post("/v1/events", "judgeEvent", |method| on(method, judge))
    .about("One event in the normal form; its outcome comes back, once it is recorded. `v`, `id`, `native_event` and `tool.class` are filled in where they are missing; `ts` is the daemon's, and one that is sent is kept as `sender_ts`.")
    .query(&[&[query(
        "wait_ms",
        "integer",
        "how long an `ask` may wait for a person, who then makes it an `allow` or a `deny`; unsaid: not at all",
    )]])
    .takes(Takes::Json("Event"))
    .gives(Gives::Json("Outcome"))
    .refuses(&[400, 503])];

#[derive(Deserialize)]
struct Wait {
    wait_ms: Option<u64>,
}

/// What an agent says about the event in words of its own, beside the normal form.
#[derive(Deserialize)]
struct Beside {
    #[serde(default)]
    native: Option<Map<String, Value>>,
}

/// One event in the normal form; its outcome comes back, once it is recorded.
async fn judge(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    Query(Wait { wait_ms }): Query<Wait>,
    body: Bytes,
) -> Response {
    let began = Instant::now();
    let draft: Draft = match read(&body, "event", HINT) {
        Ok(draft) => draft,
        Err(response) => return *response,
    };
    let native = match read::<Beside>(&body, "event", HINT) {
        Ok(Beside { native }) => native,
        Err(response) => return *response,
    };
    let mut event = match door::mint() {
        Ok(door) => draft.at(&door),
        Err(failure) => {
            return error(StatusCode::INTERNAL_SERVER_ERROR, &failure.message, None).into_response();
        }
    };
    if native.is_some() && tenterhook_harness::find(&event.source).is_some() {
        let why = format!("`{}` is a harness; its own payload says what happened", event.source);
        let hint = "send it to /v1/hooks/<harness>/<event>";
        return error(StatusCode::BAD_REQUEST, &why, Some(hint)).into_response();
    }
    let Some(_call) = daemon.begin_call(peer) else {
        return error(StatusCode::SERVICE_UNAVAILABLE, "too many calls of this account", None)
            .into_response();
    };
    daemon.calls(peer, &event.source, 0);
    // Whoever sends an event does not say whose it is: rules ask for that.
    event.agent.user = Some(daemon.user_of(peer));
    daemon.prepare(peer, &mut event);
    // Plain data in memory has nothing to fail on.
    let native =
        native.map(|fields| Native { bytes: serde_json::to_vec(&fields).unwrap_or_default(), fields });
    let call = Call { event, native };
    let mut outcome = match hook::fire(&daemon, &call).await {
        Ok(outcome) => outcome,
        Err(why) => return error(StatusCode::INTERNAL_SERVER_ERROR, &why, None).into_response(),
    };
    if let (Decision::Ask, Some(ms)) = (outcome.decision, wait_ms) {
        let until = began + Duration::from_millis(ms).min(approvals::MAX_WAIT);
        outcome = approvals::settle(&daemon, peer, &call, outcome, until).await;
    }
    Json(outcome).into_response()
}
