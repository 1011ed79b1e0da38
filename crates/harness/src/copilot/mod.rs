// SPDX-License-Identifier: Apache-2.0 OR MIT

//! GitHub Copilot CLI, on its own terms. An event registered as `preToolUse` comes in one style, as
//! `PreToolUse` in another, with Claude Code's tool names, and not without exceptions: both are read.

mod encode;
pub mod events;

use std::time::Duration;

use serde_json::{Map, Value};
use tenterhook_event::{Event, Mcp};

use crate::{Harness, Keys};

/// The row of the table.
pub const HARNESS: Harness = Harness {
    id: "copilot",
    title: "GitHub Copilot CLI",
    proved_on: &["1.0.102"],
    events: events::EVENTS,
    project_variable: Some("COPILOT_PROJECT_DIR"),
    keys: Keys {
        event: &["hook_event_name", "hookName"],
        session: &["sessionId", "session_id"],
        turn: &[],
        tool_use: &["toolCallId"],
        agent: &["agentId", "agent_id"],
        agent_type: &["agentType", "agent_type", "agentName"],
        agent_parent: &["parentAgentId", "parent_agent_id"],
        tool_name: &["toolName", "tool_name"],
        tool_input: &["toolArgs", "tool_input", "toolInput", "arguments"],
        input_as_text: true,
        tool_output: &["toolResult", "tool_result"],
        mcp: &[],
        mcp_server: &["serverName"],
        prompt: &["prompt", "initialPrompt", "initial_prompt"],
        response: &["response", "last_assistant_message"],
        cause: &["source", "reason", "trigger", "stopReason", "stop_reason", "errorContext"],
        message: &["message", "customInstructions", "custom_instructions"],
        error: &["error", "error.message"],
        ..Keys::CLAUDE
    },
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: Some(Duration::from_secs(30)),
    mcp_name,
    adapt,
    encode: encode::encode,
    refuse: encode::refuse,
    neutral: |_| "",
};

/// `server-tool` before a tool runs, `server/tool` where permission is asked for. A server's name has
/// dashes more often than a tool's.
fn mcp_name(name: &str) -> Option<Mcp> {
    Mcp::split(name, "/").or_else(|| Mcp::split_last(name, "-"))
}

/// A subagent's events name the subagent as their session.
fn adapt(_: &Map<String, Value>, event: &mut Event) {
    if event.agent.parent.is_some() && event.harness_session_id == event.agent.id {
        event.harness_session_id.clone_from(&event.agent.parent);
    }
}
