// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A hook's output, and the properties that a harness reads from it. The types follow the output classes of LLxprt's
//! hook documentation (seed 002 in `docs/seeds.md`).

mod boundary;
mod model;
mod selection;
mod tool;

pub use boundary::{Boundary, OnInvalid};
pub use model::{AfterModelOutput, BeforeModelOutput};
pub use selection::BeforeToolSelectionOutput;
pub use tool::BeforeToolOutput;

use serde_json::Value;
use tenterhook_event::EventKind;

use crate::js;
use crate::switches::{EffectiveReason, Profile};

const NO_REASON: &str = "No reason provided";

/// A hook's output: `DefaultHookOutput` in LLxprt's hook documentation, or `BeforeToolHookOutput` for the event
/// before a tool call.
#[derive(Debug, Clone, Copy)]
pub struct HookOutput<'a> {
    profile: &'a Profile,
    /// Whether `permissionDecision` is read in addition to `decision`.
    compat: bool,
    value: &'a Value,
}

/// Whether the output blocks, and the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockingError {
    /// Whether the output blocks.
    pub blocked: bool,
    /// Reason for the block; empty if the output does not block.
    pub reason: String,
}

impl<'a> HookOutput<'a> {
    /// The output of a hook for an event.
    pub fn new(profile: &'a Profile, event: &str, value: &'a Value) -> Self {
        let before_tool = profile.event(event).is_some_and(|row| row.kind == EventKind::PreTool);
        Self { profile, compat: before_tool && profile.permission_decision, value }
    }

    /// Whether the output objects to the action. The keywords are case-sensitive, so `DENY` is not an objection.
    pub fn is_blocking_decision(&self) -> bool {
        let event_blocks = |word: Option<&Value>| word.is_some_and(|word| word == "block" || word == "deny");
        (self.compat && event_blocks(self.specific("permissionDecision")))
            || event_blocks(self.value.get("decision"))
    }

    /// Whether the output asks the user. Always `false` if the profile does not treat `ask` as a decision.
    pub fn is_ask_decision(&self) -> bool {
        let asks = |word: Option<&Value>| word.is_some_and(|word| word == "ask");
        self.profile.ask
            && ((self.compat && asks(self.specific("permissionDecision")))
                || asks(self.value.get("decision")))
    }

    /// Whether the output stops the agent.
    pub fn should_stop_execution(&self) -> bool {
        self.value.get("continue") == Some(&Value::Bool(false))
    }

    /// Reason for the block or stop.
    pub fn effective_reason(&self) -> String {
        if self.compat
            && let Some(reason) = self.specific("permissionDecisionReason").and_then(Value::as_str)
        {
            return reason.to_owned();
        }
        let text = |key| js::text(self.value, key);
        let reason = match self.profile.effective_reason {
            EffectiveReason::ReasonFirst => text("reason").or_else(|| text("stopReason")),
            EffectiveReason::StopReasonFirst => text("stopReason").or_else(|| text("reason")),
            EffectiveReason::StopReasonEvenEmpty => match self.value.get("stopReason") {
                None | Some(Value::Null) => text("reason"),
                Some(_) => text("stopReason"),
            },
        };
        reason.unwrap_or_else(|| NO_REASON.to_owned())
    }

    /// Text that the output adds to the context.
    pub fn additional_context(&self) -> Option<String> {
        let context = self.specific("additionalContext")?.as_str()?;
        // Gemini CLI wraps the text in a tag, which the text must not be able to close.
        let escaped = || context.replace('<', "&lt;").replace('>', "&gt;");
        Some(if self.profile.escape_context { escaped() } else { context.to_owned() })
    }

    /// Whether the output objects to the action, and the reason.
    pub fn blocking_error(&self) -> BlockingError {
        let blocked = self.is_blocking_decision();
        BlockingError { blocked, reason: if blocked { self.effective_reason() } else { String::new() } }
    }

    /// Whether the output clears the conversation.
    pub fn should_clear_context(&self) -> bool {
        self.specific("clearContext") == Some(&Value::Bool(true))
    }

    /// A tool to call next. Its result replaces the result of the current call. Only Gemini CLI supports this.
    pub fn tail_tool_call(&self) -> Option<&'a Value> {
        self.specific("tailToolCallRequest").filter(|request| request.is_object())
    }

    fn specific(&self, key: &str) -> Option<&'a Value> {
        self.value.get("hookSpecificOutput")?.get(key)
    }
}

#[cfg(test)]
mod tests;
