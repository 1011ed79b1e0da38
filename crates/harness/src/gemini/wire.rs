// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The JSON output of a Gemini CLI or LLxprt Code hook.

use serde::Serialize;
use serde_json::Value;

/// JSON that a hook prints on standard output.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GeminiHookOutput {
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub(super) go_on: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stop_reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) system_message: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) suppress_output: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hook_specific_output: Option<GeminiSpecificOutput>,
}

/// Fields that are specific to one event. The client mixes naming styles.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct GeminiSpecificOutput {
    #[serde(rename = "hookEventName")]
    pub(super) hook_event_name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool_input: Option<Value>,
    #[serde(rename = "additionalContext", skip_serializing_if = "Option::is_none")]
    pub(super) additional_context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) llm_request: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) llm_response: Option<Value>,
    #[serde(rename = "toolConfig", skip_serializing_if = "Option::is_none")]
    pub(super) tool_config: Option<ToolConfig>,
}

/// Tools that the model may call.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolConfig {
    pub(super) mode: &'static str,
    /// Names of the allowed tools; absent if no tool is excluded, because an empty list excludes all tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) allowed_function_names: Option<Vec<String>>,
}
