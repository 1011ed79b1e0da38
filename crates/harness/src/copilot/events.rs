// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every event Copilot CLI fires, and what it lets a hook do about it.

use tenterhook_event::EventKind as Kind;

use crate::{Ask, Deny, EventRow, Rewrite, ToolAt, Wiring};

/// The table; the order is that of a session's life.
pub const EVENTS: &[EventRow] = &[
    row("sessionStart", &["SessionStart"], Kind::SessionStart),
    // It cannot be blocked; the model can be told.
    EventRow {
        deny: Deny::Feedback,
        context: true,
        ..row("userPromptSubmitted", &["UserPromptSubmit", "UserPromptSubmitted"], Kind::Prompt)
    },
    row("userPromptTransformed", &["UserPromptTransformed"], Kind::Other),
    EventRow {
        deny: Deny::Prevents,
        // Where nobody sits it is a no.
        ask: Ask::Prompt,
        rewrite: Rewrite::ToolInput,
        context: true,
        matcher: true,
        wiring: Wiring::Guard,
        ..row("preToolUse", &["PreToolUse"], Kind::PreTool)
    },
    EventRow {
        deny: Deny::Prevents,
        // Saying nothing leaves the question to the client, which asks it.
        ask: Ask::Prompt,
        matcher: true,
        wiring: Wiring::Guard,
        ..row("permissionRequest", &["PermissionRequest"], Kind::PermissionRequest)
    },
    // `preToolUse` has been before it; this one only adds to what the server is sent.
    EventRow { tool: ToolAt::Mcp, ..row("preMcpToolCall", &["PreMcpToolCall"], Kind::PreTool) },
    EventRow {
        deny: Deny::Feedback,
        rewrite: Rewrite::ToolOutput,
        context: true,
        matcher: true,
        ..row("postToolUse", &["PostToolUse"], Kind::PostTool)
    },
    EventRow { matcher: true, ..row("postToolUseFailure", &["PostToolUseFailure"], Kind::ToolError) },
    EventRow { context: true, ..row("subagentStart", &["SubagentStart"], Kind::SubagentStart) },
    EventRow { deny: Deny::Prevents, ..row("subagentStop", &["SubagentStop"], Kind::SubagentStop) },
    row("preCompact", &["PreCompact"], Kind::PreCompact),
    row("notification", &["Notification"], Kind::Notification),
    row("errorOccurred", &["ErrorOccurred"], Kind::Other),
    EventRow { deny: Deny::Prevents, ..row("agentStop", &["Stop", "AgentStop"], Kind::Stop) },
    row("sessionEnd", &["SessionEnd"], Kind::SessionEnd),
];

const fn row(native: &'static str, aliases: &'static [&'static str], kind: Kind) -> EventRow {
    EventRow { aliases, ..EventRow::new(native, kind) }
}
