// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Builds the standard input of hooks in the LLxprt and Gemini family.

use serde_json::{Map, Value, json};
use tenterhook_event::{Event, EventKind as Kind};

use crate::dialect::event_name_in;
use crate::dialect::fields::output_text;

/// The family's event names. A failed tool has no event of its own: the tool response contains the error.
pub(super) const NAMES: &[(Kind, &str)] = &[
    (Kind::PreTool, "BeforeTool"),
    (Kind::PostTool, "AfterTool"),
    (Kind::ToolError, "AfterTool"),
    (Kind::Prompt, "BeforeAgent"),
    (Kind::Stop, "AfterAgent"),
    (Kind::SubagentStop, "AfterAgent"),
    (Kind::PreModel, "BeforeModel"),
    (Kind::PostModel, "AfterModel"),
    (Kind::ToolSelection, "BeforeToolSelection"),
    (Kind::SessionStart, "SessionStart"),
    (Kind::SessionEnd, "SessionEnd"),
    (Kind::PreCompact, "PreCompress"),
    (Kind::Notification, "Notification"),
];

pub(super) fn stdin(event: &Event) -> Vec<u8> {
    let mut payload = base(event);
    payload.extend(own(event));
    // Serializing plain data to memory cannot fail. If it did, the hook would report the empty input.
    serde_json::to_vec(&Value::Object(payload)).unwrap_or_default()
}

fn base(event: &Event) -> Map<String, Value> {
    object(json!({
        "session_id": event.harness_session_id.as_deref().unwrap_or_default(),
        "transcript_path": "",
        "cwd": event.cwd.as_deref().unwrap_or_default(),
        "hook_event_name": event_name_in(NAMES, event),
        "timestamp": event.ts.to_string(),
    }))
}

fn own(event: &Event) -> Map<String, Value> {
    let detail = &event.detail;
    let mut fields = tool(event);
    let cause = |usual: &str| json!(detail.cause.as_deref().unwrap_or(usual));
    let request = || detail.model_request.clone().unwrap_or_else(|| json!({}));
    fields.extend(object(match event.event {
        Kind::PostTool | Kind::ToolError => json!({"tool_response": tool_response(event)}),
        Kind::Prompt => json!({"prompt": detail.prompt.as_deref().unwrap_or_default()}),
        Kind::Stop | Kind::SubagentStop => json!({
            "prompt": detail.prompt.as_deref().unwrap_or_default(),
            "prompt_response": detail.response.as_deref().unwrap_or_default(),
            "stop_hook_active": detail.stop_hook_active.unwrap_or_default(),
        }),
        Kind::PreModel | Kind::ToolSelection => json!({"llm_request": request()}),
        Kind::PostModel => json!({
            "llm_request": request(),
            "llm_response": detail.model_response.clone().unwrap_or_else(|| json!({})),
        }),
        Kind::SessionStart => json!({"source": cause("startup")}),
        Kind::SessionEnd => json!({"reason": cause("other")}),
        Kind::PreCompact => json!({"trigger": cause("auto")}),
        Kind::Notification => json!({
            "notification_type": cause("ToolPermission"),
            "message": detail.message.as_deref().unwrap_or_default(),
            "details": {},
        }),
        _ => Value::Null,
    }));
    fields
}

fn tool(event: &Event) -> Map<String, Value> {
    let Some(tool) = &event.tool else { return Map::new() };
    let mut fields = object(json!({"tool_name": tool.name, "tool_input": tool.args}));
    if let Some(mcp) = &tool.mcp {
        let context = json!({"server_name": mcp.server, "tool_name": mcp.tool});
        fields.insert("mcp_context".to_owned(), context);
    }
    fields
}

/// Returns `{llmContent, returnDisplay, error?}`, the format that hooks of the family expect.
fn tool_response(event: &Event) -> Value {
    let output = event.detail.tool_output.clone().unwrap_or_default();
    let mut response = match output {
        Value::Object(fields) if fields.contains_key("llmContent") => fields,
        other => {
            let text = event.detail.error.clone().unwrap_or_else(|| output_text(&other));
            object(json!({"llmContent": text, "returnDisplay": text}))
        }
    };
    if let Some(error) = &event.detail.error {
        response.entry("error").or_insert_with(|| json!({"message": error}));
    }
    Value::Object(response)
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}
