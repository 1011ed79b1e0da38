// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The events of Copilot CLI, and what a hook can do for each of them.

use tenterhook_event::EventKind as Kind;

use crate::{AskSupport, DenySupport, EventRow, InstallWiring, RewriteSupport, ToolLocation};

/// The events, in the order in which they occur in a session.
pub const EVENTS: &[EventRow] = &[
    row("sessionStart", &["SessionStart"], Kind::SessionStart),
    // A prompt cannot be blocked, but context can be added.
    EventRow {
        deny: DenySupport::Feedback,
        context: true,
        ..row("userPromptSubmitted", &["UserPromptSubmit", "UserPromptSubmitted"], Kind::Prompt)
    },
    row("userPromptTransformed", &["UserPromptTransformed"], Kind::Other),
    EventRow {
        deny: DenySupport::Prevents,
        // Without a terminal, the client treats `ask` as a deny.
        ask: AskSupport::Prompt,
        rewrite: RewriteSupport::ToolInput,
        context: true,
        matcher: true,
        wiring: InstallWiring::Guard,
        ..row("preToolUse", &["PreToolUse"], Kind::PreTool)
    },
    EventRow {
        deny: DenySupport::Prevents,
        // If the reply is empty, the client shows its own prompt.
        ask: AskSupport::Prompt,
        matcher: true,
        wiring: InstallWiring::Guard,
        ..row("permissionRequest", &["PermissionRequest"], Kind::PermissionRequest)
    },
    // `preToolUse` has already fired for the call. This event only adds metadata for the MCP server.
    EventRow { tool: ToolLocation::Mcp, ..row("preMcpToolCall", &["PreMcpToolCall"], Kind::PreTool) },
    EventRow {
        deny: DenySupport::Feedback,
        rewrite: RewriteSupport::ToolOutput,
        context: true,
        matcher: true,
        ..row("postToolUse", &["PostToolUse"], Kind::PostTool)
    },
    EventRow { matcher: true, ..row("postToolUseFailure", &["PostToolUseFailure"], Kind::ToolError) },
    EventRow { context: true, ..row("subagentStart", &["SubagentStart"], Kind::SubagentStart) },
    EventRow { deny: DenySupport::Prevents, ..row("subagentStop", &["SubagentStop"], Kind::SubagentStop) },
    row("preCompact", &["PreCompact"], Kind::PreCompact),
    row("notification", &["Notification"], Kind::Notification),
    row("errorOccurred", &["ErrorOccurred"], Kind::Other),
    EventRow { deny: DenySupport::Prevents, ..row("agentStop", &["Stop", "AgentStop"], Kind::Stop) },
    row("sessionEnd", &["SessionEnd"], Kind::SessionEnd),
];

const fn row(native: &'static str, aliases: &'static [&'static str], kind: Kind) -> EventRow {
    EventRow { aliases, ..EventRow::new(native, kind) }
}
