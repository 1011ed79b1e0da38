// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Builds the answers of in-process hooks.
//!
//! Start with a function of this module, then add further content to the answer:
//!
//! ```
//! use tenterhook_engine::response;
//!
//! let denied = response::deny("no deployments on Fridays").nudge("open a pull request");
//! let rewritten = response::none().tool_input(serde_json::json!({"command": "ls"})).context("listed only");
//! let later = response::retry(std::time::Duration::from_millis(200));
//! # let _: [tenterhook_engine::InterpretedOutput; 3] = [denied.into(), rewritten.into(), later.into()];
//! ```

use std::time::Duration;

use serde_json::Value;
use tenterhook_event::{Decision, Finding, Flow, MergeMode, Modification, Origin, SelectionMode};
use tenterhook_harness::dialect::{EngineControl, InterpretedOutput};

/// Builds the answer of an in-process hook; converts into [`InterpretedOutput`].
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct ResponseBuilder(InterpretedOutput);

/// Starts an answer without a decision.
pub fn none() -> ResponseBuilder {
    ResponseBuilder(Finding::silent(Origin::Engine).into())
}

/// Starts an answer that denies the call.
pub fn deny(reason: impl Into<String>) -> ResponseBuilder {
    with_decision(Decision::Deny, reason.into())
}

/// Starts an answer that requires the user's approval.
pub fn ask(reason: impl Into<String>) -> ResponseBuilder {
    with_decision(Decision::Ask, reason.into())
}

/// Starts an answer that allows the call, so that the harness need not ask the user.
pub fn allow(reason: impl Into<String>) -> ResponseBuilder {
    with_decision(Decision::Allow, reason.into())
}

/// Starts an answer that asks the engine to call this hook again after a delay. The number of retries and their total
/// time are limited by [`HookLimits`](crate::HookLimits).
pub fn retry(delay: Duration) -> ResponseBuilder {
    let ResponseBuilder(answer) = none();
    ResponseBuilder(InterpretedOutput { control: EngineControl::Retry { delay }, ..answer })
}

/// Starts an answer that skips the hooks after this one. Rules cannot be skipped.
pub fn skip() -> ResponseBuilder {
    let ResponseBuilder(answer) = none();
    ResponseBuilder(InterpretedOutput { control: EngineControl::Skip, ..answer })
}

fn with_decision(decision: Decision, reason: String) -> ResponseBuilder {
    ResponseBuilder(Finding::decided(Origin::Engine, decision, reason).into())
}

impl ResponseBuilder {
    /// Suggests what the agent could do instead. The agent sees the suggestion only if the call is denied.
    pub fn nudge(mut self, nudge: impl Into<String>) -> Self {
        self.0.finding.nudge = Some(nudge.into());
        self
    }

    /// Adds text for the model.
    pub fn context(mut self, context: impl Into<String>) -> Self {
        self.0.finding.context = Some(context.into());
        self
    }

    /// Adds a message for the user.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.0.finding.message = Some(message.into());
        self
    }

    /// Stops the agent.
    pub fn stop(mut self, reason: impl Into<String>) -> Self {
        self.0.finding.flow = Flow::Stop { reason: Some(reason.into()) };
        self
    }

    /// Replaces the tool's arguments.
    pub fn tool_input(self, value: Value) -> Self {
        self.modify(Modification::ToolInput { merge: MergeMode::Replace, value })
    }

    /// Changes or adds single tool arguments. Other arguments are kept.
    pub fn merge_tool_input(self, value: Value) -> Self {
        self.modify(Modification::ToolInput { merge: MergeMode::Shallow, value })
    }

    /// Replaces the tool output that the model sees.
    pub fn tool_output(self, value: Value) -> Self {
        self.modify(Modification::ToolOutput { value })
    }

    /// Changes or adds single fields of the request to the model.
    pub fn model_request(self, value: Value) -> Self {
        self.modify(Modification::ModelRequest { merge: MergeMode::Shallow, value })
    }

    /// Replaces the model's response. If the event is `pre-model`, the model is not called.
    pub fn model_response(self, value: Value) -> Self {
        self.modify(Modification::ModelResponse { merge: MergeMode::Replace, value })
    }

    /// Restricts the tools that the model may call.
    pub fn tools(self, mode: SelectionMode, allowed: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let allowed = allowed.into_iter().map(Into::into).collect();
        self.modify(Modification::ToolSelection { mode, allowed })
    }

    fn modify(mut self, modification: Modification) -> Self {
        self.0.finding.modifications.push(modification);
        self
    }
}

impl From<ResponseBuilder> for InterpretedOutput {
    fn from(ResponseBuilder(answer): ResponseBuilder) -> Self {
        answer
    }
}
