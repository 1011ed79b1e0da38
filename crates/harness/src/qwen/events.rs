// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every event Qwen Code fires, and what it lets a hook do about it.

use tenterhook_event::EventKind as Kind;

use crate::{Ask, Deny, EventRow, Rewrite, Wiring};

/// The table; the order is that of a session's life.
pub const EVENTS: &[EventRow] = &[
    EventRow { context: true, matcher: true, ..row("SessionStart", Kind::SessionStart) },
    EventRow { deny: Deny::Prevents, ask: Ask::Wait, context: true, ..row("UserPromptSubmit", Kind::Prompt) },
    EventRow {
        deny: Deny::Prevents,
        // Headless, `ask` is a no that nobody can turn into a yes.
        ask: Ask::Wait,
        matcher: true,
        wiring: Wiring::Guard,
        ..row("PreToolUse", Kind::PreTool)
    },
    EventRow {
        deny: Deny::Prevents,
        ask: Ask::Wait,
        matcher: true,
        wiring: Wiring::Guard,
        ..row("PermissionRequest", Kind::PermissionRequest)
    },
    EventRow {
        deny: Deny::Feedback,
        rewrite: Rewrite::ToolOutput,
        context: true,
        matcher: true,
        ..row("PostToolUse", Kind::PostTool)
    },
    EventRow { matcher: true, ..row("PostToolUseFailure", Kind::ToolError) },
    row("PostToolBatch", Kind::Other),
    row("Notification", Kind::Notification),
    row("SubagentStart", Kind::SubagentStart),
    EventRow { deny: Deny::Prevents, ..row("SubagentStop", Kind::SubagentStop) },
    row("PreCompact", Kind::PreCompact),
    row("PostCompact", Kind::PostCompact),
    EventRow { deny: Deny::Prevents, ..row("Stop", Kind::Stop) },
    row("SessionEnd", Kind::SessionEnd),
];

const fn row(native: &'static str, kind: Kind) -> EventRow {
    EventRow::new(native, kind)
}
