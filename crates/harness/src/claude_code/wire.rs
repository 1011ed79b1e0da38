// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a Claude Code hook prints: written by us to the client, read by us from hooks.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A hook's JSON on standard output. Unknown fields are tolerated, as the client does.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HookOutput {
    /// `false` ends the turn. On its own it does not stop the tool.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub go_on: Option<bool>,
    /// What the person is told when the turn ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Has no effect in the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress_output: Option<bool>,
    /// Shown to the person, not to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// `block`, or the older `approve`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Verdict>,
    /// Why, beside `decision`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What only this event has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<Specific>,
    /// The hook goes on in the background and decides nothing.
    #[serde(rename = "async", skip_serializing_if = "Option::is_none")]
    pub detached: Option<bool>,
    /// How long it may, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub async_timeout: Option<u64>,
}

/// The general decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Go ahead without asking.
    Approve,
    /// Do not.
    Block,
}

/// The decision at `PreToolUse` and `PreModelSwitch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionDecision {
    /// Skip the permission prompt.
    Allow,
    /// Do not run it.
    Deny,
    /// Ask the person.
    Ask,
    /// End here, to be resumed.
    Defer,
}

/// The decision at `PermissionRequest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "behavior", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum Behavior {
    /// Permission is given.
    Allow {
        /// Run this instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input: Option<Value>,
    },
    /// Permission is refused.
    Deny {
        /// What the model is told.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// End the turn too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interrupt: Option<bool>,
    },
}

/// `hookSpecificOutput`. The client drops it whole when `hookEventName` is missing or another
/// event's.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Specific {
    /// The event it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_event_name: Option<String>,
    /// At `PreToolUse`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_decision: Option<PermissionDecision>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_decision_reason: Option<String>,
    /// The whole new tool input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Value>,
    /// Text for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// The new tool output, in the tool's own shape.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_tool_output: Option<Value>,
    /// The older form, for MCP tools only.
    #[serde(rename = "updatedMCPToolOutput", skip_serializing_if = "Option::is_none")]
    pub updated_mcp_tool_output: Option<Value>,
    /// At `PermissionRequest`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Behavior>,
    /// At `Elicitation` and `ElicitationResult`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Everything else, kept.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

// === impl HookOutput ===

impl HookOutput {
    /// An answer with nothing but what this event has of its own.
    pub(crate) fn specific(row: &crate::EventRow, specific: Specific) -> Self {
        let named = Specific { hook_event_name: Some(row.native.to_owned()), ..specific };
        Self { hook_specific_output: Some(named), ..Self::default() }
    }

    /// Whether there is nothing to say.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
