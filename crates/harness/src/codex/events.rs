// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every event Codex fires, and what it lets a hook do about it.

use std::time::Duration;

use tenterhook_event::EventKind as Kind;

use crate::{Ask, Deny, EventRow, Rewrite, Wiring};

/// The table; the order is that of a session's life.
pub const EVENTS: &[EventRow] = &[
    EventRow {
        deny: Deny::Prevents,
        context: true,
        matcher: true,
        ..row("SessionStart", Kind::SessionStart)
    },
    EventRow { deny: Deny::Prevents, ask: Ask::Wait, context: true, ..row("UserPromptSubmit", Kind::Prompt) },
    EventRow {
        deny: Deny::Prevents,
        // `ask` is an error of the hook there, and the tool runs.
        ask: Ask::Wait,
        rewrite: Rewrite::ToolInput,
        context: true,
        matcher: true,
        wiring: Wiring::Guard,
        ..row("PreToolUse", Kind::PreTool)
    },
    EventRow {
        deny: Deny::Prevents,
        // Saying nothing may leave the question to a model.
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
    EventRow { context: true, matcher: true, ..row("SubagentStart", Kind::SubagentStart) },
    EventRow { deny: Deny::Prevents, matcher: true, ..row("SubagentStop", Kind::SubagentStop) },
    EventRow { deny: Deny::Prevents, matcher: true, ..row("PreCompact", Kind::PreCompact) },
    EventRow { matcher: true, ..row("PostCompact", Kind::PostCompact) },
    EventRow { deny: Deny::Prevents, ..row("Stop", Kind::Stop) },
    EventRow { deadline: Some(Duration::from_secs(1)), ..row("SessionEnd", Kind::SessionEnd) },
];

const fn row(native: &'static str, kind: Kind) -> EventRow {
    EventRow::new(native, kind)
}
