// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tries hooks with an event. Nothing is recorded, and no rule is asked.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use tenterhook_api::HookSample;
use tenterhook_engine::{Engine, Hook, HookLimits, select};
use tenterhook_event::{Decision, Event, HookCall, Outcome};

use super::sample_event;
use tenterhook_error::Failure;

/// No longer than a harness would wait.
const WITHIN: Duration = Duration::from_secs(50);

/// What hooks made of a sample.
#[derive(Debug, Serialize)]
pub struct Tried {
    /// What the sample shows.
    pub title: String,
    /// What was expected.
    pub expect: Decision,
    /// What they decided.
    pub decision: Decision,
    /// Whether that is what they should.
    pub ok: bool,
    /// All of it.
    pub outcome: Outcome,
}

/// Takes an event to these hooks, whether they are switched on or not.
pub async fn run(hooks: Vec<Hook>, event: Event) -> Result<Outcome, Failure> {
    let hooks = hooks.into_iter().map(|hook| Hook { enabled: true, ..hook });
    let limits = HookLimits { call_timeout: WITHIN, ..HookLimits::default() };
    let engine = Engine::builder().named("tried").limits(limits).hooks(hooks).build();
    let engine = engine.map_err(|error| Failure::user(error.to_string()))?;
    Ok(engine.fire(&HookCall { event, native: None }).await)
}

/// Tries hooks with one of their samples.
pub async fn sample(hooks: &[Hook], sample: &HookSample) -> Result<Tried, Failure> {
    let event = sample_event(sample)?;
    // Whoever does not apply is not run, and that is right if nothing was expected.
    let outcome = run(hooks.to_vec(), event).await?;
    let input = outcome.tool_input.clone().unwrap_or(Value::Null);
    let failed = outcome.trace.iter().any(|step| {
        matches!(step.status, tenterhook_event::TraceStatus::Failed | tenterhook_event::TraceStatus::TimedOut)
    });
    let ok = outcome.decision == sample.expect && input == sample.input && !failed;
    let (title, expect) = (sample.title.clone(), sample.expect);
    Ok(Tried { title, expect, decision: outcome.decision, ok, outcome })
}

/// Why a hook has nothing to say about an event; `None`: it has.
pub fn why_not(hook: &Hook, event: &Event) -> Option<String> {
    let hook = Hook { enabled: true, ..hook.clone() };
    match select::check_applicability(&hook, event) {
        select::Applicability::Yes => None,
        select::Applicability::No(why) | select::Applicability::Unknown(why) => Some(why),
    }
}
