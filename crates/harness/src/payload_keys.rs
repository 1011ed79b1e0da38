// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The paths of the known fields in a native payload.

use serde_json::{Map, Value};

/// Paths in a payload, in order of precedence: `tool_input`, `tool_call.input`, `workspace_roots.0`.
pub type KeyPaths = &'static [&'static str];

/// Paths of the known fields in one harness's payload.
#[derive(Debug, Clone, Copy)]
pub struct PayloadKeys {
    /// Name of the event.
    pub event: KeyPaths,
    /// Id of the session.
    pub session: KeyPaths,
    /// Path of the client's transcript file.
    pub transcript: KeyPaths,
    /// Id of the turn.
    pub turn: KeyPaths,
    /// Id of the tool call.
    pub tool_use: KeyPaths,
    /// Working directory of the agent.
    pub cwd: KeyPaths,
    /// Root of the project.
    pub project: KeyPaths,
    /// Name of the model.
    pub model: KeyPaths,
    /// Id of the subagent.
    pub agent: KeyPaths,
    /// Type of the subagent.
    pub agent_type: KeyPaths,
    /// Id of the agent or session that started the subagent.
    pub agent_parent: KeyPaths,
    /// Name of the tool.
    pub tool_name: KeyPaths,
    /// Arguments of the tool.
    pub tool_input: KeyPaths,
    /// Whether the arguments, or lists in them, may be JSON in a string.
    pub input_as_text: bool,
    /// Output of the tool.
    pub tool_output: KeyPaths,
    /// Metadata of the MCP server.
    pub mcp: KeyPaths,
    /// Name of the MCP server.
    pub mcp_server: KeyPaths,
    /// Name of the tool on its MCP server.
    pub mcp_tool: KeyPaths,
    /// Text of the user's prompt.
    pub prompt: KeyPaths,
    /// Last message of the agent.
    pub response: KeyPaths,
    /// Cause of the event: source, trigger or reason.
    pub cause: KeyPaths,
    /// Notification text, or the instructions or summary of a compaction.
    pub message: KeyPaths,
    /// Error message of a failed call.
    pub error: KeyPaths,
    /// Whether the agent continues because of a stop hook.
    pub stop_hook_active: KeyPaths,
    /// Duration of the tool call in milliseconds.
    pub duration_ms: KeyPaths,
    /// Request to the model.
    pub model_request: KeyPaths,
    /// The model's response.
    pub model_response: KeyPaths,
}

impl PayloadKeys {
    /// The keys of Claude Code, which many other harnesses share.
    pub const CLAUDE: Self = Self {
        event: &["hook_event_name"],
        session: &["session_id"],
        transcript: &["transcript_path"],
        turn: &["prompt_id"],
        tool_use: &["tool_use_id"],
        cwd: &["cwd"],
        project: &[],
        model: &["model", "to_model"],
        agent: &["agent_id"],
        agent_type: &["agent_type"],
        agent_parent: &[],
        tool_name: &["tool_name"],
        tool_input: &["tool_input"],
        input_as_text: false,
        tool_output: &["tool_response"],
        mcp: &["mcp_server"],
        mcp_server: &["mcp_server.name"],
        mcp_tool: &[],
        prompt: &["prompt"],
        response: &["last_assistant_message"],
        cause: &["source", "trigger", "reason", "notification_type"],
        message: &["message", "custom_instructions", "compact_summary"],
        error: &["error"],
        stop_hook_active: &["stop_hook_active"],
        duration_ms: &["duration_ms"],
        model_request: &["llm_request"],
        model_response: &["llm_response"],
    };
}

/// Returns the first value that is present and not `null`.
pub fn find_value(fields: &Map<String, Value>, places: KeyPaths) -> Option<&Value> {
    places.iter().find_map(|place| path_value(fields, place).filter(|value| !value.is_null()))
}

/// Returns the first value that is a string.
pub fn find_text(fields: &Map<String, Value>, places: KeyPaths) -> Option<String> {
    places.iter().find_map(|place| path_value(fields, place)?.as_str()).map(ToOwned::to_owned)
}

/// Returns the first value that is a non-empty string.
pub fn find_id(fields: &Map<String, Value>, places: KeyPaths) -> Option<String> {
    let texts = places.iter().filter_map(|place| path_value(fields, place)?.as_str());
    texts.map(ToOwned::to_owned).find(|text| !text.is_empty())
}

/// Returns the value at one dotted path.
fn path_value<'a>(fields: &'a Map<String, Value>, place: &str) -> Option<&'a Value> {
    // Most paths are a single key.
    if !place.as_bytes().contains(&b'.') {
        return fields.get(place);
    }
    let mut steps = place.split('.');
    let first = fields.get(steps.next()?)?;
    steps.try_fold(first, |value, step| match value {
        Value::Array(items) => items.get(step.parse::<usize>().ok()?),
        value => value.get(step),
    })
}

/// Returns a mutable reference to the value at one dotted path.
pub(crate) fn path_mut<'a>(fields: &'a mut Map<String, Value>, place: &str) -> Option<&'a mut Value> {
    let mut steps = place.split('.');
    let first = fields.get_mut(steps.next()?)?;
    steps.try_fold(first, |value, step| match value {
        Value::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        value => value.get_mut(step),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_place_is_found_at_any_depth_and_the_first_wins() {
        let payload = json!({"a": {"b": [{"c": "deep"}]}, "d": "", "e": "here", "f": null});
        let fields = payload.as_object().unwrap();
        assert_eq!(find_text(fields, &["a.b.0.c"]).as_deref(), Some("deep"));
        assert_eq!(find_text(fields, &["a.b.1.c", "d", "e"]).as_deref(), Some(""));
        assert_eq!(find_id(fields, &["a.b.1.c", "d", "e"]).as_deref(), Some("here"), "an empty id is none");
        assert_eq!(find_text(fields, &["a", "x.y"]), None);
        assert_eq!(find_value(fields, &["f", "e"]), Some(&json!("here")));
        let mut fields = fields.clone();
        *path_mut(&mut fields, "a.b.0.c").unwrap() = json!(7);
        assert_eq!(find_value(&fields, &["a.b.0.c"]), Some(&json!(7)));
    }
}
