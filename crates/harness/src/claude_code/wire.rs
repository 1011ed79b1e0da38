// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The JSON output of a Claude Code hook. Tenterhook writes this format to the client and reads it from hooks.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// JSON that a hook prints on standard output. Unknown fields are ignored, as in the client.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClaudeHookOutput {
    /// `false` ends the turn. If the output also contains no decision, the tool still runs.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub go_on: Option<bool>,
    /// Message shown to the user when the turn ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Whether to hide the output. The client accepts this field, but it has no effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress_output: Option<bool>,
    /// Message shown to the user, not to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// `block`, or the older value `approve`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<BlockDecision>,
    /// Reason for `decision`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Fields that are specific to one event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<HookSpecificOutput>,
    /// Whether the hook continues in the background and makes no decision.
    #[serde(rename = "async", skip_serializing_if = "Option::is_none")]
    pub detached: Option<bool>,
    /// Time limit of a background hook, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub async_timeout: Option<u64>,
}

/// Decision for events that have no decision type of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BlockDecision {
    /// Proceed without asking.
    Approve,
    /// Prevent the action.
    Block,
}

/// Decision for `PreToolUse` and `PreModelSwitch`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionDecision {
    /// Skip the permission prompt.
    Allow,
    /// Do not run the tool.
    Deny,
    /// Ask the user.
    Ask,
    /// End the turn, to be resumed later.
    Defer,
}

/// Decision for `PermissionRequest`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "behavior", rename_all = "lowercase", rename_all_fields = "camelCase")]
pub enum PermissionBehavior {
    /// Grant the permission.
    Allow {
        /// New tool input, used instead of the requested one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        updated_input: Option<Value>,
    },
    /// Refuse the permission.
    Deny {
        /// Reason shown to the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
        /// Whether the turn ends as well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        interrupt: Option<bool>,
    },
}

/// `hookSpecificOutput`. The client drops the whole object if `hookEventName` is missing or names another event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct HookSpecificOutput {
    /// Name of the event that the output is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_event_name: Option<String>,
    /// Decision for `PreToolUse`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_decision: Option<PermissionDecision>,
    /// Reason for `permissionDecision`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_decision_reason: Option<String>,
    /// Complete new tool input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_input: Option<Value>,
    /// Text added to the model's context.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub additional_context: Option<String>,
    /// New tool output, in the tool's own format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_tool_output: Option<Value>,
    /// Older form of `updatedToolOutput`, for MCP tools only.
    #[serde(rename = "updatedMCPToolOutput", skip_serializing_if = "Option::is_none")]
    pub updated_mcp_tool_output: Option<Value>,
    /// Decision for `PermissionRequest`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<PermissionBehavior>,
    /// Response for `Elicitation` and `ElicitationResult`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Unknown fields, kept unchanged.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

// === impl ClaudeHookOutput ===

impl ClaudeHookOutput {
    /// Creates an output with only the fields that are specific to one event.
    pub(crate) fn specific(row: &crate::EventRow, specific: HookSpecificOutput) -> Self {
        let named = HookSpecificOutput { hook_event_name: Some(row.native.to_owned()), ..specific };
        Self { hook_specific_output: Some(named), ..Self::default() }
    }

    /// Returns whether the output has no fields.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
