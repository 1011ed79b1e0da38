// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates and records events about connections: in the daemon, or in this process if there is no daemon.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tenterhook_api::RunRegistration;
use tenterhook_daemon_control::ask;
use tenterhook_error::Failure;
use tenterhook_event::{Decision, HookCall, Outcome};
use tenterhook_guard::CallPipeline;
use tenterhook_home::{Env, Home, WorkDirs};
use tenterhook_proxy::{ConnectionJudge, ConnectionRefusal, ConnectionRequest, ConnectionVerdict};
use tokio::sync::Semaphore;

use crate::connection_event;

/// Time limit for a decision without a user.
const DECISION_TIMEOUT: Duration = Duration::from_secs(55);
/// Maximum number of events that are evaluated at the same time. Each one uses a thread.
const MAX_EVALUATIONS: usize = 64;

/// The judge of a run's connections.
#[derive(Clone)]
pub(crate) struct PipelineJudge {
    state: Arc<JudgeState>,
}

struct JudgeState {
    home: Home,
    env: Env,
    run: RunRegistration,
    /// Maximum time that a connection waits for a user's approval.
    ask_wait: Duration,
    evaluations: Semaphore,
}

// === impl PipelineJudge ===

impl PipelineJudge {
    pub(crate) fn new(home: Home, env: Env, run: RunRegistration, ask_wait: Duration) -> Self {
        let evaluations = Semaphore::new(MAX_EVALUATIONS);
        Self { state: Arc::new(JudgeState { home, env, run, ask_wait, evaluations }) }
    }

    /// Evaluates and records an event. `wait` is the maximum time that an `ask` waits for a user.
    pub(crate) async fn evaluate(&self, call: HookCall, wait: Duration) -> Result<Outcome, Failure> {
        let permit = self.state.evaluations.acquire().await;
        let _permit = permit.map_err(|_| Failure::internal("the proxy has ended"))?;
        let (state, asked) = (Arc::clone(&self.state), call.clone());
        let answer = tokio::task::spawn_blocking(move || ask_daemon(&state.home, &asked, wait)).await;
        match answer.map_err(|error| Failure::internal(error.to_string()))? {
            ConnectionAnswer::Outcome(outcome) => Ok(*outcome),
            ConnectionAnswer::Failed(failure) => Err(failure),
            ConnectionAnswer::NotRunning => self.evaluate_in_process(call).await,
        }
    }

    /// Evaluates with the same rules and hooks in this process, and spools the decision for the ledger.
    async fn evaluate_in_process(&self, mut call: HookCall) -> Result<Outcome, Failure> {
        // The daemon sets the account itself.
        call.event.agent.user = Some(tenterhook_home::env::current_user());
        let (state, dirs) = (Arc::clone(&self.state), WorkDirs::of(&call.event));
        let open = tokio::task::spawn_blocking(move || {
            state.home.create()?;
            CallPipeline::offline(&state.home, &state.env, &dirs, "no daemon is running", DECISION_TIMEOUT)
        });
        let pipeline = open.await.map_err(|error| Failure::internal(error.to_string()))??;
        Ok(pipeline.fire(&call).await)
    }
}

impl ConnectionJudge for PipelineJudge {
    async fn judge(&self, request: &ConnectionRequest) -> ConnectionVerdict {
        let outcome = match connection_event::opening(&self.state.run, request) {
            Ok(call) => self.evaluate(call, self.state.ask_wait).await,
            Err(failure) => Err(failure),
        };
        match outcome {
            Ok(outcome) => verdict_of(&outcome),
            // A connection that is not judged and recorded is not made.
            Err(failure) => ConnectionVerdict::Refuse(ConnectionRefusal::new(format!(
                "the connection could not be judged: {}",
                failure.message
            ))),
        }
    }
}

/// The daemon's answer to an event.
enum ConnectionAnswer {
    Outcome(Box<Outcome>),
    Failed(Failure),
    NotRunning,
}

fn ask_daemon(home: &Home, call: &HookCall, wait: Duration) -> ConnectionAnswer {
    let body = match serde_json::to_value(&call.event) {
        Ok(body) => body,
        Err(error) => return ConnectionAnswer::Failed(Failure::internal(error.to_string())),
    };
    let path = match wait.as_millis() {
        0 => "/v1/events".to_owned(),
        wait => format!("/v1/events?wait_ms={wait}"),
    };
    match ask::request_within(home, "POST", &path, Some(&body), DECISION_TIMEOUT + wait) {
        Ok(Some(answer)) => read_outcome(answer),
        Ok(None) => ConnectionAnswer::NotRunning,
        // A daemon that stops or crashes does not answer; the event has the same id in both places, so it counts once.
        Err(_) if !ask::is_up(home) => ConnectionAnswer::NotRunning,
        Err(failure) => ConnectionAnswer::Failed(failure),
    }
}

fn read_outcome(answer: Value) -> ConnectionAnswer {
    match serde_json::from_value(answer) {
        Ok(outcome) => ConnectionAnswer::Outcome(Box::new(outcome)),
        Err(error) => {
            ConnectionAnswer::Failed(Failure::internal(format!("unexpected answer of the daemon: {error}")))
        }
    }
}

fn verdict_of(outcome: &Outcome) -> ConnectionVerdict {
    let refuse = |unanswered: Option<&str>| {
        let reason = outcome.reason().unwrap_or_else(|| "a rule refuses this connection".to_owned());
        let reason = unanswered.map_or_else(|| reason.clone(), |why| format!("{reason} ({why})"));
        let nudge = outcome.nudges.first().map(|nudge| nudge.value.clone());
        ConnectionVerdict::Refuse(ConnectionRefusal { reason, suggestion: nudge })
    };
    match outcome.decision {
        Decision::Allow => ConnectionVerdict::Allow { explicit: true },
        Decision::None => ConnectionVerdict::Allow { explicit: false },
        // No harness is there to ask the user.
        Decision::Ask | Decision::Defer => refuse(Some("no user approved it")),
        Decision::Deny => refuse(None),
    }
}

#[cfg(test)]
mod tests {
    use tenterhook_event::{Finding, Origin};

    use super::*;

    fn verdict(decision: Decision) -> ConnectionVerdict {
        let finding = Finding {
            nudge: Some("do that".to_owned()),
            ..Finding::decided(Origin::Engine, decision, "because")
        };
        let outcome: Outcome = serde_json::from_value(serde_json::json!({
            "decision": decision, "flow": "go",
            "reasons": [{"by": "engine", "said": finding.reason}],
            "nudges": [{"by": "engine", "said": finding.nudge}],
        }))
        .unwrap();
        verdict_of(&outcome)
    }

    #[test]
    fn only_allow_and_no_match_connect() {
        assert_eq!(verdict(Decision::Allow), ConnectionVerdict::Allow { explicit: true });
        assert_eq!(verdict(Decision::None), ConnectionVerdict::Allow { explicit: false });
        let refused = |reason: &str| {
            ConnectionVerdict::Refuse(ConnectionRefusal::new(reason).with_suggestion("do that"))
        };
        assert_eq!(verdict(Decision::Deny), refused("because"));
        assert_eq!(verdict(Decision::Ask), refused("because (no user approved it)"));
        assert_eq!(verdict(Decision::Defer), refused("because (no user approved it)"));
    }
}
