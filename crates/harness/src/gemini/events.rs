// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every event Gemini CLI fires, and what it lets a hook do about it.

use tenterhook_event::EventKind as Kind;

use crate::{Ask, Deny, EventRow, Rewrite, Wiring};

/// The table; the order is that of a session's life.
pub const EVENTS: &[EventRow] = &[
    EventRow { context: true, matcher: true, ..row("SessionStart", Kind::SessionStart) },
    EventRow { deny: Deny::Prevents, ask: Ask::Wait, context: true, ..row("BeforeAgent", Kind::Prompt) },
    EventRow { deny: Deny::Prevents, rewrite: Rewrite::ModelRequest, ..row("BeforeModel", Kind::PreModel) },
    // A hint to the model: a call of a tool it was not to choose is run all the same.
    EventRow {
        deny: Deny::Feedback,
        rewrite: Rewrite::ToolSelection,
        ..row("BeforeToolSelection", Kind::ToolSelection)
    },
    EventRow { deny: Deny::Prevents, rewrite: Rewrite::ModelResponse, ..row("AfterModel", Kind::PostModel) },
    EventRow {
        deny: Deny::Prevents,
        // `ask` hangs for ever where nobody sits.
        ask: Ask::Wait,
        rewrite: Rewrite::ToolInput,
        matcher: true,
        wiring: Wiring::Guard,
        ..row("BeforeTool", Kind::PreTool)
    },
    EventRow {
        deny: Deny::Feedback,
        rewrite: Rewrite::ToolOutput,
        context: true,
        matcher: true,
        ..row("AfterTool", Kind::PostTool)
    },
    row("Notification", Kind::Notification),
    EventRow { matcher: true, ..row("PreCompress", Kind::PreCompact) },
    EventRow { deny: Deny::Prevents, ..row("AfterAgent", Kind::Stop) },
    EventRow { matcher: true, ..row("SessionEnd", Kind::SessionEnd) },
];

const fn row(native: &'static str, kind: Kind) -> EventRow {
    EventRow::new(native, kind)
}
