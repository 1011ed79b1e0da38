// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Where a native payload has what we look for.

use serde_json::{Map, Value};

/// Places in a payload, the best first: `tool_input`, `tool_call.input`, `workspace_roots.0`.
pub type Places = &'static [&'static str];

/// Where one harness's payload has what we look for.
#[derive(Debug, Clone, Copy)]
pub struct Keys {
    /// The event's name.
    pub event: Places,
    /// The conversation's id.
    pub session: Places,
    /// The file in which the client writes the conversation down.
    pub transcript: Places,
    /// The turn's id.
    pub turn: Places,
    /// The tool call's id.
    pub tool_use: Places,
    /// Where the agent works.
    pub cwd: Places,
    /// The project's root.
    pub project: Places,
    /// The model.
    pub model: Places,
    /// The subagent's id.
    pub agent: Places,
    /// The subagent's type.
    pub agent_type: Places,
    /// Who started the subagent.
    pub agent_parent: Places,
    /// The tool's name.
    pub tool_name: Places,
    /// The tool's arguments.
    pub tool_input: Places,
    /// Whether the arguments, or the lists in them, may be JSON in a text.
    pub input_as_text: bool,
    /// What the tool returned.
    pub tool_output: Places,
    /// What is known about the MCP server.
    pub mcp: Places,
    /// The MCP server's name.
    pub mcp_server: Places,
    /// The MCP server's own name for the tool.
    pub mcp_tool: Places,
    /// What the person asked.
    pub prompt: Places,
    /// What the agent said last.
    pub response: Places,
    /// What brought the event about.
    pub cause: Places,
    /// A text for people, or about a compaction.
    pub message: Places,
    /// What went wrong.
    pub error: Places,
    /// Whether the agent goes on because of a hook.
    pub stop_hook_active: Places,
    /// How long the tool ran, in milliseconds.
    pub duration_ms: Places,
    /// The request to the model.
    pub model_request: Places,
    /// The model's answer.
    pub model_response: Places,
}

impl Keys {
    /// Claude Code's, which many have taken over.
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

/// The first of these places that has something.
pub fn value(fields: &Map<String, Value>, places: Places) -> Option<&Value> {
    places.iter().find_map(|place| at(fields, place).filter(|value| !value.is_null()))
}

/// The first of these places that has a text.
pub fn text(fields: &Map<String, Value>, places: Places) -> Option<String> {
    places.iter().find_map(|place| at(fields, place)?.as_str()).map(ToOwned::to_owned)
}

/// The first of these places that has a text worth the name.
pub fn id(fields: &Map<String, Value>, places: Places) -> Option<String> {
    let texts = places.iter().filter_map(|place| at(fields, place)?.as_str());
    texts.map(ToOwned::to_owned).find(|text| !text.is_empty())
}

/// What is at one place.
fn at<'a>(fields: &'a Map<String, Value>, place: &str) -> Option<&'a Value> {
    // Most are no more than a name.
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

/// The place itself, to be changed.
pub(crate) fn at_mut<'a>(fields: &'a mut Map<String, Value>, place: &str) -> Option<&'a mut Value> {
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
        assert_eq!(text(fields, &["a.b.0.c"]).as_deref(), Some("deep"));
        assert_eq!(text(fields, &["a.b.1.c", "d", "e"]).as_deref(), Some(""));
        assert_eq!(id(fields, &["a.b.1.c", "d", "e"]).as_deref(), Some("here"), "an empty id is none");
        assert_eq!(text(fields, &["a", "x.y"]), None);
        assert_eq!(value(fields, &["f", "e"]), Some(&json!("here")));
        let mut fields = fields.clone();
        *at_mut(&mut fields, "a.b.0.c").unwrap() = json!(7);
        assert_eq!(value(&fields, &["a.b.0.c"]), Some(&json!(7)));
    }
}
