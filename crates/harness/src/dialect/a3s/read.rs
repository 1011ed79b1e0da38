// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads an event in the JSON format of the A3S hook design (seed 003 in `docs/seeds.md`). Agents that use the SDK
//! send this format.

use serde_json::{Map, Value, json};
use tenterhook_event::{Event, EventKind as Kind, HookCall, ToolCall, ToolClass};

use super::schema::{self, EventShape};
use crate::payload::{DecodeError, parse_payload};
use crate::{CallMeta, mcp};

/// Why an event payload cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum A3sReadError {
    /// The payload is too large, or not a JSON object.
    #[error(transparent)]
    Payload(#[from] DecodeError),
    /// A field is missing or has the wrong type.
    #[error("invalid `{name}` event: {why}")]
    Misfit {
        /// Name of the event.
        name: &'static str,
        /// What is wrong with the payload.
        why: String,
    },
}

/// Reads the payload of an event. Values in `session` and `meta`, which the caller provides, take precedence over
/// values in the payload.
pub fn event(
    shape: &'static EventShape,
    meta: &CallMeta,
    source: &str,
    session: Option<&str>,
    bytes: &[u8],
) -> Result<HookCall, A3sReadError> {
    let mut native = parse_payload(bytes)?;
    let invalid = |why: String| A3sReadError::Misfit { name: shape.name, why };
    let fields = &mut native.fields;
    if let Some(named) = fields.get("eventType").filter(|named| **named != json!(shape.name)) {
        return Err(invalid(format!("`eventType` is {named}")));
    }
    fields.insert("eventType".to_owned(), json!(shape.name));
    let wrong = |key: &str, is: fn(&Value) -> bool| fields.get(key).is_some_and(|value| !is(value));
    if wrong("metadata", Value::is_object) || wrong("sessionId", Value::is_string) {
        return Err(invalid("`metadata` must be an object, `sessionId` a string".to_owned()));
    }
    if let Some(why) = schema::find_mismatch(shape.fields, fields, "") {
        return Err(invalid(why));
    }
    let mut event = Event::new(meta.id, meta.ts, source, shape.kind, shape.name);
    fill_event(&mut event, fields);
    event.harness_session_id =
        session.filter(|id| !id.is_empty()).map(ToOwned::to_owned).or(event.harness_session_id);
    event.project = meta.project.clone().or(event.project).or_else(|| event.cwd.clone());
    event.agent.user.clone_from(&meta.user);
    event.tool = tool(shape, fields)?;
    Ok(HookCall { event, native: Some(native) })
}

fn fill_event(event: &mut Event, fields: &Map<String, Value>) {
    let text = |key: &str| fields.get(key).and_then(Value::as_str).map(ToOwned::to_owned);
    let within = |outer: &str, key: &str| fields.get(outer).and_then(|outer| outer.get(key)).cloned();
    let said = |key: &str| within("metadata", key).and_then(|value| value.as_str().map(ToOwned::to_owned));
    event.harness_session_id = text("sessionId").filter(|id| !id.is_empty());
    event.turn_id = said("turnId");
    event.tool_use_id = said("toolUseId");
    event.project = said("project");
    event.agent.id = text("agentId").or_else(|| said("agentId"));
    event.agent.kind = text("agentType").or_else(|| said("agentType"));
    event.agent.model = within("model", "name").and_then(|name| name.as_str().map(ToOwned::to_owned));
    event.cwd = within("context", "workingDirectory").and_then(|dir| dir.as_str().map(ToOwned::to_owned));
    let detail = &mut event.detail;
    detail.prompt = text("prompt");
    detail.error = text("error");
    detail.stop_hook_active = fields.get("stopHookActive").and_then(Value::as_bool);
    detail.message = ["message", "customInstructions", "summary"].iter().find_map(|key| text(key));
    detail.cause = ["source", "reason", "trigger", "type"].iter().find_map(|key| text(key));
    detail.tool_output = fields.get("result").cloned();
    let whole = |value: Option<Value>| value.and_then(|ms| ms.as_f64()).map(|ms| ms.max(0.0).round());
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is a whole number from 0 on, and the cast saturates"
    )]
    let duration =
        whole(within("result", "duration").or_else(|| fields.get("duration").cloned())).map(|ms| ms as u64);
    detail.duration_ms = duration;
    match event.event {
        Kind::PreModel | Kind::PostModel => {
            let parts = ["prompt", "systemPrompt", "model", "tools"];
            let request: Map<_, _> =
                parts.iter().filter_map(|key| Some(((*key).to_owned(), fields.get(*key)?.clone()))).collect();
            event.detail.model_request = Some(Value::Object(request));
            event.detail.model_response = fields.get("response").cloned();
        }
        _ => event.detail.response = text("response"),
    }
}

/// Reads the tool call. A shell call without a command is an error, because rules could not evaluate it.
fn tool(shape: &EventShape, fields: &Map<String, Value>) -> Result<Option<ToolCall>, A3sReadError> {
    let Some(name) = fields.get("tool").and_then(Value::as_str) else { return Ok(None) };
    let mut tool = ToolCall::new(name, fields.get("args").cloned().unwrap_or_else(|| json!({})));
    let gate = matches!(shape.kind, Kind::PreTool | Kind::PermissionRequest);
    if gate && tool.class == ToolClass::Shell && tool.commands().is_empty() {
        let why = "`args` must be an object with a command".to_owned();
        return Err(A3sReadError::Misfit { name: shape.name, why });
    }
    mcp::fill_url(&mut tool, None, fields);
    Ok(Some(tool))
}
