// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codec for OpenCode. Its hooks are functions of a plugin, so Tenterhook installs a plugin that calls the hook
//! program. The payload and the reply have Tenterhook's own formats. The payload is close to the arguments of the
//! plugin's hooks:
//!
//! ```json
//! {"hook": "tool.execute.before", "input": {"tool": "bash", "sessionID": "s", "callID": "c"},
//!  "output": {"args": {"command": "make"}}, "directory": "/w", "worktree": "/w"}
//! ```
//!
//! If a session was started by another session, `parentSessionID` is the id of that other session. An event of
//! OpenCode's event bus has `"hook": "event"`, and its content is in `input.event`. The reply is one line of JSON, or
//! empty if no rule matches; see [`PluginReply`](crate::PluginReply).

pub mod events;

use serde_json::{Map, Value};
use tenterhook_event::{Event, EventKind, McpToolId};

use crate::{Harness, PayloadKeys, payload_keys, plugin_reply};

/// OpenCode's row of the harness table.
pub const HARNESS: Harness = Harness {
    id: "opencode",
    title: "OpenCode",
    proved_on: &["1.18.33"],
    events: events::EVENTS,
    project_variable: None,
    headless_sign: None,
    keys: PayloadKeys {
        event: &["input.event.type", "hook"],
        session: &["input.sessionID", "input.event.properties.sessionID", "output.messages.0.info.sessionID"],
        turn: &["output.message.id", "input.messageID", "input.event.properties.tool.messageID"],
        tool_use: &["input.callID", "input.event.properties.tool.callID"],
        cwd: &["input.cwd", "directory", "input.event.properties.info.directory"],
        project: &["worktree", "directory"],
        model: &["input.model.id", "output.message.model.modelID", "input.event.properties.info.model.id"],
        agent: &[],
        agent_type: &[],
        agent_parent: &["parentSessionID", "input.event.properties.info.parentID"],
        tool_name: &["input.tool", "input.event.properties.permission"],
        tool_input: &["output.args", "input.args", "input.event.properties.metadata"],
        tool_output: &["output.output", "output.content"],
        mcp: &[],
        mcp_server: &[],
        prompt: &[],
        response: &["output.text"],
        cause: &["input.event.properties.status.type", "input.event.properties.reply"],
        message: &[],
        error: &["input.event.properties.error.message"],
        stop_hook_active: &[],
        duration_ms: &[],
        model_request: &[],
        model_response: &[],
        ..PayloadKeys::CLAUDE
    },
    unhooked_stdin: false,
    version_gaps: &[],
    // OpenCode would wait forever, so the plugin sets its own deadline.
    deadline: None,
    mcp_name: |name| McpToolId::split(name, "_"),
    adapt,
    encode: plugin_reply::encode,
    refuse: plugin_reply::refuse,
    neutral: |_| "",
};

fn adapt(fields: &Map<String, Value>, event: &mut Event) {
    // A session that was started by another session belongs to a subagent.
    if event.agent.parent.is_some() {
        event.agent.id.clone_from(&event.harness_session_id);
    }
    match event.native_event.as_str() {
        "chat.message" => event.detail.prompt = Some(prompt(fields)),
        "chat.params" => event.detail.model_request = fields.get("output").cloned(),
        "session.created" if event.agent.parent.is_some() => event.event = EventKind::SubagentStart,
        "session.idle" if event.agent.parent.is_some() => event.event = EventKind::SubagentStop,
        "permission.replied" => {
            event.event = match payload_keys::find_text(fields, &["input.event.properties.reply"]).as_deref()
            {
                Some("once" | "always") => EventKind::PermissionGranted,
                _ => EventKind::PermissionDenied,
            };
        }
        _ => {}
    }
}

/// Returns the text of the user's message, joined from all its text parts.
fn prompt(fields: &Map<String, Value>) -> String {
    let parts = payload_keys::find_value(fields, &["output.parts"]).and_then(Value::as_array);
    let texts = parts.into_iter().flatten().filter_map(|part| part.get("text")?.as_str());
    texts.collect::<Vec<_>>().join("\n")
}
