// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codec for Continue. Continue contains an engine for Claude Code's hooks but never calls it. When hooks were
//! registered for every event, no event fired, and calls that should have been denied ran. In case a later version
//! calls the engine, payloads are decoded and replies encoded as for Claude Code.

use std::time::Duration;

use tenterhook_event::{EventKind as Kind, McpToolId};

use crate::{
    AskSupport, DenySupport, EventRow, Harness, InstallWiring, PayloadKeys, RewriteSupport, claude_code,
};

/// Continue's row of the harness table.
pub const HARNESS: Harness = Harness {
    id: "continue",
    title: "Continue",
    proved_on: &[],
    events: EVENTS,
    project_variable: None,
    headless_sign: None,
    keys: PayloadKeys::CLAUDE,
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: Some(Duration::from_mins(10)),
    mcp_name: McpToolId::from_tool_name,
    adapt: |_, _| {},
    encode: claude_code::encode,
    refuse: claude_code::refuse,
    neutral: |_| "",
};

/// Events that Continue's hook engine defines.
pub const EVENTS: &[EventRow] = &[
    EventRow { context: true, ..row("SessionStart", Kind::SessionStart) },
    EventRow {
        deny: DenySupport::Prevents,
        ask: AskSupport::Wait,
        context: true,
        ..row("UserPromptSubmit", Kind::Prompt)
    },
    EventRow {
        deny: DenySupport::Prevents,
        ask: AskSupport::Wait,
        rewrite: RewriteSupport::ToolInput,
        context: true,
        ..row("PreToolUse", Kind::PreTool)
    },
    EventRow {
        deny: DenySupport::Prevents,
        ask: AskSupport::Wait,
        ..row("PermissionRequest", Kind::PermissionRequest)
    },
    EventRow { deny: DenySupport::Feedback, context: true, ..row("PostToolUse", Kind::PostTool) },
    EventRow { deny: DenySupport::Feedback, context: true, ..row("PostToolUseFailure", Kind::ToolError) },
    row("Notification", Kind::Notification),
    row("SubagentStart", Kind::SubagentStart),
    EventRow { deny: DenySupport::Prevents, ..row("SubagentStop", Kind::SubagentStop) },
    row("PreCompact", Kind::PreCompact),
    EventRow { deny: DenySupport::Prevents, ..row("Stop", Kind::Stop) },
    row("SessionEnd", Kind::SessionEnd),
];

const fn row(native: &'static str, kind: Kind) -> EventRow {
    let wiring = InstallWiring::Skip("version 1.5.47 has a hook engine that is never called");
    EventRow { wiring, ..EventRow::new(native, kind) }
}
