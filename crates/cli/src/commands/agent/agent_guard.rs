// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates the agent's events, in the daemon if one is running, else in this process. No event goes unchecked.

use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use tenterhook_agent::{DispatchError, EventDispatcher};
use tenterhook_authority::OWN_AGENT;
use tenterhook_event::{HookCall, Outcome};
use tenterhook_guard::CallPipeline;
use tenterhook_home::{Env, Home, WorkDirs};

use crate::ask;
use crate::commands::hook::remember_agent;

/// Time limit for a decision; hooks are stopped before it expires.
const DECISION_TIMEOUT: Duration = Duration::from_secs(55);

/// Asks the daemon. If no daemon is running, decides in-process, like a hook.
pub(super) struct AgentGuard {
    pub(super) home: Home,
    pub(super) env: Env,
    /// Maximum time that an `ask` waits for an answer in the dashboard or on the command line; `None` if a user is at
    /// this terminal.
    pub(super) wait: Option<Duration>,
}

impl EventDispatcher for AgentGuard {
    fn fire(&self, call: HookCall) -> BoxFuture<'_, Result<Outcome, DispatchError>> {
        Box::pin(async move {
            match self.ask_daemon(&call).await {
                Ok(outcome) => Ok(outcome),
                Err(why) => self.evaluate_in_process(&call, &why).await,
            }
        })
    }
}

impl AgentGuard {
    async fn ask_daemon(&self, call: &HookCall) -> Result<Outcome, String> {
        let mut body = serde_json::to_value(&call.event).map_err(|error| error.to_string())?;
        if let (Some(fields), Some(native)) = (body.as_object_mut(), &call.native) {
            fields.insert("native".to_owned(), Value::Object(native.fields.clone()));
        }
        let waited = self.wait.unwrap_or_default();
        let path = match self.wait {
            Some(wait) => format!("/v1/events?wait_ms={}", wait.as_millis()),
            None => "/v1/events".to_owned(),
        };
        let (home, timeout) = (self.home.clone(), DECISION_TIMEOUT + waited);
        let asked = tokio::task::spawn_blocking(move || {
            ask::request_within(&home, "POST", &path, Some(&body), timeout)
        });
        let answer = asked.await.map_err(|error| error.to_string())?.map_err(|error| error.message)?;
        let answer = answer.ok_or("no daemon is running")?;
        serde_json::from_value(answer).map_err(|error| format!("unexpected answer of the daemon: {error}"))
    }

    /// Evaluates the same rules and hooks in this process, and spools the decision for the ledger.
    async fn evaluate_in_process(&self, call: &HookCall, why: &str) -> Result<Outcome, DispatchError> {
        let failed = |failure: tenterhook_error::Failure| DispatchError::new(failure.message);
        self.home.create().map_err(failed)?;
        let why = remember_agent(&self.home, OWN_AGENT, why);
        let pipeline =
            CallPipeline::offline(&self.home, &self.env, &WorkDirs::of(&call.event), &why, DECISION_TIMEOUT);
        Ok(pipeline.map_err(failed)?.fire(call).await)
    }
}
