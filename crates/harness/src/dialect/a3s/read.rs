// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An event out of seed 003's JSON: whoever has an agent of their own fires it so.

use serde_json::{Map, Value, json};
use tenterhook_event::{Call, Event, EventKind as Kind, ToolCall, ToolClass};

use super::schema::{self, EventShape};
use crate::payload::{DecodeError, read};
use crate::{Door, mcp};

/// Why an event cannot be taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// It is no JSON object, or too large.
    #[error(transparent)]
    Payload(#[from] DecodeError),
    /// Something does not fit.
    #[error("this is no `{name}`: {why}")]
    Misfit {
        /// The event.
        name: &'static str,
        /// What does not fit.
        why: String,
    },
}

/// Reads the payload of an event. What the caller says elsewhere (`session`, the door) comes before what
/// the payload says; what is known elsewhere may be left out of it.
pub fn event(
    shape: &'static EventShape,
    door: &Door,
    source: &str,
    session: Option<&str>,
    bytes: &[u8],
) -> Result<Call, Unreadable> {
    let mut native = read(bytes)?;
    let misfit = |why: String| Unreadable::Misfit { name: shape.name, why };
    let fields = &mut native.fields;
    if let Some(named) = fields.get("eventType").filter(|named| **named != json!(shape.name)) {
        return Err(misfit(format!("`eventType` is {named}")));
    }
    fields.insert("eventType".to_owned(), json!(shape.name));
    let wrong = |key: &str, is: fn(&Value) -> bool| fields.get(key).is_some_and(|value| !is(value));
    if wrong("metadata", Value::is_object) || wrong("sessionId", Value::is_string) {
        return Err(misfit("`metadata` should be an object, `sessionId` a text".to_owned()));
    }
    if let Some(why) = schema::misfit(shape.fields, fields, "") {
        return Err(misfit(why));
    }
    let mut event = Event::new(door.id, door.ts, source, shape.kind, shape.name);
    fill(&mut event, fields);
    event.harness_session_id =
        session.filter(|id| !id.is_empty()).map(ToOwned::to_owned).or(event.harness_session_id);
    event.project = door.project.clone().or(event.project).or_else(|| event.cwd.clone());
    event.agent.user.clone_from(&door.user);
    event.tool = tool(shape, fields)?;
    Ok(Call { event, native: Some(native) })
}

fn fill(event: &mut Event, fields: &Map<String, Value>) {
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
        reason = "it is a whole number from 0 on, and a cast saturates"
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

/// The tool call. What is judged has to be there: a shell call without a command passes no gate.
fn tool(shape: &EventShape, fields: &Map<String, Value>) -> Result<Option<ToolCall>, Unreadable> {
    let Some(name) = fields.get("tool").and_then(Value::as_str) else { return Ok(None) };
    let mut tool = ToolCall::new(name, fields.get("args").cloned().unwrap_or_else(|| json!({})));
    let gate = matches!(shape.kind, Kind::PreTool | Kind::PermissionRequest);
    if gate && tool.class == ToolClass::Shell && tool.commands().is_empty() {
        let why = "`args` should be an object with a command".to_owned();
        return Err(Unreadable::Misfit { name: shape.name, why });
    }
    mcp::fill_url(&mut tool, None, fields);
    Ok(Some(tool))
}
