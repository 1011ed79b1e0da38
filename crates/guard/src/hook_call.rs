// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Handles one hook call, from the harness's payload to the reply. A call is decoded, evaluated and encoded, or
//! refused and recorded.
//!
//! The daemon answers calls with [`answer_call`]. A hook that finds no daemon uses [`answer_call_now`], which
//! performs the same steps without a runtime. The traits [`CallEvaluator`] and [`BlockingCallEvaluator`] define how a
//! decoded call is evaluated and where a refusal is recorded.

use tenterhook_engine::RecordError;
use tenterhook_engine::fold::strengthen;
use tenterhook_error::Failure;
use tenterhook_event::{
    Attributed, DecidedCall, Decision, Event, EventKind, Finding, HookCall, Origin, Outcome,
};
use tenterhook_harness::{AskSupport, CallMeta, DecodeError, Harness, HookReply};

/// Evaluates decoded calls and records refused ones.
pub trait CallEvaluator {
    /// Decodes the payload of a harness. Override this method if decoding a large payload must not block other tasks.
    fn decode(&self, harness: &Harness, meta: &CallMeta, payload: &[u8]) -> Result<HookCall, DecodeError> {
        harness.decode(meta, payload)
    }

    /// Evaluates a call and records the decision. If there is an error, the call is refused with the error as the
    /// reason.
    fn evaluate(&mut self, call: &mut HookCall) -> impl Future<Output = Result<Outcome, Failure>>;

    /// Records a call that was refused before it could be evaluated.
    fn record_refusal(&mut self, refusal: &RefusedCall) -> impl Future<Output = Result<(), RecordError>>;
}

/// Evaluates decoded calls and records refused ones, on the calling thread.
pub trait BlockingCallEvaluator {
    /// Evaluates a call and records the decision. If there is an error, the call is refused with the error as the
    /// reason.
    fn evaluate_now(&mut self, call: &mut HookCall) -> Result<Outcome, Failure>;

    /// Records a call that was refused before it could be evaluated.
    fn record_refusal_now(&mut self, refusal: &RefusedCall) -> Result<(), RecordError>;
}

/// A call that cannot be evaluated, because its payload is unreadable or its rules cannot be loaded. The call is
/// denied if the harness can still prevent it, and recorded like any other decision.
#[derive(Debug)]
pub struct RefusedCall {
    /// Name of the event, as given to the hook command.
    pub event_name: String,
    /// Reason for the refusal.
    pub reason: String,
    harness: &'static Harness,
    call: HookCall,
    outcome: Outcome,
}

/// Answers one call. A failure also leads to a reply, which denies the call if it can still be prevented.
pub async fn answer_call(
    evaluator: &mut impl CallEvaluator,
    harness: &'static Harness,
    meta: &CallMeta,
    payload: &[u8],
) -> HookReply {
    let evaluated = match evaluator.decode(harness, meta, payload) {
        Ok(mut call) => evaluator.evaluate(&mut call).await.map(|outcome| (call, outcome)),
        Err(error) => Err(invalid_payload(&error)),
    };
    match reply_or_refuse(harness, meta, evaluated) {
        Ok(reply) => reply,
        Err(refusal) => {
            let recorded = evaluator.record_refusal(&refusal).await;
            refusal.reply(recorded)
        }
    }
}

/// Answers one call on the calling thread, in the same steps as [`answer_call`] but without a runtime.
pub fn answer_call_now(
    evaluator: &mut impl BlockingCallEvaluator,
    harness: &'static Harness,
    meta: &CallMeta,
    payload: &[u8],
) -> HookReply {
    let evaluated = match harness.decode(meta, payload) {
        Ok(mut call) => evaluator.evaluate_now(&mut call).map(|outcome| (call, outcome)),
        Err(error) => Err(invalid_payload(&error)),
    };
    match reply_or_refuse(harness, meta, evaluated) {
        Ok(reply) => reply,
        Err(refusal) => record_refusal_now(evaluator, &refusal),
    }
}

/// Refuses a call and records the refusal, on the calling thread.
pub fn refuse_call_now(
    evaluator: &mut impl BlockingCallEvaluator,
    harness: &'static Harness,
    meta: &CallMeta,
    reason: String,
) -> HookReply {
    record_refusal_now(evaluator, &RefusedCall::new(harness, meta, reason))
}

fn record_refusal_now(evaluator: &mut impl BlockingCallEvaluator, refusal: &RefusedCall) -> HookReply {
    let recorded = evaluator.record_refusal_now(refusal);
    refusal.reply(recorded)
}

fn invalid_payload(error: &DecodeError) -> Failure {
    Failure::user(error.to_string())
}

/// Encodes the outcome of a call, or refuses the call if there is no outcome.
fn reply_or_refuse(
    harness: &'static Harness,
    meta: &CallMeta,
    evaluated: Result<(HookCall, Outcome), Failure>,
) -> Result<HookReply, Box<RefusedCall>> {
    match evaluated {
        Ok((call, outcome)) => {
            Ok(encode_reply(harness, &call, &explain_headless_ask(harness, meta, outcome)))
        }
        Err(failure) => Err(Box::new(RefusedCall::new(harness, meta, failure.message))),
    }
}

/// Reason added to an ask of a run without a prompt. It names no command that would approve the call, because the model
/// reads it.
const HEADLESS_ASK_REASON: &str = "A user must approve this call in Tenterhook (dashboard or `tenterhook approvals`). \
     This run has no prompt, so the call is denied. Such calls wait for the user if `approvals: {headless: wait}` is \
     set in tenterhook.yaml.";

/// Adds to an ask that the harness cannot show that a user must approve the call, and how. The verdict stays `ask`: the
/// harness refuses the call itself, or asks a program that the user named for this.
fn explain_headless_ask(harness: &Harness, meta: &CallMeta, mut outcome: Outcome) -> Outcome {
    let asks = || harness.event(&meta.event).is_some_and(|row| row.ask == AskSupport::Prompt);
    if meta.headless && outcome.decision == Decision::Ask && asks() {
        outcome.reasons.push(Attributed { by: Origin::Engine, value: HEADLESS_ASK_REASON.to_owned() });
    }
    outcome
}

/// Encodes the reply in the harness's format. Adds a warning if the harness's table does not list the event.
fn encode_reply(harness: &Harness, call: &HookCall, outcome: &Outcome) -> HookReply {
    let mut reply = harness.encode(call, outcome);
    if harness.event(&call.event.native_event).is_none() {
        reply.stderr += &format!(
            "tenterhook: warning: unknown event `{}` of {}; it was recorded as `other`\n",
            call.event.native_event, harness.title
        );
    }
    reply
}

// === impl RefusedCall ===

impl RefusedCall {
    fn new(harness: &'static Harness, meta: &CallMeta, reason: String) -> Self {
        let row = harness.event(&meta.event);
        let kind = row.map_or(EventKind::Other, |row| row.kind);
        let name = row.map_or(meta.event.as_str(), |row| row.native);
        let call = HookCall { event: Event::new(meta.id, meta.ts, harness.id, kind, name), native: None };
        let finding = Finding::decided(Origin::Engine, Decision::Deny, &reason);
        let outcome = strengthen(Outcome::default(), finding);
        Self { event_name: meta.event.clone(), reason, harness, call, outcome }
    }

    /// Returns the reply to the harness, with a warning if the refusal could not be recorded.
    fn reply(&self, recorded: Result<(), RecordError>) -> HookReply {
        let mut reply = self.harness.refuse(&self.event_name, &self.reason);
        if let Err(error) = recorded {
            reply.stderr += &format!("tenterhook: this refusal could not be recorded: {error}\n");
        }
        reply
    }

    /// Returns the id of the harness.
    pub fn harness_id(&self) -> &'static str {
        self.harness.id
    }

    /// Returns the decision to record.
    pub fn decided(&self) -> DecidedCall<'_> {
        let (call, outcome) = (&self.call, &self.outcome);
        DecidedCall { call, outcome, generation: "", took_us: 0, facts: None, file_effects: None }
    }
}
