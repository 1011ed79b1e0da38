// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs hooks again that ask for a retry, a limited number of times.
//!
//! A retry is not a decision. When the attempts or the time are used up, the retry becomes a deny whose reason says
//! that the call may be tried again later. For a `tool-error` event, a retry refers to the tool and not to the hook:
//! the harness is asked to call the tool again.

use std::sync::Arc;
use std::time::Duration;

use tenterhook_event::{Decision, Event, EventKind, Finding, HookCall, TraceEntry, TraceStatus};
use tenterhook_harness::dialect::EngineControl;
use tokio::time::Instant;

use crate::run::{self, HookRun};
use crate::select::SelectedHooks;
use crate::{Hook, HookLimits, chains, merge};

/// The findings of all hooks after their retries.
#[derive(Debug, Default)]
pub(crate) struct HookFindings {
    pub(crate) findings: Vec<Finding>,
    pub(crate) steps: Vec<TraceEntry>,
    /// Delay after which a failed tool should be called again.
    pub(crate) tool_retry_delay: Option<Duration>,
}

/// Runs the selected hooks, and runs hooks again that ask for a retry.
pub(crate) async fn run_with_retries(
    selected: SelectedHooks,
    call: &HookCall,
    limits: &HookLimits,
) -> HookFindings {
    let selected = match collect_without_hooks(selected, &call.event) {
        Ok(findings) => return findings,
        Err(selected) => selected,
    };
    let SelectedHooks { hooks, failed, skipped } = selected;
    let mut findings = run_until_final(&hooks, failed, call, limits).await;
    findings.steps.extend(skipped);
    findings
}

/// Collects the findings if no hook has to run. If a hook has to run, returns the selection instead.
pub(crate) fn collect_without_hooks(
    selected: SelectedHooks,
    event: &Event,
) -> Result<HookFindings, SelectedHooks> {
    if !selected.hooks.is_empty() {
        return Err(selected);
    }
    let mut findings = collect_findings(event, Vec::new(), selected.failed);
    findings.steps.extend(selected.skipped);
    Ok(findings)
}

async fn run_until_final(
    hooks: &[Arc<Hook>],
    failed: Vec<(Finding, TraceEntry)>,
    call: &HookCall,
    limits: &HookLimits,
) -> HookFindings {
    let end = Instant::now() + limits.call_timeout;
    let mut runs = run::run_all(hooks, call, end).await;
    if call.event.event == EventKind::ToolError {
        return collect_tool_error(&call.event, runs, failed);
    }
    let deadline = end.min(Instant::now() + limits.retry_timeout);
    for attempt in 1.. {
        let Some(delay) = longest_retry_delay(&runs) else { break };
        if attempt >= limits.retry_attempts || delay > deadline.saturating_duration_since(Instant::now()) {
            for run in &mut runs {
                give_up(run, attempt);
            }
            break;
        }
        tokio::time::sleep(delay).await;
        run_again(&mut runs, hooks, call, end, attempt + 1).await;
    }
    collect_findings(&call.event, runs, failed)
}

/// Collects the findings for a `tool-error` event. A retry is passed on to the harness, and the hook does not run
/// again.
fn collect_tool_error(
    event: &Event,
    mut runs: Vec<HookRun>,
    failed: Vec<(Finding, TraceEntry)>,
) -> HookFindings {
    let is_skipped =
        |index: usize| runs.iter().any(|run| run.answer.control == EngineControl::Skip && run.index < index);
    let delays = runs.iter().filter(|run| !is_skipped(run.index)).filter_map(HookRun::retry_delay);
    let tool_retry_delay = delays.max();
    for run in &mut runs {
        if let Some(delay) = run.retry_delay() {
            run.step.note = Some(format!("the tool should be called again in {} ms", delay.as_millis()));
        }
    }
    HookFindings { tool_retry_delay, ..collect_findings(event, runs, failed) }
}

/// Returns the longest delay that a hook requests; `None` if no hook asks for a retry.
fn longest_retry_delay(runs: &[HookRun]) -> Option<Duration> {
    runs.iter().filter_map(HookRun::retry_delay).max()
}

/// Runs the hooks that ask for a retry again, together with their chains. The results of the other hooks are kept.
async fn run_again(
    runs: &mut Vec<HookRun>,
    hooks: &[Arc<Hook>],
    call: &HookCall,
    deadline: Instant,
    attempt: u32,
) {
    let wants_retry =
        |index: &usize| runs.iter().any(|run| run.index == *index && run.retry_delay().is_some());
    let units = chains::group_into_units(hooks);
    let units: Vec<_> = units.into_iter().filter(|unit| unit.iter().any(wants_retry)).collect();
    for new in run::run_units(hooks, &units, call, deadline, attempt).await {
        match runs.iter_mut().find(|old| old.index == new.index) {
            // A hook that denied once keeps its decision when a retry runs its chain again.
            Some(old) if old.answer.finding.decision > new.answer.finding.decision => {}
            Some(old) => *old = new,
            None => runs.push(new),
        }
    }
    runs.sort_by_key(|run| run.index);
}

/// Turns a retry into a deny, after the last attempt.
fn give_up(run: &mut HookRun, attempts: u32) {
    let Some(delay) = run.retry_delay() else { return };
    let finding = &mut run.answer.finding;
    finding.decision = Decision::Deny;
    let reason = finding.reason.take().map(|reason| format!("{reason} ")).unwrap_or_default();
    finding.reason = Some(format!(
        "{reason}(the hook asked for a retry {attempts} times; try again in {} ms)",
        delay.as_millis()
    ));
    run.step.decision = Decision::Deny;
    run.step.note = Some("the hook asked for a retry too often".to_owned());
    run.answer.control = EngineControl::Go;
}

/// Collects the findings of all hooks. If a hook answered `skip`, the findings of later hooks are dropped.
fn collect_findings(
    event: &Event,
    mut runs: Vec<HookRun>,
    failed: Vec<(Finding, TraceEntry)>,
) -> HookFindings {
    let skipper =
        runs.iter().filter(|run| run.answer.control == EngineControl::Skip).map(|run| run.index).min();
    let counted = skipper.map_or(runs.len(), |skipper| runs.partition_point(|run| run.index <= skipper));
    if let Some(counted) = runs.get_mut(..counted) {
        merge::merge_modifications(event, counted);
    }
    let mut collected = HookFindings::default();
    for (finding, step) in failed {
        collected.findings.push(finding);
        collected.steps.push(step);
    }
    for HookRun { index, answer, step, .. } in runs {
        if skipper.is_some_and(|skipper| index > skipper) {
            let note = Some("skipped by an earlier hook".to_owned());
            collected.steps.push(TraceEntry {
                status: TraceStatus::Skipped,
                decision: Decision::None,
                note,
                ..step
            });
        } else {
            collected.findings.push(answer.finding);
            collected.steps.push(step);
        }
    }
    collected
}
