// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One hook call, from the payload of a harness to its reply: decode → evaluate → encode, or a recorded refusal.
//!
//! The daemon and a hook that finds no daemon answer calls through [`answer_call`]. They differ in how a decoded call is
//! evaluated and where a refusal is recorded, which is what [`CallEvaluator`] is for.

use tenterhook_engine::RecordError;
use tenterhook_engine::fold::strengthen;
use tenterhook_error::Failure;
use tenterhook_event::{Call, Decided, Decision, Event, EventKind, Finding, Origin, Outcome};
use tenterhook_harness::{Door, Harness, Reply};

/// Evaluates decoded calls and records refused ones.
pub trait CallEvaluator {
    /// Evaluates a call and records the decision. An error is the reason why the call is refused.
    fn evaluate(&mut self, call: &mut Call) -> impl Future<Output = Result<Outcome, Failure>>;

    /// Records a call that was refused before it could be evaluated.
    fn record_refusal(&mut self, refusal: &RefusedCall) -> impl Future<Output = Result<(), RecordError>>;
}

/// A call that cannot be evaluated: its payload is unreadable, or rules cannot be had. It is denied where the harness
/// can prevent something, and recorded like any other decision.
#[derive(Debug)]
pub struct RefusedCall {
    /// Name of the event, as the hook command has it.
    pub event_name: String,
    /// Reason for the refusal.
    pub reason: String,
    harness: &'static Harness,
    call: Call,
    outcome: Outcome,
}

/// Answers one call. Every failure is a reply too: what can be prevented is prevented.
pub async fn answer_call(
    evaluator: &mut impl CallEvaluator,
    harness: &'static Harness,
    door: &Door,
    payload: &[u8],
) -> Reply {
    let evaluated = match harness.decode(door, payload) {
        Ok(mut call) => match evaluator.evaluate(&mut call).await {
            Ok(outcome) => Ok((call, outcome)),
            Err(failure) => Err(failure.message),
        },
        Err(error) => Err(error.to_string()),
    };
    match evaluated {
        Ok((call, outcome)) => encode_reply(harness, &call, &outcome),
        Err(reason) => refuse_call(evaluator, harness, door, reason).await,
    }
}

/// Refuses a call, and records that.
pub async fn refuse_call(
    evaluator: &mut impl CallEvaluator,
    harness: &'static Harness,
    door: &Door,
    reason: String,
) -> Reply {
    let refusal = RefusedCall::new(harness, door, reason);
    let mut reply = harness.refuse(&refusal.event_name, &refusal.reason);
    if let Err(error) = evaluator.record_refusal(&refusal).await {
        reply.stderr += &format!("tenterhook: this refusal could not be recorded: {error}\n");
    }
    reply
}

/// The reply of a harness's own format, with a warning about events that the harness's row does not list.
fn encode_reply(harness: &Harness, call: &Call, outcome: &Outcome) -> Reply {
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
    fn new(harness: &'static Harness, door: &Door, reason: String) -> Self {
        let row = harness.event(&door.event);
        let kind = row.map_or(EventKind::Other, |row| row.kind);
        let name = row.map_or(door.event.as_str(), |row| row.native);
        let call = Call { event: Event::new(door.id, door.ts, harness.id, kind, name), native: None };
        let finding = Finding::decided(Origin::Engine, Decision::Deny, &reason);
        let outcome = strengthen(Outcome::default(), finding);
        Self { event_name: door.event.clone(), reason, harness, call, outcome }
    }

    /// Id of the harness.
    pub fn harness_id(&self) -> &'static str {
        self.harness.id
    }

    /// The decision to record.
    pub fn decided(&self) -> Decided<'_> {
        let (call, outcome) = (&self.call, &self.outcome);
        Decided { call, outcome, generation: "", took_us: 0, facts: None, touched: None }
    }
}
