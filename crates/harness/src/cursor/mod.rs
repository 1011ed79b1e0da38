// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codec for Cursor. A gate is an event for which a deny prevents a tool from running. Commands, MCP tools and file
//! reads pass two gates: `preToolUse` and a more specific event. [`same_call_key`](crate::same_call_key) recognises
//! that both belong to one call.

mod encode;
pub mod events;

use std::time::Duration;

use tenterhook_event::McpToolId;

use crate::{Harness, PayloadKeys};

/// Cursor's row of the harness table.
pub const HARNESS: Harness = Harness {
    id: "cursor",
    title: "Cursor",
    proved_on: &[],
    events: events::EVENTS,
    project_variable: Some("CURSOR_PROJECT_DIR"),
    headless_sign: None,
    keys: PayloadKeys {
        session: &["conversation_id", "session_id"],
        turn: &["generation_id"],
        tool_use: &["tool_use_id", "tool_call_id"],
        cwd: &["cwd", "workspace_roots.0"],
        project: &["workspace_roots.0"],
        model: &["model", "model_id"],
        agent: &["subagent_id"],
        agent_type: &["subagent_type"],
        agent_parent: &["parent_conversation_id"],
        input_as_text: true,
        tool_output: &["tool_output", "result_json", "output"],
        mcp: &[],
        mcp_server: &[],
        prompt: &["prompt", "task"],
        response: &["text", "summary"],
        cause: &["trigger", "reason", "failure_type", "status"],
        message: &["agent_message"],
        error: &["error_message"],
        duration_ms: &["duration", "duration_ms"],
        ..PayloadKeys::CLAUDE
    },
    unhooked_stdin: false,
    version_gaps: &[],
    // This time limit comes from a log; the documentation only mentions a platform default.
    deadline: Some(Duration::from_mins(1)),
    // The name of an MCP tool does not contain its server.
    mcp_name: |name| name.strip_prefix("MCP:").map(|tool| McpToolId::new("", tool)),
    adapt: |_, _| {},
    encode: encode::encode,
    refuse: encode::refuse,
    neutral: encode::neutral,
};
