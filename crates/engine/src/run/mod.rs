// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Running hooks: all at once, each bounded, the results in order.

mod command;
mod inprocess;

use std::sync::Arc;
use std::time::Instant;

use futures_util::future::join_all;
use tenterhook_event::{Call, Decision, Finding, Origin, Status, Step};

use crate::{Fail, Hook, Runner};

/// What the hooks said, in (priority, registration) order, whoever finished first.
pub(crate) struct Ran {
    pub(crate) findings: Vec<Finding>,
    pub(crate) steps: Vec<Step>,
}

/// Why a hook gave no finding.
enum Failure {
    TimedOut,
    Failed(String),
}

/// Runs the selected hooks.
pub(crate) async fn all(selected: &[&Arc<Hook>], call: &Call) -> Ran {
    if selected.is_empty() {
        return Ran { findings: Vec::new(), steps: Vec::new() };
    }
    // In-process hooks may outlive a borrow of the call, so they share one copy of the event.
    let event = Arc::new(call.event.clone());
    let done = join_all(selected.iter().map(|hook| one(hook, call, &event))).await;
    let (findings, steps) = done.into_iter().unzip();
    Ran { findings, steps }
}

async fn one(hook: &Hook, call: &Call, event: &Arc<tenterhook_event::Event>) -> (Finding, Step) {
    let started = Instant::now();
    let by = Origin::Hook(Arc::clone(&hook.id));
    let result = match &hook.runner {
        Runner::InProcess(f) => inprocess::run(f.as_ref(), Arc::clone(event), hook.timeout).await,
        Runner::Command(command) => command::run(command, call, by.clone(), hook.timeout).await,
    };
    let took_us = u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX);
    let (finding, status, note) = match result {
        Ok(finding) => (Finding { by: by.clone(), ..finding }, Status::Ran, None),
        Err(failure) => {
            let (status, why) = match failure {
                Failure::TimedOut => (Status::TimedOut, format!("no answer within {:?}", hook.timeout)),
                Failure::Failed(why) => (Status::Failed, why),
            };
            (failed(hook, by.clone(), &why), status, Some(why))
        }
    };
    let step = Step { by, status, decision: finding.decision, took_us, note };
    (finding, step)
}

/// Failure is a decision, not an accident.
fn failed(hook: &Hook, by: Origin, why: &str) -> Finding {
    match hook.fail {
        Fail::Open => Finding::silent(by),
        Fail::Closed => {
            let reason = format!("the hook `{}` failed and is set to fail closed: {why}", hook.id);
            Finding::decided(by, Decision::Deny, reason)
        }
    }
}
