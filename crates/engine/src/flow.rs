// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The pipeline of one hook call. Every decision is made here.

use std::time::Instant;

use serde_json::Value;
use tenterhook_event::{
    DecidedCall, Decision, EventKind, Finding, HookCall, Origin, Outcome, PathEffect, TraceEntry,
};

use crate::retry::HookFindings;
use crate::select::SelectedHooks;
use crate::{Generation, RecordError, Recorder, fold, retry, select};

/// Runs one call through the pipeline: select hooks → run hooks → evaluate rules → fold → record.
///
/// Rules always see the input that will run: if a hook or rule changes the input, the rules are evaluated again on the
/// changed input, without further modifications, and the stricter result applies.
pub async fn fire(generation: &Generation, recorder: &dyn Recorder, call: &HookCall) -> Outcome {
    fire_with_findings(generation, recorder, call, Vec::new()).await
}

/// Like [`fire`], for a call that hooks outside this engine have already answered. Their findings count like those of
/// hooks of the generation, and come first.
pub async fn fire_with_findings(
    generation: &Generation,
    recorder: &dyn Recorder,
    call: &HookCall,
    earlier: Vec<(Finding, TraceEntry)>,
) -> Outcome {
    let started = Instant::now();
    let ran = retry::run_with_retries(select_hooks(generation, call), call, generation.limits()).await;
    let mut evaluated = EvaluatedCall::new(generation, call, earlier, ran);
    let recorded = recorder.record(evaluated.decided(generation, call, started)).await;
    evaluated.into_outcome(call, recorded)
}

/// Like [`fire`], on the calling thread and without a runtime. Returns `None` if a hook has to run or the recorder needs
/// a runtime.
pub fn fire_now(generation: &Generation, recorder: &dyn Recorder, call: &HookCall) -> Option<Outcome> {
    let recorder = recorder.blocking()?;
    let started = Instant::now();
    let ran = retry::collect_without_hooks(select_hooks(generation, call), &call.event).ok()?;
    let mut evaluated = EvaluatedCall::new(generation, call, Vec::new(), ran);
    let recorded = recorder.record_now(&evaluated.decided(generation, call, started));
    Some(evaluated.into_outcome(call, recorded))
}

fn select_hooks(generation: &Generation, call: &HookCall) -> SelectedHooks {
    let event = &call.event;
    select::select_hooks(generation.hooks_for(event.event), event, generation.skipped_hooks())
}

/// A call that has an outcome but is not recorded yet.
struct EvaluatedCall {
    outcome: Outcome,
    facts: Option<Value>,
    file_effects: Option<Vec<PathEffect>>,
}

impl EvaluatedCall {
    /// Evaluates the rules on a call whose hooks have run, and folds all findings.
    fn new(
        generation: &Generation,
        call: &HookCall,
        earlier: Vec<(Finding, TraceEntry)>,
        ran: HookFindings,
    ) -> Self {
        let event = &call.event;
        let (mut findings, mut trace): (Vec<_>, Vec<_>) = earlier.into_iter().unzip();
        let judged = generation.judge().judge(event);

        findings.extend(ran.findings);
        findings.extend(judged.findings);
        trace.extend(ran.steps);
        trace.extend(judged.steps);
        let (mut facts, mut file_effects) = (judged.observed, judged.file_effects);

        let mut outcome = fold::fold(event, &findings);
        if let Some(input) = &outcome.tool_input {
            let changed = fold::with_tool_input(event, input);
            let judged = generation.judge().judge(&changed);
            findings.extend(judged.findings.into_iter().map(fold::without_modifications));
            trace.extend(judged.steps);
            (facts, file_effects) = (merge_observations(facts, judged.observed), judged.file_effects);
            outcome = fold::fold(event, &findings);
        }
        outcome.trace = trace;
        outcome.retry_ms =
            ran.tool_retry_delay.map(|delay| u64::try_from(delay.as_millis()).unwrap_or(u64::MAX));
        Self { outcome, facts, file_effects }
    }

    /// Returns the data to record.
    fn decided<'a>(
        &'a mut self,
        generation: &'a Generation,
        call: &'a HookCall,
        started: Instant,
    ) -> DecidedCall<'a> {
        let took_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
        let (facts, file_effects) = (self.facts.take(), self.file_effects.take());
        DecidedCall {
            call,
            outcome: &self.outcome,
            generation: generation.name(),
            took_us,
            facts,
            file_effects,
        }
    }

    fn into_outcome(self, call: &HookCall, recorded: Result<(), RecordError>) -> Outcome {
        match recorded {
            Ok(()) => self.outcome,
            Err(error) => refuse_unrecorded(call.event.event, self.outcome, &error.to_string()),
        }
    }
}

/// Merges the observations of two evaluations.
fn merge_observations(one: Option<Value>, other: Option<Value>) -> Option<Value> {
    match (one, other) {
        (Some(Value::Object(mut one)), Some(Value::Object(other))) => {
            for (key, more) in other {
                let known = one.remove(&key);
                one.extend(merge_observations(known, Some(more)).map(|both| (key, both)));
            }
            Some(Value::Object(one))
        }
        (one, None) => one,
        (_, other) => other,
    }
}

/// A decision that cannot be recorded is not taken: the call is denied if it can still be prevented.
fn refuse_unrecorded(kind: EventKind, outcome: Outcome, why: &str) -> Outcome {
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
