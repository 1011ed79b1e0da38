// SPDX-License-Identifier: Apache-2.0 OR MIT

mod event_request;

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::{Extension, Json};
use tenterhook_api::{EventRequest, JudgeEventQuery};
use tenterhook_event::{Decision, HookCall, NativePayload, Outcome};
use tenterhook_home::call_meta;
use tokio::time::Instant;

use super::error::ApiError;
use super::extract::{QueryParams, RequestBody};
use super::route::Route;
use crate::daemon::Daemon;
use crate::listen::Peer;
use crate::runs::is_about_run;
use crate::{approvals, hook};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/v1/events", "judgeEvent", judge)
            .about(
                "One event in the normal form; its outcome is returned once it is recorded. `v`, `id`, `native_event` and \
                 `tool.class` are filled in if they are missing; `ts` is the daemon's, and one that is sent is kept as \
                 `sender_ts`.",
            )
            .errors(&[503]),
    ]
}

/// Evaluates one event in the normal form, records it, and then returns the outcome.
async fn judge(
    State(daemon): State<Arc<Daemon>>,
    Extension(peer): Extension<Peer>,
    QueryParams(JudgeEventQuery { wait_ms }): QueryParams<JudgeEventQuery>,
    RequestBody(mut request): RequestBody<EventRequest>,
) -> Result<Json<Outcome>, ApiError> {
    let began = Instant::now();
    let native = request.native.take();
    let mut event = event_request::complete_event(request, &call_meta::mint()?);
    if native.is_some() && tenterhook_harness::find_harness(&event.source).is_some() {
        let why = format!("`{}` is a harness, which must send its own payload", event.source);
        return Err(ApiError::bad_request(why).hint("send the payload to /v1/hooks/<harness>/<event>"));
    }
    let Some(_call) = daemon.begin_call(peer) else {
        return Err(ApiError::busy("too many calls of this account"));
    };
    // The account comes from the connection, not from the request, because rules match on it.
    event.agent.user = Some(daemon.user_name(peer));
    if let Some(run) = daemon.supervised_run(peer, &event) {
        // The supervisor reports the connections of an agent and is not an agent itself.
        daemon.prepare_connection(run, &mut event);
    } else {
        // The run of a supervisor may have ended. The supervisor was started by the user and is not an agent.
        if !is_about_run(&event) {
            daemon.register_agent(peer, &event.source, 0);
        }
        daemon.prepare(peer, &mut event);
    }
    // Serializing plain data in memory cannot fail.
    let native =
        native.map(|fields| NativePayload { bytes: serde_json::to_vec(&fields).unwrap_or_default(), fields });
    let call = HookCall { event, native };
    let mut outcome =
        hook::fire(&daemon, &call).await.map_err(|failure| ApiError::internal(failure.message))?;
    daemon.notifications.report_denied(peer, &call, &outcome);
    if let (Decision::Ask, Some(ms)) = (outcome.decision, wait_ms) {
        let until = began + Duration::from_millis(ms).min(approvals::MAX_WAIT);
        outcome = approvals::wait_for_answer(&daemon, peer, &call, outcome, until).await;
    }
    Ok(Json(outcome))
}
