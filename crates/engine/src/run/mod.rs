// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Running hooks: all at once, each bounded, the results in order.
//!
//! Hooks of a chain run one after the other, each seeing what the ones before it changed.
//! Observers are started and not waited for.

mod command;
#[cfg(feature = "http")]
mod http;
mod inprocess;
pub mod sdk;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures_util::future::join_all;
use tenterhook_event::{Call, Decision, Event, Finding, Origin, Status, Step};
use tenterhook_harness::dialect::{Control, Heard, a3s};
use tokio::time::Instant;

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
    /// The event as its hook was given it, if an earlier hook of its chain had changed it.
    pub(crate) given: Option<Box<Event>>,
}

/// Why a hook gave no finding.
#[derive(Debug)]
enum Failure {
    TimedOut,
    /// Its program or endpoint could not be reached.
    Unreachable(String),
    Failed(String),
}

/// A call as hooks are given it.
struct Asked<'a> {
    call: &'a Call,
    /// When the call has to be answered, whatever its hooks were promised.
    deadline: Instant,
    /// How often hooks have been asked about it, with this time.
    attempt: u32,
    /// Closures outlive a borrow of the call, so they share one copy of its event, made if needed.
    event: OnceLock<Arc<Event>>,
}

/// Runs the selected hooks.
pub(crate) async fn all(selected: &[Arc<Hook>], call: &Call, deadline: Instant) -> Ran {
    let units = chain::units(selected);
    Ran { answers: some(selected, &units, call, deadline, 1).await }
}

/// Runs some of the selected hooks, put into units already.
pub(crate) async fn some(
    selected: &[Arc<Hook>],
    units: &[Vec<usize>],
    call: &Call,
    deadline: Instant,
    attempt: u32,
) -> Vec<Answer> {
    let asked = Asked::new(call, deadline, attempt);
    let mut answers: Vec<Answer> = match units {
        [] => Vec::new(),
        // One unit needs no joining, and this is the usual case.
        [unit] => in_turn(selected, unit, &asked).await,
        units => {
            let at_once = units.iter().map(|unit| in_turn(selected, unit, &asked));
            join_all(at_once).await.into_iter().flatten().collect()
        }
    };
    answers.sort_by_key(|answer| answer.at);
    answers
}

/// Runs the hooks of one unit one after the other. A deny does not end a chain; a skip does.
async fn in_turn(selected: &[Arc<Hook>], unit: &[usize], asked: &Asked<'_>) -> Vec<Answer> {
    let mut answers = Vec::with_capacity(unit.len());
    let mut changed: Option<Call> = None;
    for &at in unit {
        let Some(hook) = selected.get(at) else { continue };
        let (heard, step) = match &changed {
            None => one(hook, asked).await,
            Some(call) => one(hook, &Asked::new(call, asked.deadline, asked.attempt)).await,
        };
        let changes = !heard.finding.modifications.is_empty();
        let given = changed.as_ref().filter(|_| changes).map(|call| Box::new(call.event.clone()));
        if unit.len() > 1 {
            let next = chain::after(changed.as_ref().unwrap_or(asked.call), &heard.finding);
            changed = next.or(changed);
        }
        let skips = heard.control == Control::Skip;
        answers.push(Answer { at, heard, step, given });
        if skips {
            answers.extend(
                unit.iter().filter(|rest| **rest > at).filter_map(|rest| passed_over(selected, *rest)),
            );
            break;
        }
    }
    answers
}

async fn one(hook: &Hook, asked: &Asked<'_>) -> (Heard, Step) {
    if hook.takes_failed_tool_as_result(asked.call.event.event) {
        let result = a3s::failed_tool_result(asked.call);
        return ask(hook, &Asked::new(&result, asked.deadline, asked.attempt)).await;
    }
    ask(hook, asked).await
}

async fn ask(hook: &Hook, asked: &Asked<'_>) -> (Heard, Step) {
    let started = std::time::Instant::now();
    let limit = hook.timeout.min(asked.deadline.saturating_duration_since(Instant::now()));
    let by = Origin::Hook(Arc::clone(&hook.id));
    let result =
        if hook.observes { observe(hook, asked) } else { wait(hook, asked, by.clone(), limit).await };
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
            log_failure(hook, &asked.call.event, &failure, limit);
            let (status, why) = match failure {
                Failure::TimedOut => (Status::TimedOut, format!("no answer within {limit:?}")),
                Failure::Unreachable(why) | Failure::Failed(why) => (Status::Failed, why),
            };
            (failed(hook, by.clone(), &why).into(), status, Some(why))
        }
    };
    let step = Step { by, status, decision: heard.finding.decision, took_us, note };
    (heard, step)
}

async fn wait(hook: &Hook, asked: &Asked<'_>, by: Origin, limit: Duration) -> Result<Heard, Failure> {
    let call = asked.call;
    match &hook.runner {
        Runner::InProcess(f) => inprocess::run(f.as_ref(), asked.event(), limit).await,
        Runner::Command(command) => command::run(command, call, by, limit).await,
        Runner::Sdk(function) => sdk::run(function, hook, call, by, limit, asked.attempt).await,
        #[cfg(feature = "http")]
        Runner::Http(http) => http::run(http, call, by, limit).await,
    }
}

/// Starts an observer. It never delays and never decides, not even by failing.
fn observe(hook: &Hook, asked: &Asked<'_>) -> Result<Heard, Failure> {
    let call = asked.call;
    match &hook.runner {
        Runner::InProcess(f) => inprocess::observe(f, asked.event(), hook.timeout),
        Runner::Command(command) => command::observe(command, call, hook.timeout)?,
        Runner::Sdk(function) => sdk::observe(function, hook, call),
        #[cfg(feature = "http")]
        Runner::Http(http) => http::observe(http, call, hook.timeout),
    }
    let finding = Finding::silent(Origin::Engine);
    Ok(Heard { finding, control: Control::Detach { limit: hook.timeout } })
}

impl<'a> Asked<'a> {
    fn new(call: &'a Call, deadline: Instant, attempt: u32) -> Self {
        Self { call, deadline, attempt, event: OnceLock::new() }
    }

    fn event(&self) -> Arc<Event> {
        Arc::clone(self.event.get_or_init(|| Arc::new(self.call.event.clone())))
    }
}

/// What there is to say about a hook of a chain that was skipped.
fn passed_over(selected: &[Arc<Hook>], at: usize) -> Option<Answer> {
    let by = Origin::Hook(Arc::clone(&selected.get(at)?.id));
    let note = Some("an earlier hook of its chain said to skip it".to_owned());
    let step = Step { by: by.clone(), status: Status::Skipped, decision: Decision::None, took_us: 0, note };
    Some(Answer { at, heard: Finding::silent(by).into(), step, given: None })
}

fn log_failure(hook: &Hook, event: &Event, failure: &Failure, limit: Duration) {
    let (hook, event) = (&*hook.id, event.event.name());
    match failure {
        Failure::TimedOut => tracing::warn!(hook, event, ?limit, "hook timed out"),
        Failure::Unreachable(why) => tracing::error!(hook, event, why, "hook is not reachable"),
        Failure::Failed(why) => tracing::warn!(hook, event, why, "hook failed"),
    }
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
