// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The events of Codex, and what a hook can do for each of them.

use std::time::Duration;

use tenterhook_event::EventKind as Kind;

use crate::{AskSupport, DenySupport, EventRow, InstallWiring, RewriteSupport};

/// The events, in the order in which they occur in a session.
pub const EVENTS: &[EventRow] = &[
    EventRow {
        deny: DenySupport::Prevents,
        context: true,
        matcher: true,
        ..row("SessionStart", Kind::SessionStart)
    },
    EventRow {
        deny: DenySupport::Prevents,
        ask: AskSupport::Wait,
        context: true,
        ..row("UserPromptSubmit", Kind::Prompt)
    },
    EventRow {
        deny: DenySupport::Prevents,
        // Codex treats `ask` as a hook error and runs the tool.
        ask: AskSupport::Wait,
        rewrite: RewriteSupport::ToolInput,
        context: true,
        matcher: true,
        wiring: InstallWiring::Guard,
        ..row("PreToolUse", Kind::PreTool)
    },
    EventRow {
        deny: DenySupport::Prevents,
        // If the reply were empty, a model could decide in place of the user.
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
    EventRow { context: true, matcher: true, ..row("SubagentStart", Kind::SubagentStart) },
    EventRow { deny: DenySupport::Prevents, matcher: true, ..row("SubagentStop", Kind::SubagentStop) },
    EventRow { deny: DenySupport::Prevents, matcher: true, ..row("PreCompact", Kind::PreCompact) },
    EventRow { matcher: true, ..row("PostCompact", Kind::PostCompact) },
    EventRow { deny: DenySupport::Prevents, ..row("Stop", Kind::Stop) },
    EventRow { deadline: Some(Duration::from_secs(1)), ..row("SessionEnd", Kind::SessionEnd) },
];

const fn row(native: &'static str, kind: Kind) -> EventRow {
    EventRow::new(native, kind)
}
