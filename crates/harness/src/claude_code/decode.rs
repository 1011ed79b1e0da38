// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Claude Code's payload → event.

use serde_json::{Map, Value};
use tenterhook_event::{Call, Detail, Event, EventKind, Mcp, ToolCall, ToolClass};

use super::HARNESS;
use crate::payload::{self, text};
use crate::{DecodeError, Door, Wiring, mcp};

pub(super) fn decode(door: &Door, bytes: &[u8]) -> Result<Call, DecodeError> {
    let native = payload::read(bytes)?;
    let event = event(door, &native.fields)?;
    Ok(Call { event, native: Some(native) })
}

fn event(door: &Door, fields: &Map<String, Value>) -> Result<Event, DecodeError> {
    // The payload says what happened; the command line only says what somebody wired. A gate is not
    // passed by calling it something else, though.
    let named = text(fields, "hook_event_name");
    let wired = HARNESS.event(&door.event);
    if let (Some(named), Some(wired)) = (&named, wired)
        && wired.wiring == Wiring::Guard
        && named != wired.native
    {
        return Err(DecodeError::Mismatch { wired: wired.native, named: named.chars().take(64).collect() });
    }
    let row = match &named {
        Some(named) => HARNESS.events.iter().find(|row| row.native == named),
        None => wired,
    };
    let native_event = match (named, row) {
        (Some(name), _) => name,
        (None, Some(row)) => row.native.to_owned(),
        (None, None) if door.event.is_empty() => return Err(DecodeError::Nameless),
        (None, None) => door.event.clone(),
    };
    let kind = row.map_or(EventKind::Other, |row| row.kind);
    let mut event = Event::new(door.id, door.ts, HARNESS.id, kind, &native_event);
    event.harness_session_id = text(fields, "session_id");
    event.turn_id = text(fields, "prompt_id");
    event.tool_use_id = text(fields, "tool_use_id");
    event.cwd = text(fields, "cwd");
    event.project = door.project.clone().or_else(|| event.cwd.clone());
    event.agent.model = text(fields, "model").or_else(|| text(fields, "to_model"));
    event.agent.user.clone_from(&door.user);
    event.agent.id = text(fields, "agent_id");
    event.agent.kind = text(fields, "agent_type");
    event.tool = tool(kind, fields)?;
    event.detail = detail(fields);
    Ok(event)
}

/// The tool call. At a gate a call that cannot be read is an error: what is not understood must
/// not pass as "no tool".
fn tool(kind: EventKind, fields: &Map<String, Value>) -> Result<Option<ToolCall>, DecodeError> {
    let name = match fields.get("tool_name") {
        Some(Value::String(name)) => name,
        Some(_) => return Err(DecodeError::Field { field: "tool_name", expected: "a string" }),
        None if kind.concerns_tool() => {
            return Err(DecodeError::Field { field: "tool_name", expected: "there" });
        }
        None => return Ok(None),
    };
    let args = fields.get("tool_input").cloned().unwrap_or(Value::Null);
    let gate = matches!(kind, EventKind::PreTool | EventKind::PermissionRequest);
    if gate && !args.is_object() {
        return Err(DecodeError::Field { field: "tool_input", expected: "an object" });
    }
    let mut tool = ToolCall::new(name, args);
    if gate && tool.class == ToolClass::Shell && tool.commands().is_empty() {
        return Err(DecodeError::Field { field: "tool_input", expected: "an object with a command" });
    }
    let server = fields.get("mcp_server").and_then(|server| server.get("name")?.as_str());
    if let (Some(mcp), Some(server)) = (&mut tool.mcp, server) {
        // The harness says where the server's name ends: it may have `__` in it.
        let own =
            tool.name.strip_prefix("mcp__").and_then(|rest| rest.strip_prefix(server)?.strip_prefix("__"));
        let own = own.map_or_else(|| mcp.tool.clone(), ToOwned::to_owned);
        *mcp = Mcp { server: server.to_owned(), tool: own };
    }
    mcp::fill_url(&mut tool, fields.get("mcp_server"));
    Ok(Some(tool))
}

fn detail(fields: &Map<String, Value>) -> Detail {
    let first = |keys: &[&str]| keys.iter().find_map(|key| text(fields, key));
    Detail {
        prompt: text(fields, "prompt"),
        response: text(fields, "last_assistant_message"),
        cause: first(&["source", "trigger", "reason", "notification_type"]),
        message: first(&["message", "custom_instructions", "compact_summary"]),
        error: text(fields, "error"),
        stop_hook_active: fields.get("stop_hook_active").and_then(Value::as_bool),
        tool_output: fields.get("tool_response").cloned(),
        model_request: None,
        model_response: None,
        duration_ms: fields.get("duration_ms").and_then(Value::as_u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use tenterhook_event::{EventId, Timestamp, ToolClass};

    fn decoded(hint: &str, payload: &Value) -> Result<Event, DecodeError> {
        let door = Door::new(EventId::from_parts(1, 1), Timestamp::from_unix_ms(1), hint);
        decode(&door, payload.to_string().as_bytes()).map(|call| call.event)
    }

    #[test]
    fn the_payload_names_the_event_whatever_the_command_says() {
        let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
        assert_eq!(decoded("stop", &payload).unwrap().event, EventKind::PreTool);
        let nameless = json!({"tool_name": "Read", "tool_input": {}});
        assert_eq!(decoded("pre-tool-use", &nameless).unwrap().native_event, "PreToolUse");
        assert_eq!(decoded("", &nameless), Err(DecodeError::Nameless));
    }

    #[test]
    fn a_gate_is_not_passed_under_another_name() {
        for name in ["pretooluse", " PreToolUse", "pre-tool-use", "", "Tomorrow", "Stop", "PostToolUse"] {
            let payload =
                json!({"hook_event_name": name, "tool_name": "Bash", "tool_input": {"command": "x"}});
            let error = decoded("pre-tool-use", &payload).unwrap_err();
            assert!(matches!(error, DecodeError::Mismatch { wired: "PreToolUse", .. }), "{name}: {error}");
        }
    }

    #[test]
    fn a_command_that_cannot_be_read_does_not_pass_a_gate() {
        for input in [
            json!("rm -rf /"),
            json!(["rm"]),
            json!(null),
            json!({}),
            json!({"command": 7}),
            json!({"command": ["rm", 7]}),
            json!({"command": {"a": 1}}),
        ] {
            let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": input});
            assert!(
                matches!(decoded("", &payload), Err(DecodeError::Field { field: "tool_input", .. })),
                "{input}"
            );
        }
        let after = json!({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_response": "x"});
        assert!(decoded("", &after).is_ok(), "what has happened is recorded as it is");
    }

    #[test]
    fn an_event_of_tomorrow_is_carried_as_other() {
        let event = decoded("x", &json!({"hook_event_name": "Tomorrow", "session_id": "s"})).unwrap();
        assert_eq!((event.event, event.native_event.as_str()), (EventKind::Other, "Tomorrow"));
    }

    #[test]
    fn a_gate_without_a_readable_tool_is_an_error() {
        let nothing = json!({"hook_event_name": "PreToolUse"});
        assert!(matches!(decoded("", &nothing), Err(DecodeError::Field { field: "tool_name", .. })));
        let number = json!({"hook_event_name": "PreToolUse", "tool_name": 7});
        assert!(matches!(decoded("", &number), Err(DecodeError::Field { field: "tool_name", .. })));
    }

    #[test]
    fn the_mcp_server_is_the_one_the_harness_names() {
        let payload = json!({
            "hook_event_name": "PreToolUse", "tool_name": "mcp__my__server__do_it", "tool_input": {},
            "mcp_server": {"name": "my__server", "source": "dynamic", "url": "https://m.example/mcp"},
        });
        let tool = decoded("", &payload).unwrap().tool.unwrap();
        assert_eq!(tool.class, ToolClass::Mcp);
        assert_eq!(tool.mcp, Some(Mcp { server: "my__server".into(), tool: "do_it".into() }));
        assert_eq!(tool.args["url"], "https://m.example/mcp");
    }
}
