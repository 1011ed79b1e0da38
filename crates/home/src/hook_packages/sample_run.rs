// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Runs hooks on sample events, without recording the result or evaluating rules.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tenterhook_api::HookSample;
use tenterhook_engine::{Engine, Hook, HookLimits, select};
use tenterhook_event::{Decision, Event, HookCall, Outcome};

use super::sample_event;
use tenterhook_error::Failure;

/// Time limit for one sample, shorter than the timeout of a harness.
const SAMPLE_TIMEOUT: Duration = Duration::from_secs(50);

/// Result of running hooks on a sample.
#[derive(Debug, Serialize)]
pub struct SampleRun {
    /// Title of the sample.
    pub title: String,
    /// Verdict that the sample expects.
    pub expect: Decision,
    /// Verdict of the hooks.
    pub decision: Decision,
    /// Whether the result is as expected.
    pub ok: bool,
    /// The whole outcome.
    pub outcome: Outcome,
}

/// Runs these hooks on an event, even if they are disabled.
pub async fn run_hooks(hooks: Vec<Hook>, event: Event) -> Result<Outcome, Failure> {
    let hooks = hooks.into_iter().map(|hook| Hook { enabled: true, ..hook });
    let limits = HookLimits { call_timeout: SAMPLE_TIMEOUT, ..HookLimits::default() };
    let engine = Engine::builder().named("tried").limits(limits).hooks(hooks).build();
    let engine = engine.map_err(|error| Failure::user(error.to_string()))?;
    Ok(engine.fire(&HookCall { event, native: None }).await)
}

/// Runs hooks on one of their samples.
pub async fn run_sample(hooks: &[Hook], sample: &HookSample) -> Result<SampleRun, Failure> {
    let event = sample_event(sample)?;
    // A hook that does not apply to the event is not run. This is correct for samples that expect no verdict.
    let outcome = run_hooks(hooks.to_vec(), event).await?;
    let input = outcome.tool_input.clone().unwrap_or(Value::Null);
    let failed = outcome.trace.iter().any(|step| {
        matches!(step.status, tenterhook_event::TraceStatus::Failed | tenterhook_event::TraceStatus::TimedOut)
    });
    let ok = outcome.decision == sample.expect && input == sample.input && !failed;
    let (title, expect) = (sample.title.clone(), sample.expect);
    Ok(SampleRun { title, expect, decision: outcome.decision, ok, outcome })
}

/// Why a hook does not apply to an event; `None` if it applies.
pub fn reason_not_applicable(hook: &Hook, event: &Event) -> Option<String> {
    let hook = Hook { enabled: true, ..hook.clone() };
    match select::check_applicability(&hook, event) {
        select::Applicability::Yes => None,
        select::Applicability::No(why) | select::Applicability::Unknown(why) => Some(why),
    }
}
