// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Cline, on its own terms. It ignores exit codes and every field it does not know, and its one way to
//! say no ends the whole run; so a deny is a harmless call in the place of the one that was asked for.

mod encode;
pub mod events;

use std::time::Duration;

use serde_json::{Map, Value};
use tenterhook_event::{Event, EventKind, Mcp};

use crate::{Harness, Keys};

/// The row of the table.
pub const HARNESS: Harness = Harness {
    id: "cline",
    title: "Cline",
    proved_on: &["3.0.65"],
    events: events::EVENTS,
    project_variable: None,
    keys: Keys {
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
        ..Keys::CLAUDE
    },
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: Some(Duration::from_mins(2)),
    mcp_name: |name| Mcp::split(name, "__"),
    adapt,
    encode: encode::encode,
    refuse: encode::refuse,
    neutral: |_| "",
};

/// Every agent has an id there, and a task is a subagent's when somebody started it.
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
