// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Continue. It ships an engine for Claude Code's hooks that nothing calls: with every event registered,
//! none fired and what was denied ran. It is read and answered like Claude Code for the day it does.

use std::time::Duration;

use tenterhook_event::{EventKind as Kind, Mcp};

use crate::{Ask, Deny, EventRow, Harness, Keys, Rewrite, Wiring, claude_code};

/// The row of the table.
pub const HARNESS: Harness = Harness {
    id: "continue",
    title: "Continue",
    proved_on: &[],
    events: EVENTS,
    project_variable: None,
    keys: Keys::CLAUDE,
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: Some(Duration::from_mins(10)),
    mcp_name: Mcp::from_tool_name,
    adapt: |_, _| {},
    encode: claude_code::encode,
    refuse: claude_code::refuse,
    neutral: |_| "",
};

/// The table.
pub const EVENTS: &[EventRow] = &[
    EventRow { context: true, ..row("SessionStart", Kind::SessionStart) },
    EventRow { deny: Deny::Prevents, ask: Ask::Wait, context: true, ..row("UserPromptSubmit", Kind::Prompt) },
    EventRow {
        deny: Deny::Prevents,
        ask: Ask::Wait,
        rewrite: Rewrite::ToolInput,
        context: true,
        ..row("PreToolUse", Kind::PreTool)
    },
    EventRow { deny: Deny::Prevents, ask: Ask::Wait, ..row("PermissionRequest", Kind::PermissionRequest) },
    EventRow { deny: Deny::Feedback, context: true, ..row("PostToolUse", Kind::PostTool) },
    EventRow { deny: Deny::Feedback, context: true, ..row("PostToolUseFailure", Kind::ToolError) },
    row("Notification", Kind::Notification),
    row("SubagentStart", Kind::SubagentStart),
    EventRow { deny: Deny::Prevents, ..row("SubagentStop", Kind::SubagentStop) },
    row("PreCompact", Kind::PreCompact),
    EventRow { deny: Deny::Prevents, ..row("Stop", Kind::Stop) },
    row("SessionEnd", Kind::SessionEnd),
];

const fn row(native: &'static str, kind: Kind) -> EventRow {
    let wiring = Wiring::Left("version 1.5.47 has an engine for hooks, and nothing that calls it");
    EventRow { wiring, ..EventRow::new(native, kind) }
}
