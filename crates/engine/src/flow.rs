// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The pipeline of one hook call. All decisions are made in this module. To *fold* means to combine all findings
//! about an event into one outcome.

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
/// Rules always evaluate the input that will run. If a hook or rule changes the input, the rules are evaluated again
/// on the changed input. This second evaluation cannot change the input further, and the stricter result applies.
pub async fn fire(generation: &Generation, recorder: &dyn Recorder, call: &HookCall) -> Outcome {
    let finished = run_hooks(generation, call).await;
    evaluate(generation, call, Vec::new(), finished).record(generation, recorder, call).await
}

/// Runs one call like [`fire`], but on the calling thread and without a runtime. Returns `None` if a hook has to run
/// or the recorder needs a runtime.
pub fn fire_now(generation: &Generation, recorder: &dyn Recorder, call: &HookCall) -> Option<Outcome> {
    let recorder = recorder.blocking()?;
    let started = Instant::now();
    let findings = retry::collect_without_hooks(select_hooks(generation, call), &call.event).ok()?;
    let finished = FinishedHooks { started, findings };
    let mut evaluated = evaluate(generation, call, Vec::new(), finished);
    let recorded = recorder.record_now(&evaluated.decided(generation, call));
    Some(evaluated.into_outcome(call, recorded))
}

/// Runs the first stage of [`fire`]: selects and runs hooks. Only this stage waits for other programs.
pub async fn run_hooks(generation: &Generation, call: &HookCall) -> FinishedHooks {
    let started = Instant::now();
    let selected = select_hooks(generation, call);
    FinishedHooks { started, findings: retry::run_with_retries(selected, call, generation.limits()).await }
}

/// Runs the second stage of [`fire`]: evaluates the rules on a call whose hooks have run, and folds all findings. The
/// processor time is proportional to the length of the call's text, and the function does not wait for other programs.
/// It may wait briefly for files if the generation is for another account. `earlier` contains
/// findings of hooks outside this engine that have already answered. They are treated like findings of the
/// generation's hooks and come first.
pub fn evaluate(
    generation: &Generation,
    call: &HookCall,
    earlier: Vec<(Finding, TraceEntry)>,
    finished: FinishedHooks,
) -> EvaluatedCall {
    let FinishedHooks { started, findings: ran } = finished;
    let event = &call.event;
    let (mut findings, mut trace): (Vec<_>, Vec<_>) = earlier.into_iter().unzip();
    let judged = generation.judge_event(event);

    findings.extend(ran.findings);
    findings.extend(judged.findings);
    trace.extend(ran.steps);
    trace.extend(judged.steps);
    let (mut facts, mut file_effects) = (judged.observed, judged.file_effects);

    let mut outcome = fold::fold(event, &findings);
    if let Some(input) = &outcome.tool_input {
        let changed = fold::with_tool_input(event, input);
        let judged = generation.judge_event(&changed);
        findings.extend(judged.findings.into_iter().map(fold::without_modifications));
        trace.extend(judged.steps);
        (facts, file_effects) = (merge_observations(facts, judged.observed), judged.file_effects);
        outcome = fold::fold(event, &findings);
    }
    outcome.trace = trace;
    outcome.retry_ms = ran.tool_retry_delay.map(|delay| u64::try_from(delay.as_millis()).unwrap_or(u64::MAX));
    EvaluatedCall { started, outcome, facts, file_effects }
}

fn select_hooks(generation: &Generation, call: &HookCall) -> SelectedHooks {
    let event = &call.event;
    select::select_hooks(generation.hooks_for(event.event), event, generation.skipped_hooks())
}

/// Findings of one call's hooks, before the rules are evaluated.
#[derive(Debug)]
pub struct FinishedHooks {
    started: Instant,
    findings: HookFindings,
}

/// A call that has an outcome but is not recorded yet. The outcome is available only after it is recorded.
#[derive(Debug)]
pub struct EvaluatedCall {
    started: Instant,
    outcome: Outcome,
    facts: Option<Value>,
    file_effects: Option<Vec<PathEffect>>,
}

impl EvaluatedCall {
    /// Runs the last stage of [`fire`]: records the decision and returns the outcome. If the decision cannot be
    /// recorded and the call can still be prevented, the call is denied.
    pub async fn record(
        mut self,
        generation: &Generation,
        recorder: &dyn Recorder,
        call: &HookCall,
    ) -> Outcome {
        let recorded = recorder.record(self.decided(generation, call)).await;
        self.into_outcome(call, recorded)
    }

    /// Returns the data to record.
    fn decided<'a>(&'a mut self, generation: &'a Generation, call: &'a HookCall) -> DecidedCall<'a> {
        let took_us = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
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

/// Replaces a decision that cannot be recorded: the call is denied if it can still be prevented.
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
