// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Writes an event in the JSON format of the A3S hook design (seed 003 in `docs/seeds.md`).

use serde_json::{Map, Value, json};
use tenterhook_event::{Event, EventKind as Kind, HookCall};

use super::schema;
use crate::dialect::fields::output_text;

/// Session state that a single event does not contain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct A3sSessionContext {
    /// Recently run tools, most recent last.
    pub recent_tools: Vec<String>,
    /// Number of tokens sent to the model so far.
    pub input_tokens: u64,
    /// Number of tokens received from the model so far.
    pub output_tokens: u64,
}

pub(super) fn name(event: &Event) -> &str {
    schema::shape_of_kind(event.event).map_or(event.native_event.as_str(), |row| row.name)
}

pub(super) fn stdin(event: &Event) -> Vec<u8> {
    // Serializing plain data to memory cannot fail. If it did, the hook would report the empty input.
    serde_json::to_vec(&written(event, &A3sSessionContext::default())).unwrap_or_default()
}

/// Returns the event as it is sent to an SDK hook. If the payload arrived in the A3S format, its additional fields
/// are kept.
pub fn payload(call: &HookCall, session: &A3sSessionContext) -> Vec<u8> {
    let event = &call.event;
    let mut fields = written(event, session);
    let brought = call.native.as_ref().map(|native| &native.fields).filter(|native| is_ours(native));
    for (key, value) in brought.into_iter().flatten() {
        match (key.as_str(), fields.get_mut(key)) {
            // These fields are always written from the event, because an earlier hook may have changed it.
            ("eventType" | "sessionId" | "timestamp" | "tool" | "args", Some(_)) => {}
            ("metadata", Some(Value::Object(known))) => {
                for (key, value) in value.as_object().into_iter().flatten() {
                    known.entry(key.clone()).or_insert_with(|| value.clone());
                }
            }
            ("context", Some(Value::Object(known))) => {
                known.extend(value.as_object().into_iter().flatten().map(|(k, v)| (k.clone(), v.clone())));
            }
            (_, _) => {
                fields.insert(key.clone(), value.clone());
            }
        }
    }
    serde_json::to_vec(&fields).unwrap_or_default()
}

/// Converts the call of a failed tool to `PostToolUse` with `success: false`.
pub fn failed_tool_result(call: &HookCall) -> HookCall {
    let mut result = call.clone();
    let event = &mut result.event;
    event.event = Kind::PostTool;
    if event.detail.tool_output.is_none() {
        let output = event.detail.error.as_deref().unwrap_or_default();
        event.detail.tool_output = Some(json!({"success": false, "output": output}));
    }
    result
}

/// Returns the tool's output in the form that hooks receive.
pub(super) fn given_output(event: &Event) -> Value {
    event.detail.tool_output.as_ref().map(output_text).unwrap_or_default().into()
}

/// Returns whether a native payload is already in the A3S format.
fn is_ours(native: &Map<String, Value>) -> bool {
    native.contains_key("eventType")
}

fn written(event: &Event, session: &A3sSessionContext) -> Map<String, Value> {
    let detail = &event.detail;
    let mut fields = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        fields.extend(value.map(|value| (key.to_owned(), value)));
    };
    let text = |text: &Option<String>| text.as_ref().map(|text| json!(text));
    let always = |text: &Option<String>| Some(json!(text.as_deref().unwrap_or_default()));
    put("eventType", Some(json!(name(event))));
    put("sessionId", always(&event.harness_session_id));
    put("timestamp", Some(json!(event.ts.unix_ms())));
    put("metadata", Some(metadata(event)));
    if let Some(tool) = &event.tool {
        put("tool", Some(json!(tool.name)));
        put("args", Some(tool.args.clone()));
        put("context", Some(context(event, session)));
    }
    match event.event {
        Kind::SessionStart => {
            put("source", always(&detail.cause));
            put("context", Some(context(event, session)));
            put("model", model(event));
        }
        Kind::SessionEnd => {
            put("reason", always(&detail.cause));
            put("context", Some(context(event, session)));
        }
        Kind::PreModel | Kind::PostModel => {
            let request = detail.model_request.as_ref();
            let part = |key: &str| request.and_then(|request| request.get(key)).cloned();
            put("prompt", text(&detail.prompt).or_else(|| part("prompt")).or_else(|| Some(json!(""))));
            put("systemPrompt", part("systemPrompt"));
            put("model", part("model").filter(Value::is_object).or_else(|| model(event)));
            if event.event == Kind::PreModel {
                put("tools", Some(part("tools").unwrap_or_else(|| json!([]))));
            } else {
                put("response", Some(response(event)));
            }
        }
        Kind::PostTool => put("result", Some(result(event))),
        Kind::ToolError => {
            put("error", always(&detail.error));
            put("attempt", Some(json!(1)));
            put("duration", detail.duration_ms.map(|ms| json!(ms)));
        }
        Kind::PreCompact => {
            put("trigger", always(&detail.cause));
            put("customInstructions", text(&detail.message));
        }
        Kind::PostCompact => {
            put("trigger", always(&detail.cause));
            put("summary", text(&detail.message));
        }
        Kind::ContextWarning => {
            put("usage", Some(usage(session)));
            put("message", text(&detail.message));
        }
        Kind::Prompt => {
            put("prompt", always(&detail.prompt));
            put("context", Some(context(event, session)));
        }
        Kind::Stop | Kind::SubagentStart | Kind::SubagentStop => {
            put("agentId", text(&event.agent.id));
            put("agentType", text(&event.agent.kind));
            put("response", text(&detail.response));
            put("stopHookActive", detail.stop_hook_active.map(|active| json!(active)));
        }
        Kind::Notification => {
            put("message", text(&detail.message));
            put("type", text(&detail.cause));
        }
        Kind::PreTool
        | Kind::PermissionRequest
        | Kind::PermissionGranted
        | Kind::PermissionDenied
        | Kind::ToolSelection
        | Kind::Other => {
            put("prompt", text(&detail.prompt));
            put("reason", text(&detail.cause));
            put("message", text(&detail.message));
        }
    }
    fields
}

fn metadata(event: &Event) -> Value {
    let known = [
        ("turnId", &event.turn_id),
        ("toolUseId", &event.tool_use_id),
        ("project", &event.project),
        ("agentId", &event.agent.id),
        ("agentType", &event.agent.kind),
        ("user", &event.agent.user),
    ];
    let mut metadata =
        json!({"source": event.source, "eventId": event.id.to_string(), "nativeEvent": event.native_event});
    if let Some(fields) = metadata.as_object_mut() {
        fields.extend(
            known.into_iter().filter_map(|(key, text)| Some((key.to_owned(), json!(text.as_ref()?)))),
        );
    }
    metadata
}

fn context(event: &Event, session: &A3sSessionContext) -> Value {
    json!({
        "workingDirectory": event.cwd.as_deref().unwrap_or_default(),
        "recentTools": session.recent_tools,
        "tokenUsage": usage(session),
    })
}

fn usage(session: &A3sSessionContext) -> Value {
    let A3sSessionContext { input_tokens, output_tokens, .. } = session;
    json!({"input_tokens": input_tokens, "output_tokens": output_tokens, "total_tokens": input_tokens + output_tokens})
}

fn model(event: &Event) -> Option<Value> {
    event.agent.model.as_ref().map(|name| json!({"name": name}))
}

/// Returns the model's response in one format for all harnesses.
fn response(event: &Event) -> Value {
    let given = event.detail.model_response.clone().unwrap_or_default();
    let first = |keys: &[&str]| keys.iter().find_map(|key| given.get(key)).cloned();
    let used = first(&["usage", "usageMetadata"]).unwrap_or_default();
    let tokens = |keys: &[&str]| keys.iter().find_map(|key| used.get(key)?.as_u64());
    let input = tokens(&["input_tokens", "prompt_tokens", "promptTokenCount"]).unwrap_or_default();
    let output = tokens(&["output_tokens", "completion_tokens", "candidatesTokenCount"]).unwrap_or_default();
    let total = tokens(&["total_tokens", "totalTokenCount"]).unwrap_or(input + output);
    let mut usage = json!({"input_tokens": input, "output_tokens": output, "total_tokens": total});
    for key in ["cache_read_tokens", "cache_write_tokens"] {
        if let (Some(fields), Some(number)) = (usage.as_object_mut(), tokens(&[key])) {
            fields.insert(key.to_owned(), json!(number));
        }
    }
    let said = first(&["text"]).or_else(|| event.detail.response.as_ref().map(|text| json!(text)));
    json!({
        "text": said.filter(Value::is_string).unwrap_or_else(|| json!("")),
        "toolCalls": first(&["toolCalls"]).filter(Value::is_array).unwrap_or_else(|| json!([])),
        "usage": usage,
        "duration": first(&["duration"]).filter(Value::is_number).unwrap_or_else(|| json!(event.detail.duration_ms.unwrap_or_default())),
    })
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
