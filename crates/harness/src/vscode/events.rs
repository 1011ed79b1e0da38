// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every event VS Code's own agent fires, and what it lets a hook do about it.

use tenterhook_event::EventKind as Kind;

use crate::{Ask, Deny, EventRow, Rewrite, Wiring};

/// The table; the order is that of a session's life.
pub const EVENTS: &[EventRow] = &[
    row("SessionStart", Kind::SessionStart),
    EventRow { deny: Deny::Prevents, ask: Ask::Wait, ..row("UserPromptSubmit", Kind::Prompt) },
    EventRow {
        deny: Deny::Prevents,
        ask: Ask::Prompt,
        rewrite: Rewrite::ToolInput,
        context: true,
        wiring: Wiring::Guard,
        ..row("PreToolUse", Kind::PreTool)
    },
    EventRow { deny: Deny::Feedback, ..row("PostToolUse", Kind::PostTool) },
    row("SubagentStart", Kind::SubagentStart),
    EventRow { deny: Deny::Prevents, ..row("SubagentStop", Kind::SubagentStop) },
    row("PreCompact", Kind::PreCompact),
    EventRow { deny: Deny::Prevents, ..row("Stop", Kind::Stop) },
];

const fn row(native: &'static str, kind: Kind) -> EventRow {
    EventRow::new(native, kind)
}
