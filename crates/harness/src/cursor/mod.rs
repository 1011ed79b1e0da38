// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Cursor, on its own terms. One call comes to two gates: `preToolUse` and, for a command, an MCP tool
//! or a file, one of its own; [`same_call`](crate::same_call) tells that they are one.

mod encode;
pub mod events;

use std::time::Duration;

use tenterhook_event::Mcp;

use crate::{Harness, Keys};

/// The row of the table.
pub const HARNESS: Harness = Harness {
    id: "cursor",
    title: "Cursor",
    proved_on: &[],
    events: events::EVENTS,
    project_variable: Some("CURSOR_PROJECT_DIR"),
    keys: Keys {
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
        ..Keys::CLAUDE
    },
    // Seen in a log; the documentation speaks of a platform's default.
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: Some(Duration::from_mins(1)),
    // It does not say which server.
    mcp_name: |name| name.strip_prefix("MCP:").map(|tool| Mcp::new("", tool)),
    adapt: |_, _| {},
    encode: encode::encode,
    refuse: encode::refuse,
    neutral: encode::neutral,
};
