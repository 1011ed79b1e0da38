// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a closure answers, put together by name.
//!
//! ```
//! use tenterhook_engine::say;
//!
//! let no = say::deny("not on a Friday").nudge("open a pull request");
//! let other = say::nothing().tool_input(serde_json::json!({"command": "ls"})).context("listed only");
//! let later = say::retry(std::time::Duration::from_millis(200));
//! # let _: [tenterhook_harness::dialect::Heard; 3] = [no.into(), other.into(), later.into()];
//! ```

use std::time::Duration;

use serde_json::Value;
use tenterhook_event::{Decision, Finding, Flow, Merge, Modification, Origin, SelectionMode};
use tenterhook_harness::dialect::{Control, Heard};

/// An answer in the making.
#[derive(Debug, Clone, PartialEq)]
#[must_use]
pub struct Say(Heard);

/// Nothing to object.
pub fn nothing() -> Say {
    Say(Finding::silent(Origin::Engine).into())
}

/// It must not happen.
pub fn deny(reason: impl Into<String>) -> Say {
    decided(Decision::Deny, reason.into())
}

/// A person has to say yes.
pub fn ask(reason: impl Into<String>) -> Say {
    decided(Decision::Ask, reason.into())
}

/// Somebody vouches for it: the harness need not ask.
pub fn allow(reason: impl Into<String>) -> Say {
    decided(Decision::Allow, reason.into())
}

/// Ask this hook again a little later; bounded.
pub fn retry(delay: Duration) -> Say {
    let Say(heard) = nothing();
    Say(Heard { control: Control::Retry { delay }, ..heard })
}

/// Ignore the hooks that come after this one. Rules are never passed over.
pub fn skip() -> Say {
    let Say(heard) = nothing();
    Say(Heard { control: Control::Skip, ..heard })
}

fn decided(decision: Decision, reason: String) -> Say {
    Say(Finding::decided(Origin::Engine, decision, reason).into())
}

impl Say {
    /// What the agent could do instead; reaches it beside a deny.
    pub fn nudge(mut self, nudge: impl Into<String>) -> Self {
        self.0.finding.nudge = Some(nudge.into());
        self
    }

    /// Text for the model.
    pub fn context(mut self, context: impl Into<String>) -> Self {
        self.0.finding.context = Some(context.into());
        self
    }

    /// Text for the person.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.0.finding.message = Some(message.into());
        self
    }

    /// The agent ends its turn.
    pub fn stop(mut self, reason: impl Into<String>) -> Self {
        self.0.finding.flow = Flow::Stop { reason: Some(reason.into()) };
        self
    }

    /// The tool runs with these arguments instead.
    pub fn tool_input(self, value: Value) -> Self {
        self.modify(Modification::ToolInput { merge: Merge::Replace, value })
    }

    /// The tool runs with these arguments changed or added, the others as they are.
    pub fn merge_tool_input(self, value: Value) -> Self {
        self.modify(Modification::ToolInput { merge: Merge::Shallow, value })
    }

    /// The model is told that the tool returned this.
    pub fn tool_output(self, value: Value) -> Self {
        self.modify(Modification::ToolOutput { value })
    }

    /// The request to the model is changed in these parts.
    pub fn model_request(self, value: Value) -> Self {
        self.modify(Modification::ModelRequest { merge: Merge::Shallow, value })
    }

    /// This is what the model answered; before the model was called: it is not called.
    pub fn model_response(self, value: Value) -> Self {
        self.modify(Modification::ModelResponse { merge: Merge::Replace, value })
    }

    /// The model may choose from these tools only.
    pub fn tools(self, mode: SelectionMode, allowed: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let allowed = allowed.into_iter().map(Into::into).collect();
        self.modify(Modification::ToolSelection { mode, allowed })
    }

    fn modify(mut self, modification: Modification) -> Self {
        self.0.finding.modifications.push(modification);
        self
    }
}

impl From<Say> for Heard {
    fn from(Say(heard): Say) -> Self {
        heard
    }
}
