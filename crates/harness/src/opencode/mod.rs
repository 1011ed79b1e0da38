// SPDX-License-Identifier: Apache-2.0 OR MIT

//! OpenCode, on its own terms. Its hooks are functions of a plugin, so ours calls us, and both the
//! payload and the reply are of our own making, close to the arguments of its hooks:
//!
//! ```json
//! {"hook": "tool.execute.before", "input": {"tool": "bash", "sessionID": "s", "callID": "c"},
//!  "output": {"args": {"command": "make"}}, "directory": "/w", "worktree": "/w"}
//! ```
//!
//! A session that another one has started has that one's id as `parentSessionID`. An event of the bus has
//! `"hook": "event"` and stands under `input.event`. The reply is one line of JSON, or nothing when nobody
//! objects; see [`PluginReply`](crate::PluginReply).

pub mod events;

use serde_json::{Map, Value};
use tenterhook_event::{Event, EventKind, Mcp};

use crate::{Harness, Keys, keys, plugin_reply};

/// The row of the table.
pub const HARNESS: Harness = Harness {
    id: "opencode",
    title: "OpenCode",
    proved_on: &["1.18.33"],
    events: events::EVENTS,
    project_variable: None,
    keys: Keys {
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
        ..Keys::CLAUDE
    },
    // It would wait for ever: the plugin has a deadline of its own.
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: None,
    mcp_name: |name| Mcp::split(name, "_"),
    adapt,
    encode: plugin_reply::encode,
    refuse: plugin_reply::refuse,
    neutral: |_| "",
};

fn adapt(fields: &Map<String, Value>, event: &mut Event) {
    // A session that another one has started is a subagent's.
    if event.agent.parent.is_some() {
        event.agent.id.clone_from(&event.harness_session_id);
    }
    match event.native_event.as_str() {
        "chat.message" => event.detail.prompt = Some(prompt(fields)),
        "chat.params" => event.detail.model_request = fields.get("output").cloned(),
        "session.created" if event.agent.parent.is_some() => event.event = EventKind::SubagentStart,
        "session.idle" if event.agent.parent.is_some() => event.event = EventKind::SubagentStop,
        "permission.replied" => {
            event.event = match keys::text(fields, &["input.event.properties.reply"]).as_deref() {
                Some("once" | "always") => EventKind::PermissionGranted,
                _ => EventKind::PermissionDenied,
            };
        }
        _ => {}
    }
}

/// What the person wrote, from all the parts of the message that are text.
fn prompt(fields: &Map<String, Value>) -> String {
    let parts = keys::value(fields, &["output.parts"]).and_then(Value::as_array);
    let texts = parts.into_iter().flatten().filter_map(|part| part.get("text")?.as_str());
    texts.collect::<Vec<_>>().join("\n")
}
