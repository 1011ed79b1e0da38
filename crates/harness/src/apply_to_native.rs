// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Copies a change of the event into the native payload. The next hook that handles the event then reads the changed
//! value in the harness's own format.

use serde_json::{Map, Value};
use tenterhook_event::{HookCall, NativePayload};

use crate::payload_keys::{KeyPaths, PayloadKeys, path_mut};
use crate::table::{ToolLocation, find_harness};

/// The part of a call that was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallPart {
    /// Arguments of the tool.
    ToolInput,
    /// Output of the tool.
    ToolOutput,
    /// Request to the model.
    ModelRequest,
    /// The model's response.
    ModelResponse,
    /// Text of the user's prompt.
    Prompt,
}

/// Writes a part of the event into every place where the native payload contains it.
pub fn apply_to_native(call: &mut HookCall, part: CallPart) {
    let HookCall { event, native: Some(NativePayload { bytes, fields }) } = call else { return };
    let harness = find_harness(&event.source);
    let keys = harness.map_or(&PayloadKeys::CLAUDE, |harness| &harness.keys);
    let detail = &event.detail;
    let prompt = detail.prompt.clone().map(Value::String);
    let (places, value) = match part {
        CallPart::ToolInput => (keys.tool_input, event.tool.as_ref().map(|tool| &tool.args)),
        CallPart::ToolOutput => (keys.tool_output, detail.tool_output.as_ref()),
        CallPart::ModelRequest => (keys.model_request, detail.model_request.as_ref()),
        CallPart::ModelResponse => (keys.model_response, detail.model_response.as_ref()),
        CallPart::Prompt => (keys.prompt, prompt.as_ref()),
    };
    let Some(value) = value else { return };
    let at = harness.and_then(|harness| harness.event(&event.native_event)).map(|row| row.tool);
    let changed = match (part, at, value) {
        (CallPart::ToolInput, Some(ToolLocation::Fields { args, .. }), Value::Object(value)) => {
            spread(fields, args, value)
        }
        _ => put(fields, places, value),
    };
    if changed {
        // Serializing plain data to memory cannot fail.
        *bytes = serde_json::to_vec(fields).unwrap_or_default();
    }
}

/// Replaces the value at every path that exists. If the old value is a string, the new value is serialized into a
/// string.
fn put(fields: &mut Map<String, Value>, places: KeyPaths, value: &Value) -> bool {
    let mut any = false;
    for place in places {
        let Some(there) = path_mut(fields, place) else { continue };
        let text = there.is_string() && !value.is_string();
        *there = if text { Value::String(value.to_string()) } else { value.clone() };
        any = true;
    }
    any
}

/// Writes arguments back into top-level fields of the payload.
fn spread(fields: &mut Map<String, Value>, names: &[&str], value: &Map<String, Value>) -> bool {
    let named = names.iter().filter_map(|name| Some(((*name).to_owned(), value.get(*name)?.clone())));
    let before = fields.clone();
    fields.extend(named);
    *fields != before
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CallMeta;
    use serde_json::json;
    use tenterhook_event::{EventId, Timestamp};

    /// Returns the native payload after a change of the tool's arguments.
    fn carried(harness: &str, payload: &Value, args: Value) -> Value {
        let meta = CallMeta::new(EventId::from_parts(1, 1), Timestamp::from_unix_ms(1), "");
        let mut call = find_harness(harness).unwrap().decode(&meta, payload.to_string().as_bytes()).unwrap();
        call.event.tool.as_mut().unwrap().args = args;
        apply_to_native(&mut call, CallPart::ToolInput);
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
