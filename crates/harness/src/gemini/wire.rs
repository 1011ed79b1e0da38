// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a hook of Gemini CLI or LLxprt Code prints.

use serde::Serialize;
use serde_json::Value;

/// A hook's JSON on standard output.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Printed {
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
    pub(super) hook_specific_output: Option<Specific>,
}

/// What only this event has. The names are those of the client: some in one style, some in another.
#[derive(Debug, Default, PartialEq, Serialize)]
pub(super) struct Specific {
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

/// The tools the model may choose from.
#[derive(Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolConfig {
    pub(super) mode: &'static str,
    /// Left out when no name is excluded: a list with nothing in it excludes them all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) allowed_function_names: Option<Vec<String>>,
}
