// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The events of Qwen Code, and what a hook can do for each of them.

use tenterhook_event::EventKind as Kind;

use crate::{AskSupport, DenySupport, EventRow, InstallWiring, RewriteSupport};

/// The events, in the order in which they occur in a session.
pub const EVENTS: &[EventRow] = &[
    EventRow { context: true, matcher: true, ..row("SessionStart", Kind::SessionStart) },
    EventRow {
        deny: DenySupport::Prevents,
        ask: AskSupport::Wait,
        context: true,
        ..row("UserPromptSubmit", Kind::Prompt)
    },
    EventRow {
        deny: DenySupport::Prevents,
        // Without a terminal, the client treats `ask` as a deny that cannot be approved.
        ask: AskSupport::Wait,
        matcher: true,
        wiring: InstallWiring::Guard,
        ..row("PreToolUse", Kind::PreTool)
    },
    EventRow {
        deny: DenySupport::Prevents,
        ask: AskSupport::Wait,
        matcher: true,
        wiring: InstallWiring::Guard,
        ..row("PermissionRequest", Kind::PermissionRequest)
    },
    EventRow {
        deny: DenySupport::Feedback,
        rewrite: RewriteSupport::ToolOutput,
        context: true,
        matcher: true,
        ..row("PostToolUse", Kind::PostTool)
    },
    EventRow { matcher: true, ..row("PostToolUseFailure", Kind::ToolError) },
    row("PostToolBatch", Kind::Other),
    row("Notification", Kind::Notification),
    row("SubagentStart", Kind::SubagentStart),
    EventRow { deny: DenySupport::Prevents, ..row("SubagentStop", Kind::SubagentStop) },
    row("PreCompact", Kind::PreCompact),
    row("PostCompact", Kind::PostCompact),
    EventRow { deny: DenySupport::Prevents, ..row("Stop", Kind::Stop) },
    row("SessionEnd", Kind::SessionEnd),
];

const fn row(native: &'static str, kind: Kind) -> EventRow {
    EventRow::new(native, kind)
}
