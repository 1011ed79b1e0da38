// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codec for GitHub Copilot CLI. If a hook is registered for `preToolUse`, its payload has camelCase keys. If it is
//! registered for `PreToolUse`, the payload has snake_case keys and, with exceptions, Claude Code's tool names. Both
//! formats are decoded.

mod encode;
pub mod events;

use std::time::Duration;

use serde_json::{Map, Value};
use tenterhook_event::{Event, McpToolId};

use crate::{Harness, PayloadKeys};

/// Copilot CLI's row of the harness table.
pub const HARNESS: Harness = Harness {
    id: "copilot",
    title: "GitHub Copilot CLI",
    proved_on: &["1.0.102"],
    events: events::EVENTS,
    project_variable: Some("COPILOT_PROJECT_DIR"),
    headless_sign: None,
    keys: PayloadKeys {
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
        ..PayloadKeys::CLAUDE
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

/// Splits the name of an MCP tool: `server-tool` before a tool runs, `server/tool` in permission requests. Dashes are
/// more common in server names than in tool names, so the name is split at the last one.
fn mcp_name(name: &str) -> Option<McpToolId> {
    McpToolId::split(name, "/").or_else(|| McpToolId::split_last(name, "-"))
}

/// Adapts events of a subagent, which have the subagent's id as their session id.
fn adapt(_: &Map<String, Value>, event: &mut Event) {
    if event.agent.parent.is_some() && event.harness_session_id == event.agent.id {
        event.harness_session_id.clone_from(&event.agent.parent);
    }
}
