// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `check --run`: runs each hook once with a sample event.

use serde::Serialize;
use serde_json::json;
use tenterhook_engine::{EventMatcher, Hook};
use tenterhook_event::{Decision, Event, EventKind, ToolCall, TraceStatus};
use tenterhook_home::hook_packages::sample_run;

use crate::error::CommandError;
use crate::run_until_signal;
use crate::terminal::{BAD, DIM, GOOD, tame};

/// Result of one run.
#[derive(Debug, Serialize)]
pub(super) struct HookTrial {
    hook: String,
    event: EventKind,
    decision: Decision,
    took_us: u64,
    /// Why the hook gave no answer; `None` if it answered.
    pub(super) failure: Option<String>,
}

/// Runs each enabled hook with the first event that it is registered for. Conditions are ignored, because the trial
/// checks only whether the hook runs and answers.
pub(super) fn run_all(hooks: &[Hook]) -> Result<Vec<HookTrial>, CommandError> {
    let enabled: Vec<_> = hooks.iter().filter(|hook| hook.enabled).cloned().collect();
    run_until_signal::run_until_signal(async {
        let mut trials = Vec::with_capacity(enabled.len());
        for hook in enabled {
            trials.push(run_one(hook).await?);
        }
        Ok(trials)
    })
}

async fn run_one(hook: Hook) -> Result<HookTrial, CommandError> {
    let id = hook.id.to_string();
    let event = sample_event(hook.on.first().copied().unwrap_or(EventKind::PreTool))?;
    let kind = event.event;
    let hook = Hook { matcher: EventMatcher::all(), only_if: None, when: None, ..hook };
    let outcome = sample_run::run_hooks(vec![hook], event).await?;
    let step = outcome.trace.first();
    let failure = match step.map(|step| step.status) {
        Some(TraceStatus::Failed | TraceStatus::TimedOut) => {
            Some(step.and_then(|step| step.note.clone()).unwrap_or_else(|| "the hook failed".to_owned()))
        }
        Some(_) => None,
        None => Some("the hook was not run".to_owned()),
    };
    let took_us = step.map_or(0, |step| step.took_us);
    let decision = step.map_or(Decision::None, |step| step.decision);
    Ok(HookTrial { hook: id, event: kind, decision, took_us, failure })
}

fn sample_event(kind: EventKind) -> Result<Event, CommandError> {
    let meta = tenterhook_home::call_meta::mint()?;
    let mut event = Event::new(meta.id, meta.ts, "check", kind, kind.name());
    let cwd = std::env::current_dir().ok().and_then(|dir| dir.to_str().map(ToOwned::to_owned));
    event.cwd.clone_from(&cwd);
    event.project = cwd;
    event.harness_session_id = Some("check".to_owned());
    if kind.concerns_tool() {
        event.tool = Some(ToolCall::new("Bash", json!({"command": "true"})));
    }
    if kind == EventKind::Prompt {
        event.detail.prompt = Some("a sample of `tenterhook check --run`".to_owned());
    }
    Ok(event)
}

impl HookTrial {
    pub(super) fn line(&self) -> String {
        let (hook, event) = (tame(&self.hook), self.event);
        if let Some(why) = &self.failure {
            format!("{BAD}✗{BAD:#} {hook} on {event}: {}\n", tame(why))
        } else {
            let ms = self.took_us / 1000;
            format!("{GOOD}✓{GOOD:#} {hook} on {event}: {} {DIM}{ms} ms{DIM:#}\n", self.decision.label())
        }
    }
}
