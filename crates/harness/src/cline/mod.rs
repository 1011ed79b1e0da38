// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codec for Cline. Cline ignores exit codes and unknown fields, and its only way to deny a call ends the whole run.
//! A deny is therefore encoded as a harmless call that replaces the requested call.

mod encode;
pub mod events;

use std::time::Duration;

use serde_json::{Map, Value};
use tenterhook_event::{Event, EventKind, McpToolId};

use crate::{Harness, PayloadKeys};

/// Cline's row of the harness table.
pub const HARNESS: Harness = Harness {
    id: "cline",
    title: "Cline",
    proved_on: &["3.0.65"],
    events: events::EVENTS,
    project_variable: None,
    headless_sign: None,
    keys: PayloadKeys {
        event: &["hookName"],
        session: &["sessionContext.rootSessionId", "taskId"],
        turn: &["taskId"],
        tool_use: &["tool_call.id", "tool_result.id"],
        cwd: &["workspaceInfo.rootPath", "workspaceRoots.0"],
        model: &["model.slug", "model"],
        agent_parent: &["parent_agent_id"],
        tool_name: &["tool_call.name", "tool_result.name", "preToolUse.toolName", "postToolUse.toolName"],
        tool_input: &[
            "tool_call.input",
            "tool_result.input",
            "preToolUse.parameters",
            "postToolUse.parameters",
        ],
        input_as_text: true,
        tool_output: &["tool_result.output", "postToolUse.result"],
        mcp: &[],
        mcp_server: &[],
        prompt: &["userPromptSubmit.prompt", "prompt"],
        response: &["turn.outputText"],
        cause: &["turn.status", "reason"],
        message: &[],
        error: &["tool_result.error", "error.message", "error"],
        duration_ms: &["tool_result.durationMs", "postToolUse.executionTimeMs"],
        ..PayloadKeys::CLAUDE
    },
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: Some(Duration::from_mins(2)),
    mcp_name: |name| McpToolId::split(name, "__"),
    adapt,
    encode: encode::encode,
    refuse: encode::refuse,
    neutral: |_| "",
};

/// Removes the agent id unless the task has a parent. Every agent has an id in the payload, but only a task with a
/// parent belongs to a subagent.
fn adapt(_: &Map<String, Value>, event: &mut Event) {
    if event.agent.parent.is_none() {
        event.agent.id = None;
        return;
    }
    event.event = match event.event {
        EventKind::SessionStart => EventKind::SubagentStart,
        EventKind::Stop => EventKind::SubagentStop,
        kind => kind,
    };
}
