// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A change in the event, brought into the native payload beside it, so that the next hook of a chain
//! reads it in its harness's words.

use serde_json::{Map, Value};
use tenterhook_event::{Call, Native};

use crate::keys::{Keys, Places, at_mut};
use crate::table::{ToolAt, find};

/// What of a call was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The tool's arguments.
    ToolInput,
    /// What the tool returned.
    ToolOutput,
    /// The request to the model.
    ModelRequest,
    /// The model's answer.
    ModelResponse,
    /// What the person asked.
    Prompt,
}

/// Brings a part of the event into the native payload, wherever the payload has it.
pub fn carry(call: &mut Call, part: Part) {
    let Call { event, native: Some(Native { bytes, fields }) } = call else { return };
    let harness = find(&event.source);
    let keys = harness.map_or(&Keys::CLAUDE, |harness| &harness.keys);
    let detail = &event.detail;
    let prompt = detail.prompt.clone().map(Value::String);
    let (places, value) = match part {
        Part::ToolInput => (keys.tool_input, event.tool.as_ref().map(|tool| &tool.args)),
        Part::ToolOutput => (keys.tool_output, detail.tool_output.as_ref()),
        Part::ModelRequest => (keys.model_request, detail.model_request.as_ref()),
        Part::ModelResponse => (keys.model_response, detail.model_response.as_ref()),
        Part::Prompt => (keys.prompt, prompt.as_ref()),
    };
    let Some(value) = value else { return };
    let at = harness.and_then(|harness| harness.event(&event.native_event)).map(|row| row.tool);
    let changed = match (part, at, value) {
        (Part::ToolInput, Some(ToolAt::Fields { args, .. }), Value::Object(value)) => {
            spread(fields, args, value)
        }
        _ => put(fields, places, value),
    };
    if changed {
        // Serialising plain data to memory has nothing to fail on.
        *bytes = serde_json::to_vec(fields).unwrap_or_default();
    }
}

/// Puts the value wherever the payload has one, as a text where it was a text.
fn put(fields: &mut Map<String, Value>, places: Places, value: &Value) -> bool {
    let mut any = false;
    for place in places {
        let Some(there) = at_mut(fields, place) else { continue };
        let text = there.is_string() && !value.is_string();
        *there = if text { Value::String(value.to_string()) } else { value.clone() };
        any = true;
    }
    any
}

/// Puts arguments back among the payload's own fields.
fn spread(fields: &mut Map<String, Value>, names: &[&str], value: &Map<String, Value>) -> bool {
    let named = names.iter().filter_map(|name| Some(((*name).to_owned(), value.get(*name)?.clone())));
    let before = fields.clone();
    fields.extend(named);
    *fields != before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Door;
    use serde_json::json;
    use tenterhook_event::{EventId, Timestamp};

    /// The native payload after the tool's arguments were changed.
    fn carried(harness: &str, payload: &Value, args: Value) -> Value {
        let door = Door::new(EventId::from_parts(1, 1), Timestamp::from_unix_ms(1), "");
        let mut call = find(harness).unwrap().decode(&door, payload.to_string().as_bytes()).unwrap();
        call.event.tool.as_mut().unwrap().args = args;
        carry(&mut call, Part::ToolInput);
        let native = call.native.unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&native.bytes).unwrap(), json!(native.fields));
        json!(native.fields)
    }

    #[test]
    fn a_change_stands_where_each_harness_has_it() {
        let codex =
            json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "a"}});
        assert_eq!(carried("codex", &codex, json!({"command": "b"}))["tool_input"], json!({"command": "b"}));
        let cline = json!({"hookName": "tool_call", "tool_call": {"name": "run_commands", "input": {"commands": ["a"]}}});
        let changed = carried("cline", &cline, json!({"commands": ["b"]}));
        assert_eq!(changed["tool_call"]["input"], json!({"commands": ["b"]}));
        let text =
            json!({"hook_event_name": "beforeMCPExecution", "tool_name": "q", "tool_input": "{\"a\":1}"});
        assert_eq!(carried("cursor", &text, json!({"a": 2}))["tool_input"], r#"{"a":2}"#);
        let shell = json!({"hook_event_name": "beforeShellExecution", "command": "a", "cwd": "/w"});
        let changed = carried("cursor", &shell, json!({"command": "b", "other": 1}));
        assert_eq!(changed, json!({"hook_event_name": "beforeShellExecution", "command": "b", "cwd": "/w"}));
    }
}
