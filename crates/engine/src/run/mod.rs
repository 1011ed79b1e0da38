// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Running hooks: all at once, each bounded, the results in order.
//!
//! Hooks of a chain run one after the other, each seeing what the ones before it changed.
//! Observers are started and not waited for.

mod command;
#[cfg(feature = "http")]
mod http;
mod inprocess;

use std::sync::Arc;
use std::time::Instant;

use futures_util::future::join_all;
use tenterhook_event::{Call, Decision, Finding, Origin, Status, Step};
use tenterhook_harness::dialect::{Control, Heard};

use crate::{Fail, Hook, Runner, chain};

/// What the hooks said, in (priority, registration) order, whoever finished first.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    pub(crate) answers: Vec<Answer>,
}

/// What became of one hook.
#[derive(Debug)]
pub(crate) struct Answer {
    /// Its place among the selected.
    pub(crate) at: usize,
    pub(crate) heard: Heard,
    pub(crate) step: Step,
}

/// Why a hook gave no finding.
#[derive(Debug)]
enum Failure {
    TimedOut,
    Failed(String),
}

/// Runs the selected hooks.
pub(crate) async fn all(selected: &[Arc<Hook>], call: &Call) -> Ran {
    let mut answers: Vec<Answer> = match chain::units(selected).as_slice() {
        [] => Vec::new(),
        // One hook needs no joining, and this is the usual case.
        [unit] => in_turn(selected, unit, call).await,
        units => join_all(units.iter().map(|unit| in_turn(selected, unit, call)))
            .await
            .into_iter()
            .flatten()
            .collect(),
    };
    answers.sort_by_key(|answer| answer.at);
    Ran { answers }
}

/// Runs the hooks of one unit one after the other. A deny does not end a chain; a skip does.
async fn in_turn(selected: &[Arc<Hook>], unit: &[usize], call: &Call) -> Vec<Answer> {
    let mut answers = Vec::with_capacity(unit.len());
    let mut changed: Option<Call> = None;
    for &at in unit {
        let Some(hook) = selected.get(at) else { continue };
        let (heard, step) = one(hook, changed.as_ref().unwrap_or(call)).await;
        if unit.len() > 1 {
            changed = chain::after(changed.as_ref().unwrap_or(call), &heard.finding).or(changed);
        }
        let skips = heard.control == Control::Skip;
        answers.push(Answer { at, heard, step });
        if skips {
            break;
        }
    }
    answers
}

async fn one(hook: &Hook, call: &Call) -> (Heard, Step) {
    let started = Instant::now();
    let by = Origin::Hook(Arc::clone(&hook.id));
    let result = if hook.observes { observe(hook, call) } else { wait(hook, call, by.clone()).await };
    let took_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let (heard, status, note) = match result {
        Ok(heard) => {
            let status = match heard.control {
                Control::Detach { .. } => Status::Detached,
                _ => Status::Ran,
            };
            (Heard { finding: Finding { by: by.clone(), ..heard.finding }, ..heard }, status, None)
        }
        Err(failure) => {
            let (status, why) = match failure {
                Failure::TimedOut => (Status::TimedOut, format!("no answer within {:?}", hook.timeout)),
                Failure::Failed(why) => (Status::Failed, why),
            };
            (failed(hook, by.clone(), &why).into(), status, Some(why))
        }
    };
    let step = Step { by, status, decision: heard.finding.decision, took_us, note };
    (heard, step)
}

async fn wait(hook: &Hook, call: &Call, by: Origin) -> Result<Heard, Failure> {
    match &hook.runner {
        Runner::InProcess(f) => inprocess::run(f.as_ref(), call, hook.timeout).await,
        Runner::Command(command) => command::run(command, call, by, hook.timeout).await,
        #[cfg(feature = "http")]
        Runner::Http(http) => http::run(http, call, by, hook.timeout).await,
    }
}

/// Starts an observer. It never delays and never decides, not even by failing.
fn observe(hook: &Hook, call: &Call) -> Result<Heard, Failure> {
    match &hook.runner {
        Runner::InProcess(f) => inprocess::observe(f, call, hook.timeout),
        Runner::Command(command) => command::observe(command, call, hook.timeout)?,
        #[cfg(feature = "http")]
        Runner::Http(http) => http::observe(http, call, hook.timeout),
    }
    let finding = Finding::silent(Origin::Engine);
    Ok(Heard { finding, control: Control::Detach { limit: hook.timeout } })
}

/// Failure is a decision, not an accident.
fn failed(hook: &Hook, by: Origin, why: &str) -> Finding {
    match hook.fail {
        Fail::Closed if !hook.observes => {
            let reason = format!("the hook `{}` failed and is set to fail closed: {why}", hook.id);
            Finding::decided(by, Decision::Deny, reason)
        }
        Fail::Open | Fail::Closed => Finding::silent(by),
    }
}
