// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where the agent's events go: to the daemon while one listens, else down the road right here. Never
//! nowhere.

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

/// How long deciding may take; hooks are cut off before.
const DECISION_TIMEOUT: Duration = Duration::from_secs(55);

/// Asks the daemon of a home, or decides as a hook does that finds none.
pub(super) struct AgentGuard {
    pub(super) home: Home,
    pub(super) env: Env,
    /// How long an `ask` waits for somebody at the dashboard or the command line; not at all where a person
    /// sits in front of us.
    pub(super) wait: Option<Duration>,
}

impl EventDispatcher for AgentGuard {
    fn fire(&self, call: HookCall) -> BoxFuture<'_, Result<Outcome, DispatchError>> {
        Box::pin(async move {
            match self.daemon(&call).await {
                Ok(outcome) => Ok(outcome),
                Err(why) => self.here(&call, &why).await,
            }
        })
    }
}

impl AgentGuard {
    async fn daemon(&self, call: &HookCall) -> Result<Outcome, String> {
        let mut body = serde_json::to_value(&call.event).map_err(|error| error.to_string())?;
        if let (Some(fields), Some(native)) = (body.as_object_mut(), &call.native) {
            fields.insert("native".to_owned(), Value::Object(native.fields.clone()));
        }
        let waited = self.wait.unwrap_or_default();
        let path = match self.wait {
            Some(wait) => format!("/v1/events?wait_ms={}", wait.as_millis()),
            None => "/v1/events".to_owned(),
        };
        let (home, patience) = (self.home.clone(), DECISION_TIMEOUT + waited);
        let asked = tokio::task::spawn_blocking(move || {
            ask::request_within(&home, "POST", &path, Some(&body), patience)
        });
        let answer = asked.await.map_err(|error| error.to_string())?.map_err(|error| error.message)?;
        let answer = answer.ok_or("no daemon listens")?;
        serde_json::from_value(answer).map_err(|error| format!("the daemon's answer cannot be read: {error}"))
    }

    /// By the same rules and hooks, and into the spool, from which the ledger takes it in later.
    async fn here(&self, call: &HookCall, why: &str) -> Result<Outcome, DispatchError> {
        let failed = |failure: tenterhook_error::Failure| DispatchError::new(failure.message);
        self.home.create().map_err(failed)?;
        let why = remember_agent(&self.home, OWN_AGENT, why);
        let road =
            CallPipeline::offline(&self.home, &self.env, &WorkDirs::of(&call.event), &why, DECISION_TIMEOUT);
        Ok(road.map_err(failed)?.fire(call).await)
    }
}
