// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `Fire`: an agent in any language sends an event and receives its outcome.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_engine::FailMode;
use tenterhook_event::{Decision, EventKind, Flow, HookCall, Modification, Outcome};
use tenterhook_harness::CallMeta;
use tenterhook_harness::dialect::a3s;
use tenterhook_home::call_meta;
use tenterhook_proto::v1::{
    CallbackAnswer, ErrorCode, FailBehavior, FireRequest, FireResponse, HookAction, HookError, NativeReply,
};
use tokio::time::Instant;

use super::wire::error;
use crate::callbacks::{Callback, CallbackFailure, Callbacks};
use crate::daemon::Daemon;
use crate::hook::{self, IncomingCall};
use crate::listen::Peer;
use crate::{approvals, sdk};

/// Time limit of a call that sets no timeout.
const DEFAULT_CALL_TIMEOUT: Duration = Duration::from_secs(55);
/// Source name of an event that does not name one.
const DEFAULT_SOURCE: &str = "sdk";

pub(super) async fn fire(
    daemon: &Arc<Daemon>,
    peer: Peer,
    request: FireRequest,
) -> Result<FireResponse, HookError> {
    let Some(_call) = daemon.begin_call(peer) else {
        return Err(error(ErrorCode::ErrorOverloaded, "server busy", "try again later"));
    };
    let mut meta =
        call_meta::mint().map_err(|failure| error(ErrorCode::ErrorInternal, failure.message, ""))?;
    if !request.event_id.is_empty() {
        meta.id = request.event_id.parse().map_err(|_| invalid("`event_id` is not a ULID"))?;
    }
    meta.user = Some(daemon.user_name(peer));
    if request.native {
        fire_native_event(daemon, peer, meta, request).await
    } else {
        fire_own_event(daemon, peer, meta, request).await
    }
}

async fn fire_own_event(
    daemon: &Arc<Daemon>,
    peer: Peer,
    meta: CallMeta,
    request: FireRequest,
) -> Result<FireResponse, HookError> {
    let FireRequest { event_type, session_id, payload, source, timeout_ms, callbacks, .. } = request;
    if !callbacks.is_empty() {
        return Err(invalid("`callbacks` needs `native`: their answers are in the harness's own format"));
    }
    let source = if source.is_empty() { DEFAULT_SOURCE } else { source.as_str() };
    if !is_source_name(source) {
        return Err(invalid("`source` must have 1 to 64 lower-case letters, digits and `-`"));
    }
    if tenterhook_harness::find_harness(source).is_some() {
        let hint = "set `native` and send the harness's own payload, or choose another name for your agent";
        return Err(error(ErrorCode::ErrorInvalid, format!("`{source}` is a harness"), hint));
    }
    let shape = sdk::parse_event_kind(&event_type).and_then(a3s::shape_of_kind).ok_or_else(|| {
        let names: Vec<_> = a3s::EVENTS.iter().map(|event| event.name).collect();
        let given = tenterhook_records::sanitize(&event_type, 100);
        error(
            ErrorCode::ErrorInvalid,
            format!("unknown event `{given}`"),
            &format!("known: {}", names.join(", ")),
        )
    })?;
    let began = Instant::now();
    daemon.remember_firing_program(peer, source);
    let mut call = a3s::event(shape, &meta, source, Some(&session_id), &payload).map_err(|why| {
        error(ErrorCode::ErrorInvalid, why.to_string(), "its fields are listed in docs/spec/sdk-events.md")
    })?;
    daemon.prepare(peer, &mut call.event);
    let outcome = hook::fire(daemon, &call).await;
    let mut outcome = outcome.map_err(|failure| error(ErrorCode::ErrorInternal, failure.message, ""))?;
    daemon.notifications.report_denied(peer, &call, &outcome);
    if outcome.decision == Decision::Ask {
        outcome =
            approvals::wait_for_answer(daemon, peer, &call, outcome, began + call_timeout(timeout_ms)).await;
    }
    Ok(response(&call, &outcome))
}

async fn fire_native_event(
    daemon: &Arc<Daemon>,
    peer: Peer,
    meta: CallMeta,
    request: FireRequest,
) -> Result<FireResponse, HookError> {
    let Some(harness) = tenterhook_harness::find_harness(&request.source) else {
        let known: Vec<_> = tenterhook_harness::HARNESSES.iter().map(|harness| harness.id).collect();
        let why = format!("unknown harness `{}`", tenterhook_records::sanitize(&request.source, 100));
        return Err(error(ErrorCode::ErrorInvalid, why, &format!("known: {}", known.join(", "))));
    };
    let count = u32::try_from(request.callbacks.len()).unwrap_or(u32::MAX);
    let callbacks = request.callbacks.into_iter().map(read_callback).collect::<Result<_, _>>()?;
    let callbacks = Callbacks::of(harness.id, callbacks).map_err(|failure| invalid(&failure.message))?;
    daemon.remember_firing_program(peer, harness.id);
    let incoming = IncomingCall {
        harness,
        peer,
        event: &request.event_type,
        id: meta.id,
        project: None,
        user: meta.user,
        within: call_timeout(request.timeout_ms),
        headless: false,
        hook_version: "",
        payload: &request.payload,
        callbacks,
    };
    let reply = hook::answer(daemon, incoming).await;
    let (stdout, stderr, exit_code) = (reply.stdout.into_bytes(), reply.stderr, i32::from(reply.exit));
    Ok(FireResponse {
        event_id: meta.id.to_string(),
        reply: Some(NativeReply { stdout, stderr, exit_code }),
        callbacks: count,
        ..FireResponse::default()
    })
}

/// Parses the answer of a hook that ran in the calling program.
fn read_callback(sent: CallbackAnswer) -> Result<Callback, HookError> {
    let CallbackAnswer { name, output, error, fail_behavior, duration_us } = sent;
    if !sdk::is_hook_name(&name) {
        return Err(invalid(
            "the name of a callback must have 1 to 64 characters from A–Z, a–z, 0–9, `_`, `.` and `-`",
        ));
    }
    let fail = match FailBehavior::try_from(fail_behavior) {
        Ok(FailBehavior::FailDefault | FailBehavior::FailContinue) => FailMode::Open,
        // An unknown value comes from a newer program, so the stricter meaning is chosen.
        Ok(FailBehavior::FailBlock) | Err(_) => FailMode::Closed,
    };
    let answer = match error {
        None => Ok(output),
        Some(error) => {
            let timed_out = error.code() == ErrorCode::ErrorTimedOut;
            Err(CallbackFailure { timed_out, message: error.message })
        }
    };
    Ok(Callback { name, answer, fail, took_us: duration_us })
}

fn response(call: &HookCall, outcome: &Outcome) -> FireResponse {
    let action = match outcome.decision {
        Decision::Deny | Decision::Ask => HookAction::Block,
        Decision::None | Decision::Allow | Decision::Defer if outcome.retry_ms.is_some() => HookAction::Retry,
        Decision::None | Decision::Allow | Decision::Defer => HookAction::Continue,
    };
    let delay = outcome.retry_ms.filter(|_| action == HookAction::Retry);
    FireResponse {
        event_id: call.event.id.to_string(),
        action: action.into(),
        reason: outcome.reason_with_nudge(),
        modified: modified_input(call.event.event, outcome).map(|modified| modified.to_string().into_bytes()),
        decision: outcome.decision.as_str().to_owned(),
        stop: matches!(outcome.flow, Flow::Stop { .. }),
        outcome: serde_json::to_vec(outcome).unwrap_or_default(),
        context: outcome.context_text(),
        message: outcome.message_text(),
        reply: None,
        retry_delay_ms: delay.map(|ms| i32::try_from(ms).unwrap_or(i32::MAX)),
        callbacks: 0,
        error: None,
    }
}

/// Returns the changed input in the form of a hook's `modified` field.
fn modified_input(kind: EventKind, outcome: &Outcome) -> Option<Value> {
    if let Some(args) = &outcome.tool_input {
        return Some(json!({"args": args}));
    }
    if let Some(output) = outcome.tool_output() {
        return Some(json!({"result": {"output": output}}));
    }
    let mut all = json!({});
    for modification in &outcome.modifications {
        match &modification.value {
            Modification::ModelRequest { merge, value } if kind == EventKind::PreModel => {
                merge.apply(&mut all, value);
            }
            Modification::ModelResponse { merge, value } if kind == EventKind::PostModel => {
                let mut response = all.get("response").cloned().unwrap_or_else(|| json!({}));
                merge.apply(&mut response, value);
                all = json!({"response": response});
            }
            _ => {}
        }
    }
    all.as_object().is_some_and(|all| !all.is_empty()).then_some(all)
}

fn call_timeout(ms: i32) -> Duration {
    let timeout = u64::try_from(ms).ok().filter(|ms| *ms > 0).map(Duration::from_millis);
    timeout.unwrap_or(DEFAULT_CALL_TIMEOUT).min(approvals::MAX_WAIT)
}

fn invalid(why: &str) -> HookError {
    error(ErrorCode::ErrorInvalid, why, "")
}

fn is_source_name(source: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=64).contains(&source.len()) && source.bytes().all(plain)
}
