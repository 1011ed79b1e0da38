// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decodes a native payload into an event, using the harness's table row.

use serde_json::{Map, Value};
use tenterhook_event::{Event, EventDetail, EventKind, HookCall, McpToolId, ToolCall, ToolClass};

use crate::table::{EventRow, Harness, ToolLocation};
use crate::{CallMeta, DecodeError, PayloadKeys, mcp, payload, payload_keys};

pub(crate) fn decode(harness: &Harness, meta: &CallMeta, bytes: &[u8]) -> Result<HookCall, DecodeError> {
    let native = payload::parse_payload(bytes)?;
    let event = event(harness, meta, &native.fields)?;
    Ok(HookCall { event, native: Some(native) })
}

fn event(harness: &Harness, meta: &CallMeta, fields: &Map<String, Value>) -> Result<Event, DecodeError> {
    let keys = &harness.keys;
    let (row, native_event) = name(harness, meta, fields)?;
    let kind = row.map_or(EventKind::Other, |row| row.kind);
    let mut event = Event::new(meta.id, meta.ts, harness.id, kind, &native_event);
    event.harness_session_id = payload_keys::find_id(fields, keys.session);
    event.turn_id = payload_keys::find_id(fields, keys.turn);
    event.tool_use_id = payload_keys::find_id(fields, keys.tool_use);
    event.cwd = payload_keys::find_id(fields, keys.cwd);
    let root = || payload_keys::find_id(fields, keys.project);
    event.project = meta.project.clone().or_else(root).or_else(|| event.cwd.clone());
    event.agent.model = payload_keys::find_id(fields, keys.model);
    event.agent.user.clone_from(&meta.user);
    event.agent.id = payload_keys::find_id(fields, keys.agent);
    event.agent.kind = payload_keys::find_id(fields, keys.agent_type);
    event.agent.parent = payload_keys::find_id(fields, keys.agent_parent);
    event.tool = tool(harness, row, fields)?;
    event.detail = EventDetail { unhooked_stdin: harness.unhooked_stdin, ..detail(keys, fields) };
    (harness.adapt)(fields, &mut event);
    Ok(event)
}

/// Finds the event's row. The event name in the payload takes precedence over the name in the hook command. A gate is
/// an event for which a deny prevents a tool from running. A hook that is registered for a gate rejects a payload
/// that names any other event, so that renaming the event cannot bypass the gate.
fn name(
    harness: &Harness,
    meta: &CallMeta,
    fields: &Map<String, Value>,
) -> Result<(Option<&'static EventRow>, String), DecodeError> {
    let said = payload_keys::find_text(fields, harness.keys.event);
    let named = said.as_deref().and_then(|said| harness.event_by_native_name(said));
    let wired = harness.event(&meta.event);
    if let (Some(said), Some(wired)) = (&said, wired)
        && wired.is_gate()
        && !named.is_some_and(|named| named.is_gate() && named.kind == wired.kind)
    {
        return Err(DecodeError::Mismatch { wired: wired.native, named: said.chars().take(64).collect() });
    }
    let row = if said.is_some() { named } else { wired };
    match (row, said) {
        (Some(row), _) => Ok((Some(row), row.native.to_owned())),
        (None, Some(said)) => Ok((None, said)),
        (None, None) if meta.event.is_empty() => Err(DecodeError::NoEventName),
        (None, None) => Ok((None, meta.event.clone())),
    }
}

/// Decodes the tool call. For a gate, a call that cannot be decoded is an error. If it were not, the call could pass
/// as an event without a tool.
fn tool(
    harness: &Harness,
    row: Option<&EventRow>,
    fields: &Map<String, Value>,
) -> Result<Option<ToolCall>, DecodeError> {
    let kind = row.map_or(EventKind::Other, |row| row.kind);
    let at = row.map_or(ToolLocation::Keys, |row| row.tool);
    let gate = row.is_some_and(EventRow::is_gate);
    let (name, args) = match at {
        ToolLocation::Fields { name, args } => (name, spread(fields, args)),
        ToolLocation::Keys | ToolLocation::Mcp => {
            match payload_keys::find_value(fields, harness.keys.tool_name) {
                Some(Value::String(name)) => (name.as_str(), arguments(harness, fields)),
                Some(_) => return Err(DecodeError::Field { field: "tool_name", expected: "a string" }),
                None if kind.concerns_tool() => {
                    return Err(DecodeError::Field { field: "tool_name", expected: "there" });
                }
                None => return Ok(None),
            }
        }
    };
    if gate && !args.is_object() {
        return Err(DecodeError::Field { field: "tool_input", expected: "an object" });
    }
    let mut tool = ToolCall::new(name, args);
    by_server(harness, at, &mut tool, fields);
    let unread = match tool.class {
        ToolClass::Shell => tool.commands().is_empty(),
        // The path is the only field of these payloads that rules evaluate.
        ToolClass::Read if at != ToolLocation::Keys => tool.paths().is_empty(),
        _ => false,
    };
    if gate && unread {
        let expected =
            if tool.class == ToolClass::Shell { "an object with a command" } else { "an object with a path" };
        return Err(DecodeError::Field { field: "tool_input", expected });
    }
    mcp::fill_url(&mut tool, payload_keys::find_value(fields, harness.keys.mcp), fields);
    Ok(Some(tool))
}

/// Returns the tool's arguments. Some harnesses send the arguments, or lists in them, as JSON in a string.
pub(crate) fn arguments(harness: &Harness, fields: &Map<String, Value>) -> Value {
    const LISTS: [&str; 3] = ["commands", "files", "paths"];
    let mut args = payload_keys::find_value(fields, harness.keys.tool_input).cloned().unwrap_or(Value::Null);
    if !harness.keys.input_as_text {
        return args;
    }
    let parsed = |value: &Value| serde_json::from_str::<Value>(value.as_str()?).ok();
    if let Some(object) = parsed(&args).filter(Value::is_object) {
        args = object;
    }
    for name in LISTS {
        if let Some(value) = args.get_mut(name)
            && let Some(list) = parsed(value).filter(Value::is_array)
        {
            *value = list;
        }
    }
    if args.is_string() && is_patch_tool(harness, fields) {
        let text = std::mem::take(&mut args);
        args = Value::Object(Map::from_iter([(FREE_TEXT.to_owned(), text)]));
    }
    args
}

/// The key for a patch tool's arguments if they are plain text. Copilot CLI sends them in this form.
pub(crate) const FREE_TEXT: &str = "input";

fn is_patch_tool(harness: &Harness, fields: &Map<String, Value>) -> bool {
    let name = payload_keys::find_text(fields, harness.keys.tool_name);
    name.is_some_and(|name| ToolCall::new(&name, Value::Null).class == ToolClass::Patch)
}

fn spread(fields: &Map<String, Value>, names: &[&str]) -> Value {
    let named = names.iter().filter_map(|name| Some(((*name).to_owned(), fields.get(*name)?.clone())));
    Value::Object(named.collect())
}

/// Determines the MCP server and the tool. A server name that the harness sends separately takes precedence, because
/// the tool name may itself contain the separator.
fn by_server(harness: &Harness, at: ToolLocation, tool: &mut ToolCall, fields: &Map<String, Value>) {
    if tool.mcp.is_none() && tool.class == ToolClass::Other {
        tool.mcp = (harness.mcp_name)(&tool.name);
    }
    if at == ToolLocation::Mcp && tool.mcp.is_none() {
        tool.mcp = Some(McpToolId::new("", tool.name.as_str()));
    }
    if let Some(server) = payload_keys::find_id(fields, harness.keys.mcp_server) {
        tool.mcp = Some(match payload_keys::find_id(fields, harness.keys.mcp_tool) {
            Some(told) => McpToolId::new(server, told),
            None => McpToolId::from_server(&server, &tool.name),
        });
    }
    if tool.mcp.is_some() && (at == ToolLocation::Mcp || tool.class == ToolClass::Other) {
        tool.class = ToolClass::Mcp;
    }
}

fn detail(keys: &PayloadKeys, fields: &Map<String, Value>) -> EventDetail {
    EventDetail {
        prompt: payload_keys::find_text(fields, keys.prompt),
        response: payload_keys::find_text(fields, keys.response),
        cause: payload_keys::find_text(fields, keys.cause),
        message: payload_keys::find_text(fields, keys.message),
        error: payload_keys::find_text(fields, keys.error),
        stop_hook_active: payload_keys::find_value(fields, keys.stop_hook_active).and_then(Value::as_bool),
        tool_output: payload_keys::find_value(fields, keys.tool_output).cloned(),
        model_request: payload_keys::find_value(fields, keys.model_request).cloned(),
        model_response: payload_keys::find_value(fields, keys.model_response).cloned(),
        duration_ms: payload_keys::find_value(fields, keys.duration_ms).and_then(Value::as_u64),
        unhooked_stdin: false,
        usage: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find_harness;
    use serde_json::json;
    use tenterhook_event::{EventId, Timestamp, ToolClass};

    fn decoded(hint: &str, payload: &Value) -> Result<Event, DecodeError> {
        let meta = CallMeta::new(EventId::from_parts(1, 1), Timestamp::from_unix_ms(1), hint);
        let call = find_harness("claude-code").unwrap().decode(&meta, payload.to_string().as_bytes());
        call.map(|call| call.event)
    }

    #[test]
    fn the_payload_names_the_event_whatever_the_command_says() {
        let payload = json!({"hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
        assert_eq!(decoded("stop", &payload).unwrap().event, EventKind::PreTool);
        let nameless = json!({"tool_name": "Read", "tool_input": {}});
        assert_eq!(decoded("pre-tool-use", &nameless).unwrap().native_event, "PreToolUse");
        assert_eq!(decoded("", &nameless), Err(DecodeError::NoEventName));
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
        assert_eq!(tool.mcp, Some(McpToolId::new("my__server", "do_it")));
        assert_eq!(tool.args["url"], "https://m.example/mcp");
    }

    #[test]
    fn an_alias_of_a_named_server_is_the_servers_own_tool() {
        let meta = CallMeta::new(EventId::from_parts(1, 1), Timestamp::from_unix_ms(1), "");
        let tool = |harness: &str, name: &str, more: Value| {
            let mut payload = json!({"hook_event_name": "BeforeTool", "tool_name": name, "tool_input": {}});
            payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let call = find_harness(harness).unwrap().decode(&meta, payload.to_string().as_bytes()).unwrap();
            call.event.tool.unwrap()
        };
        for name in ["mcp__records__erase", "records__erase", "mcp_records_erase"] {
            let tool = tool("llxprt", name, json!({"mcp_context": {"server_name": "records"}}));
            assert_eq!(
                (tool.class, tool.mcp),
                (ToolClass::Mcp, Some(McpToolId::new("records", "erase"))),
                "{name}"
            );
        }
        let tool = tool("llxprt", "my__rec__erase", json!({}));
        let readings: Vec<_> = tool.mcp.iter().flat_map(McpToolId::readings).collect();
        assert_eq!(readings, [("my", "rec__erase"), ("my__rec", "erase")]);
    }
}
