// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every event Cursor fires, and what it lets a hook do about it.

use tenterhook_event::EventKind as Kind;

use crate::{Ask, Deny, EventRow, Rewrite, ToolAt, Wiring};

/// The table; the order is that of a session's life. `preToolUse` is the first of the gates, so that
/// `pre-tool` names it.
pub const EVENTS: &[EventRow] = &[
    row("workspaceOpen", Kind::Other),
    EventRow { context: true, ..row("sessionStart", Kind::SessionStart) },
    EventRow {
        deny: Deny::Prevents,
        ask: Ask::Wait,
        matcher: true,
        ..row("beforeSubmitPrompt", Kind::Prompt)
    },
    EventRow {
        deny: Deny::Prevents,
        // `ask` is read and not enforced.
        ask: Ask::Wait,
        rewrite: Rewrite::ToolInput,
        matcher: true,
        wiring: Wiring::Guard,
        ..row("preToolUse", Kind::PreTool)
    },
    EventRow {
        ask: Ask::Prompt,
        tool: ToolAt::Fields { name: "Shell", args: &["command"] },
        ..gate("beforeShellExecution")
    },
    EventRow { ask: Ask::Prompt, tool: ToolAt::Mcp, ..gate("beforeMCPExecution") },
    EventRow { tool: ToolAt::Fields { name: "Read", args: &["file_path"] }, ..gate("beforeReadFile") },
    EventRow { tool: ToolAt::Fields { name: "Read", args: &["file_path"] }, ..gate("beforeTabFileRead") },
    EventRow {
        deny: Deny::Feedback,
        rewrite: Rewrite::McpOutput,
        context: true,
        matcher: true,
        ..row("postToolUse", Kind::PostTool)
    },
    EventRow { matcher: true, ..row("postToolUseFailure", Kind::ToolError) },
    EventRow {
        matcher: true,
        tool: ToolAt::Fields { name: "Shell", args: &["command"] },
        ..row("afterShellExecution", Kind::PostTool)
    },
    EventRow { tool: ToolAt::Mcp, ..row("afterMCPExecution", Kind::PostTool) },
    EventRow {
        matcher: true,
        tool: ToolAt::Fields { name: "Edit", args: &["file_path", "edits"] },
        ..row("afterFileEdit", Kind::PostTool)
    },
    EventRow {
        matcher: true,
        tool: ToolAt::Fields { name: "Edit", args: &["file_path", "edits"] },
        ..row("afterTabFileEdit", Kind::PostTool)
    },
    EventRow {
        deny: Deny::Prevents,
        ask: Ask::Wait,
        matcher: true,
        ..row("subagentStart", Kind::SubagentStart)
    },
    EventRow { deny: Deny::Prevents, matcher: true, ..row("subagentStop", Kind::SubagentStop) },
    row("preCompact", Kind::PreCompact),
    EventRow { matcher: true, ..row("afterAgentResponse", Kind::PostModel) },
    EventRow { matcher: true, ..row("afterAgentThought", Kind::Other) },
    EventRow { deny: Deny::Prevents, matcher: true, ..row("stop", Kind::Stop) },
    row("sessionEnd", Kind::SessionEnd),
];

const fn row(native: &'static str, kind: Kind) -> EventRow {
    EventRow::new(native, kind)
}

/// A gate of its own beside `preToolUse`.
const fn gate(native: &'static str) -> EventRow {
    let row = row(native, Kind::PreTool);
    EventRow { deny: Deny::Prevents, ask: Ask::Wait, matcher: true, wiring: Wiring::Guard, ..row }
}
