// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hooks that want to be asked again: a bounded loop around running them.
//!
//! Retry is never a decision. When the attempts or the time are used up it becomes a deny that says
//! that it may be tried again later. After a tool has failed it means the tool itself: whoever runs
//! tools is told, and tries again.

use std::sync::Arc;
use std::time::Duration;

use tenterhook_event::{Call, Decision, Event, EventKind, Finding, Status, Step};
use tenterhook_harness::dialect::Control;
use tokio::time::Instant;

use crate::run::{self, Answer};
use crate::select::Selected;
use crate::{Hook, Limits, chain, merge};

/// What the hooks said in the end.
#[derive(Debug, Default)]
pub(crate) struct Settled {
    pub(crate) findings: Vec<Finding>,
    pub(crate) steps: Vec<Step>,
    /// When the tool that failed should be tried again, if it should.
    pub(crate) tool_again: Option<Duration>,
}

/// Runs the selected hooks, and those again that ask for it.
pub(crate) async fn run(selected: Selected, call: &Call, limits: &Limits) -> Settled {
    let Selected { hooks, failed, passed_over } = selected;
    let mut settled = asked(&hooks, failed, call, limits).await;
    settled.steps.extend(passed_over);
    settled
}

async fn asked(hooks: &[Arc<Hook>], failed: Vec<(Finding, Step)>, call: &Call, limits: &Limits) -> Settled {
    let end = Instant::now() + limits.call_within;
    let mut answers = run::all(hooks, call, end).await.answers;
    if call.event.event == EventKind::ToolError {
        return pass_on(&call.event, answers, failed);
    }
    let deadline = end.min(Instant::now() + limits.retry_within);
    for attempt in 1.. {
        let Some(delay) = longest_delay(&answers) else { break };
        if attempt >= limits.retry_attempts || delay > deadline.saturating_duration_since(Instant::now()) {
            for answer in &mut answers {
                give_up(answer, attempt);
            }
            break;
        }
        tokio::time::sleep(delay).await;
        again(&mut answers, hooks, call, end, attempt + 1).await;
    }
    settle(&call.event, answers, failed)
}

/// Hooks that want the tool tried again are heard, not asked again.
fn pass_on(event: &Event, mut answers: Vec<Answer>, failed: Vec<(Finding, Step)>) -> Settled {
    let skipped = |at: usize| answers.iter().any(|it| it.heard.control == Control::Skip && it.at < at);
    let delays =
        answers.iter().filter(|answer| !skipped(answer.at)).filter_map(|answer| match answer.heard.control {
            Control::Retry { delay } => Some(delay),
            _ => None,
        });
    let tool_again = delays.max();
    for answer in &mut answers {
        if let Control::Retry { delay } = answer.heard.control {
            answer.step.note = Some(format!("the tool should be tried again in {} ms", delay.as_millis()));
        }
    }
    Settled { tool_again, ..settle(event, answers, failed) }
}

/// How long the most patient of those that want to be asked again wants to wait.
fn longest_delay(answers: &[Answer]) -> Option<Duration> {
    let delays = answers.iter().filter_map(|answer| match answer.heard.control {
        Control::Retry { delay } => Some(delay),
        _ => None,
    });
    delays.max()
}

/// Asks those again that want it, with the rest of their chain; the others' answers stand.
async fn again(answers: &mut Vec<Answer>, hooks: &[Arc<Hook>], call: &Call, deadline: Instant, attempt: u32) {
    let wants = |at: &usize| {
        answers.iter().any(|answer| answer.at == *at && matches!(answer.heard.control, Control::Retry { .. }))
    };
    let units: Vec<_> = chain::units(hooks).into_iter().filter(|unit| unit.iter().any(wants)).collect();
    for new in run::some(hooks, &units, call, deadline, attempt).await {
        match answers.iter_mut().find(|old| old.at == new.at) {
            // What a hook has objected to once is not unsaid by asking the others of its chain again.
            Some(old) if old.heard.finding.decision > new.heard.finding.decision => {}
            Some(old) => *old = new,
            None => answers.push(new),
        }
    }
    answers.sort_by_key(|answer| answer.at);
}

fn give_up(answer: &mut Answer, attempts: u32) {
    let Control::Retry { delay } = answer.heard.control else { return };
    let finding = &mut answer.heard.finding;
    finding.decision = Decision::Deny;
    let why = finding.reason.take().map(|why| format!("{why} ")).unwrap_or_default();
    finding.reason = Some(format!(
        "{why}(not now: asked to be tried again {attempts} times; it may be tried again in {} ms)",
        delay.as_millis()
    ));
    answer.step.decision = Decision::Deny;
    answer.step.note = Some("it kept asking to be tried again".to_owned());
    answer.heard.control = Control::Go;
}

/// What comes after a hook that said skip does not count; what was said before it stands.
fn settle(event: &Event, mut answers: Vec<Answer>, failed: Vec<(Finding, Step)>) -> Settled {
    let skipper =
        answers.iter().filter(|answer| answer.heard.control == Control::Skip).map(|answer| answer.at).min();
    let counted = skipper.map_or(answers.len(), |skipper| answers.partition_point(|it| it.at <= skipper));
    if let Some(counted) = answers.get_mut(..counted) {
        merge::merge_modifications(event, counted);
    }
    let mut settled = Settled::default();
    for (finding, step) in failed {
        settled.findings.push(finding);
        settled.steps.push(step);
    }
    for Answer { at, heard, step, .. } in answers {
        if skipper.is_some_and(|skipper| at > skipper) {
            let note = Some("an earlier hook said to skip it".to_owned());
            settled.steps.push(Step { status: Status::Skipped, decision: Decision::None, note, ..step });
        } else {
            settled.findings.push(heard.finding);
            settled.steps.push(step);
        }
    }
    settled
}
