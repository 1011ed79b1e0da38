// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Seed 003's event JSON.

use serde_json::{Map, Value, json};
use tenterhook_event::{Event, EventKind as Kind};

use crate::dialect::fields::output_text;
use crate::dialect::name_in;

/// Seed 003's names.
pub(super) const NAMES: &[(Kind, &str)] = &[
    (Kind::SessionStart, "SessionStart"),
    (Kind::SessionEnd, "SessionEnd"),
    (Kind::PreModel, "GenerateStart"),
    (Kind::PostModel, "GenerateEnd"),
    (Kind::PreTool, "PreToolUse"),
    (Kind::PostTool, "PostToolUse"),
    (Kind::ToolError, "ToolError"),
    (Kind::PermissionRequest, "PermissionRequest"),
    (Kind::PermissionGranted, "PermissionGranted"),
    (Kind::PermissionDenied, "PermissionDenied"),
    (Kind::PreCompact, "PreCompact"),
    (Kind::PostCompact, "PostCompact"),
    (Kind::ContextWarning, "ContextWarning"),
];

pub(super) fn stdin(event: &Event) -> Vec<u8> {
    // Plain data in memory has nothing to fail on; an empty input would be noticed.
    serde_json::to_vec(&payload(event)).unwrap_or_default()
}

fn payload(event: &Event) -> Value {
    let detail = &event.detail;
    let mut fields = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        fields.extend(value.map(|value| (key.to_owned(), value)));
    };
    put("eventType", Some(json!(name_in(NAMES, event))));
    put("sessionId", Some(json!(event.harness_session_id.as_deref().unwrap_or_default())));
    put("timestamp", Some(json!(event.ts.unix_ms())));
    put("metadata", Some(metadata(event)));
    if let Some(tool) = &event.tool {
        put("tool", Some(json!(tool.name)));
        put("args", Some(tool.args.clone()));
        put("context", Some(context(event)));
    }
    match event.event {
        Kind::PostTool => put("result", Some(result(event))),
        Kind::ToolError => put("error", Some(json!(detail.error.as_deref().unwrap_or_default()))),
        Kind::PreModel | Kind::PostModel => {
            let request = detail.model_request.as_ref();
            let part = |key: &str| request.and_then(|request| request.get(key)).cloned();
            let prompt = detail.prompt.as_ref().map(|prompt| json!(prompt));
            put("prompt", Some(prompt.or_else(|| part("prompt")).unwrap_or_else(|| json!(""))));
            put("systemPrompt", part("systemPrompt"));
            put("model", part("model").or_else(|| event.agent.model.as_ref().map(|model| json!(model))));
            put("tools", part("tools"));
            put("response", detail.model_response.clone().filter(|_| event.event == Kind::PostModel));
        }
        _ => {
            put("prompt", detail.prompt.as_ref().map(|prompt| json!(prompt)));
            put("reason", detail.cause.as_ref().map(|cause| json!(cause)));
            put("message", detail.message.as_ref().map(|message| json!(message)));
        }
    }
    Value::Object(fields)
}

fn metadata(event: &Event) -> Value {
    json!({"source": event.source, "eventId": event.id.to_string(), "nativeEvent": event.native_event})
}

/// Which tools ran before and what they cost is the session's to know, not one event's.
fn context(event: &Event) -> Value {
    json!({"workingDirectory": event.cwd.as_deref().unwrap_or_default(), "recentTools": []})
}

fn result(event: &Event) -> Value {
    let output = event.detail.tool_output.clone().unwrap_or_default();
    let first = |keys: &[&str]| keys.iter().find_map(|key| output.get(key)).cloned();
    let exit_code = first(&["exitCode", "exit_code"]).filter(Value::is_number);
    let failed = event.detail.error.is_some()
        || first(&["is_error", "isError", "interrupted"]) == Some(json!(true))
        || first(&["success"]) == Some(json!(false))
        || exit_code.as_ref().is_some_and(|code| code.as_f64() != Some(0.0));
    let mut result = json!({
        "success": !failed,
        "output": output_text(&output),
        "duration": event.detail.duration_ms.unwrap_or_default(),
    });
    if let (Some(fields), Some(code)) = (result.as_object_mut(), exit_code) {
        fields.insert("exitCode".to_owned(), code);
    }
    result
}
