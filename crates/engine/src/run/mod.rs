// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs hooks in parallel, each with a time limit, and returns the results in order.
//!
//! Hooks of one chain run in sequence, and each sees the changes made by the hooks before it. Observers are started,
//! but the engine does not wait for them.

mod command;
#[cfg(feature = "http")]
mod http;
mod in_process;
pub mod sdk;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::join_all;
use tenterhook_event::{Decision, Event, Finding, HookCall, Origin, TraceEntry, TraceStatus};
use tenterhook_harness::dialect::{EngineControl, InterpretedOutput, a3s};
use tokio::time::Instant;

use crate::{FailMode, Hook, HookBackend, chains};

/// The result of running one hook.
#[derive(Debug)]
pub(crate) struct HookRun {
    /// Index of the hook among the selected hooks.
    pub(crate) index: usize,
    pub(crate) answer: InterpretedOutput,
    pub(crate) step: TraceEntry,
    /// The event as the hook received it; set only if an earlier hook of the chain had changed the event.
    pub(crate) given: Option<Box<Event>>,
}

impl HookRun {
    /// Returns the delay that the hook requests before it is called again; `None` if it does not ask for a retry.
    pub(crate) fn retry_delay(&self) -> Option<Duration> {
        match self.answer.control {
            EngineControl::Retry { delay } => Some(delay),
            _ => None,
        }
    }
}

/// Why a hook gave no answer.
#[derive(Debug)]
enum RunFailure {
    TimedOut,
    /// The hook's program or endpoint could not be reached.
    Unreachable(String),
    Failed(String),
}

/// A call in the form that hooks receive.
struct HookInput<'a> {
    call: &'a HookCall,
    /// Deadline for answering the call, even if the time limits of its hooks are longer.
    deadline: Instant,
    /// How many times the hooks have been called for this event, including this call.
    attempt: u32,
    /// A shared copy of the event for closures, which outlive the borrow of the call. Created on first use.
    event: OnceLock<Arc<Event>>,
}

/// Runs the selected hooks and returns their results, sorted by priority and then by registration.
pub(crate) async fn run_all(selected: &[Arc<Hook>], call: &HookCall, deadline: Instant) -> Vec<HookRun> {
    let units = chains::group_into_units(selected);
    run_units(selected, &units, call, deadline, 1).await
}

/// Runs some of the selected hooks, grouped into units by [`chains::group_into_units`].
pub(crate) async fn run_units(
    selected: &[Arc<Hook>],
    units: &[Vec<usize>],
    call: &HookCall,
    deadline: Instant,
    attempt: u32,
) -> Vec<HookRun> {
    let input = HookInput::new(call, deadline, attempt);
    let mut runs: Vec<HookRun> = match units {
        [] => Vec::new(),
        // A single unit is the usual case and needs no join.
        [unit] => run_in_sequence(selected, unit, &input).await,
        units => {
            let parallel = units.iter().map(|unit| run_in_sequence(selected, unit, &input));
            join_all(parallel).await.into_iter().flatten().collect()
        }
    };
    runs.sort_by_key(|run| run.index);
    runs
}

/// Runs the hooks of one unit in sequence. A deny does not end the sequence; a skip does.
async fn run_in_sequence(selected: &[Arc<Hook>], unit: &[usize], input: &HookInput<'_>) -> Vec<HookRun> {
    let mut runs = Vec::with_capacity(unit.len());
    let mut changed: Option<HookCall> = None;
    for &index in unit {
        let Some(hook) = selected.get(index) else { continue };
        let (answer, step) = match &changed {
            None => run_hook(hook, input).await,
            Some(call) => run_hook(hook, &HookInput::new(call, input.deadline, input.attempt)).await,
        };
        let modifies = !answer.finding.modifications.is_empty();
        let given = changed.as_ref().filter(|_| modifies).map(|call| Box::new(call.event.clone()));
        if unit.len() > 1 {
            let next = chains::apply_finding(changed.as_ref().unwrap_or(input.call), &answer.finding);
            changed = next.or(changed);
        }
        let skips = answer.control == EngineControl::Skip;
        runs.push(HookRun { index, answer, step, given });
        if skips {
            runs.extend(
                unit.iter().filter(|rest| **rest > index).filter_map(|rest| skipped_run(selected, *rest)),
            );
            break;
        }
    }
    runs
}

async fn run_hook(hook: &Hook, input: &HookInput<'_>) -> (InterpretedOutput, TraceEntry) {
    if hook.takes_failed_tool_as_result(input.call.event.event) {
        let result = a3s::failed_tool_result(input.call);
        return call_hook(hook, &HookInput::new(&result, input.deadline, input.attempt)).await;
    }
    call_hook(hook, input).await
}

async fn call_hook(hook: &Hook, input: &HookInput<'_>) -> (InterpretedOutput, TraceEntry) {
    let started = std::time::Instant::now();
    let timeout = hook.timeout.min(input.deadline.saturating_duration_since(Instant::now()));
    let by = Origin::Hook(Arc::clone(&hook.id));
    let result = if hook.observes {
        start_observer(hook, input)
    } else {
        wait_for_answer(hook, input, by.clone(), timeout).await
    };
    let took_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let (answer, status, note) = match result {
        Ok(answer) => {
            let status = match answer.control {
                EngineControl::Detach { .. } => TraceStatus::Detached,
                _ => TraceStatus::Ran,
            };
            (
                InterpretedOutput { finding: Finding { by: by.clone(), ..answer.finding }, ..answer },
                status,
                None,
            )
        }
        Err(failure) => {
            log_failure(hook, &input.call.event, &failure, timeout);
            let (status, why) = match failure {
                RunFailure::TimedOut => (TraceStatus::TimedOut, format!("no answer within {timeout:?}")),
                RunFailure::Unreachable(why) | RunFailure::Failed(why) => (TraceStatus::Failed, why),
            };
            (failure_finding(hook, by.clone(), &why).into(), status, Some(why))
        }
    };
    let step = TraceEntry { by, status, decision: answer.finding.decision, took_us, note };
    (answer, step)
}

async fn wait_for_answer(
    hook: &Hook,
    input: &HookInput<'_>,
    by: Origin,
    timeout: Duration,
) -> Result<InterpretedOutput, RunFailure> {
    let call = input.call;
    match &hook.runner {
        HookBackend::InProcess(f) => in_process::run(f.as_ref(), input.event(), timeout).await,
        HookBackend::Command(command) => command::run(command, call, by, timeout).await,
        HookBackend::Sdk(sdk_hook) => sdk::run(sdk_hook, hook, call, by, timeout, input.attempt).await,
        #[cfg(feature = "http")]
        HookBackend::Http(http) => http::run(http, call, by, timeout).await,
    }
}

/// Starts an observer. Observers never delay a call and never decide, even if they fail.
fn start_observer(hook: &Hook, input: &HookInput<'_>) -> Result<InterpretedOutput, RunFailure> {
    let call = input.call;
    match &hook.runner {
        HookBackend::InProcess(f) => in_process::observe(f, input.event(), hook.timeout),
        HookBackend::Command(command) => command::observe(command, call, hook.timeout)?,
        HookBackend::Sdk(sdk_hook) => sdk::observe(sdk_hook, hook, call),
        #[cfg(feature = "http")]
        HookBackend::Http(http) => http::observe(http, call, hook.timeout),
    }
    let finding = Finding::silent(Origin::Engine);
    Ok(InterpretedOutput { finding, control: EngineControl::Detach { limit: hook.timeout } })
}

impl<'a> HookInput<'a> {
    fn new(call: &'a HookCall, deadline: Instant, attempt: u32) -> Self {
        Self { call, deadline, attempt, event: OnceLock::new() }
    }

    fn event(&self) -> Arc<Event> {
        Arc::clone(self.event.get_or_init(|| Arc::new(self.call.event.clone())))
    }
}

/// Returns the result for a hook that an earlier hook of its chain skipped.
fn skipped_run(selected: &[Arc<Hook>], index: usize) -> Option<HookRun> {
    let by = Origin::Hook(Arc::clone(&selected.get(index)?.id));
    let note = Some("skipped by an earlier hook of its chain".to_owned());
    let step = TraceEntry {
        by: by.clone(),
        status: TraceStatus::Skipped,
        decision: Decision::None,
        took_us: 0,
        note,
    };
    Some(HookRun { index, answer: Finding::silent(by).into(), step, given: None })
}

fn log_failure(hook: &Hook, event: &Event, failure: &RunFailure, timeout: Duration) {
    let (hook, event) = (&*hook.id, event.event.name());
    match failure {
        RunFailure::TimedOut => tracing::warn!(hook, event, limit = ?timeout, "hook timed out"),
        RunFailure::Unreachable(why) => tracing::error!(hook, event, why, "hook is not reachable"),
        RunFailure::Failed(why) => tracing::warn!(hook, event, why, "hook failed"),
    }
}

/// Returns the finding for a hook that failed: a deny if the hook fails closed.
fn failure_finding(hook: &Hook, by: Origin, why: &str) -> Finding {
    match hook.fail {
        FailMode::Closed if !hook.observes => {
            let reason = format!("hook `{}` failed and is set to fail closed: {why}", hook.id);
            Finding::decided(by, Decision::Deny, reason)
        }
        FailMode::Open | FailMode::Closed => Finding::silent(by),
    }
}
