// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The road of one call, as code. Everything that decides goes through here.

use std::time::Instant;

use serde_json::Value;
use tenterhook_event::{Call, Decided, Decision, EventKind, Finding, Origin, Outcome, Step};

use crate::{Generation, Recorder, fold, retry, select};

/// Takes one call down the road: select → run → judge → fold → record.
///
/// What is judged is what runs: an input that a hook or rule changed is judged once more, without
/// further rewrites, and the stricter result stands.
pub async fn fire(generation: &Generation, recorder: &dyn Recorder, call: &Call) -> Outcome {
    fire_with(generation, recorder, call, Vec::new()).await
}

/// Does the same for a call that hooks outside this engine have already answered. Their findings count like those of a
/// hook of the generation, and come first.
pub async fn fire_with(
    generation: &Generation,
    recorder: &dyn Recorder,
    call: &Call,
    answered: Vec<(Finding, Step)>,
) -> Outcome {
    let started = Instant::now();
    let event = &call.event;
    let (mut findings, mut trace): (Vec<_>, Vec<_>) = answered.into_iter().unzip();

    let selected = select::select(generation.hooks(event.event), event, generation.passed_over());
    let ran = retry::run(selected, call, generation.limits()).await;
    let judged = generation.judge().judge(event);

    findings.extend(ran.findings);
    findings.extend(judged.findings);
    trace.extend(ran.steps);
    trace.extend(judged.steps);
    let (mut facts, mut touched) = (judged.observed, judged.touched);

    let mut outcome = fold::fold(event, &findings);
    if let Some(input) = &outcome.tool_input {
        let changed = fold::with_tool_input(event, input);
        let judged = generation.judge().judge(&changed);
        findings.extend(judged.findings.into_iter().map(fold::without_modifications));
        trace.extend(judged.steps);
        (facts, touched) = (together(facts, judged.observed), judged.touched);
        outcome = fold::fold(event, &findings);
    }
    outcome.trace = trace;
    outcome.retry_ms = ran.tool_again.map(|delay| u64::try_from(delay.as_millis()).unwrap_or(u64::MAX));

    let took_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let decided = Decided { call, outcome: &outcome, generation: generation.name(), took_us, facts, touched };
    match recorder.record(decided).await {
        Ok(()) => outcome,
        Err(error) => unrecorded(event.event, outcome, &error.to_string()),
    }
}

/// What was observed for one judgement and for another: both.
fn together(one: Option<Value>, other: Option<Value>) -> Option<Value> {
    match (one, other) {
        (Some(Value::Object(mut one)), Some(Value::Object(other))) => {
            for (key, more) in other {
                let known = one.remove(&key);
                one.extend(together(known, Some(more)).map(|both| (key, both)));
            }
            Some(Value::Object(one))
        }
        (one, None) => one,
        (_, other) => other,
    }
}

/// A decision that leaves no record is not taken: where something can still be prevented, it is.
fn unrecorded(kind: EventKind, outcome: Outcome, why: &str) -> Outcome {
    let message = format!("Tenterhook could not record this decision: {why}");
    let mut finding = Finding { message: Some(message.clone()), ..Finding::silent(Origin::Engine) };
    if matches!(kind, EventKind::PreTool | EventKind::PermissionRequest | EventKind::Prompt) {
        finding.decision = Decision::Deny;
        finding.reason = Some(message);
    }
    fold::strengthen(outcome, finding)
}

#[cfg(test)]
mod tests;
