// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The events of Cursor, and what a hook can do for each of them.

use tenterhook_event::EventKind as Kind;

use crate::{AskSupport, DenySupport, EventRow, InstallWiring, RewriteSupport, ToolLocation};

/// The events, in the order in which they occur in a session. `preToolUse` is the first gate in the list, so the name
/// `pre-tool` refers to it. A gate is an event for which a deny prevents a tool from running.
pub const EVENTS: &[EventRow] = &[
    row("workspaceOpen", Kind::Other),
    EventRow { context: true, ..row("sessionStart", Kind::SessionStart) },
    EventRow {
        deny: DenySupport::Prevents,
        ask: AskSupport::Wait,
        matcher: true,
        ..row("beforeSubmitPrompt", Kind::Prompt)
    },
    EventRow {
        deny: DenySupport::Prevents,
        // Cursor accepts `ask` but does not enforce it.
        ask: AskSupport::Wait,
        rewrite: RewriteSupport::ToolInput,
        matcher: true,
        wiring: InstallWiring::Guard,
        ..row("preToolUse", Kind::PreTool)
    },
    EventRow {
        ask: AskSupport::Prompt,
        tool: ToolLocation::Fields { name: "Shell", args: &["command"] },
        ..gate("beforeShellExecution")
    },
    EventRow { ask: AskSupport::Prompt, tool: ToolLocation::Mcp, ..gate("beforeMCPExecution") },
    EventRow { tool: ToolLocation::Fields { name: "Read", args: &["file_path"] }, ..gate("beforeReadFile") },
    EventRow {
        tool: ToolLocation::Fields { name: "Read", args: &["file_path"] },
        ..gate("beforeTabFileRead")
    },
    EventRow {
        deny: DenySupport::Feedback,
        rewrite: RewriteSupport::McpOutput,
        context: true,
        matcher: true,
        ..row("postToolUse", Kind::PostTool)
    },
    EventRow { matcher: true, ..row("postToolUseFailure", Kind::ToolError) },
    EventRow {
        matcher: true,
        tool: ToolLocation::Fields { name: "Shell", args: &["command"] },
        ..row("afterShellExecution", Kind::PostTool)
    },
    EventRow { tool: ToolLocation::Mcp, ..row("afterMCPExecution", Kind::PostTool) },
    EventRow {
        matcher: true,
        tool: ToolLocation::Fields { name: "Edit", args: &["file_path", "edits"] },
        ..row("afterFileEdit", Kind::PostTool)
    },
    EventRow {
        matcher: true,
        tool: ToolLocation::Fields { name: "Edit", args: &["file_path", "edits"] },
        ..row("afterTabFileEdit", Kind::PostTool)
    },
    EventRow {
        deny: DenySupport::Prevents,
        ask: AskSupport::Wait,
        matcher: true,
        ..row("subagentStart", Kind::SubagentStart)
    },
    EventRow { deny: DenySupport::Prevents, matcher: true, ..row("subagentStop", Kind::SubagentStop) },
    row("preCompact", Kind::PreCompact),
    EventRow { matcher: true, ..row("afterAgentResponse", Kind::PostModel) },
    EventRow { matcher: true, ..row("afterAgentThought", Kind::Other) },
    EventRow { deny: DenySupport::Prevents, matcher: true, ..row("stop", Kind::Stop) },
    row("sessionEnd", Kind::SessionEnd),
];

const fn row(native: &'static str, kind: Kind) -> EventRow {
    EventRow::new(native, kind)
}

/// Returns the row of a gate that fires after `preToolUse` for the same call.
const fn gate(native: &'static str) -> EventRow {
    let row = row(native, Kind::PreTool);
    EventRow {
        deny: DenySupport::Prevents,
        ask: AskSupport::Wait,
        matcher: true,
        wiring: InstallWiring::Guard,
        ..row
    }
}
