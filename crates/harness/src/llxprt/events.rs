// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The events of LLxprt Code, and what a hook can do for each of them.

use tenterhook_event::EventKind as Kind;

use crate::{AskSupport, DenySupport, EventRow, InstallWiring, RewriteSupport};

/// The events, in the order in which they occur in a session.
pub const EVENTS: &[EventRow] = &[
    EventRow { context: true, matcher: true, ..row("SessionStart", Kind::SessionStart) },
    EventRow {
        deny: DenySupport::Prevents,
        ask: AskSupport::Wait,
        context: true,
        ..row("BeforeAgent", Kind::Prompt)
    },
    EventRow {
        deny: DenySupport::Prevents,
        rewrite: RewriteSupport::ModelRequest,
        ..row("BeforeModel", Kind::PreModel)
    },
    EventRow {
        deny: DenySupport::Prevents,
        rewrite: RewriteSupport::ToolSelection,
        ..row("BeforeToolSelection", Kind::ToolSelection)
    },
    EventRow {
        deny: DenySupport::Prevents,
        rewrite: RewriteSupport::ModelResponse,
        ..row("AfterModel", Kind::PostModel)
    },
    EventRow {
        deny: DenySupport::Prevents,
        // LLxprt Code treats `ask` as `allow`.
        ask: AskSupport::Wait,
        rewrite: RewriteSupport::ToolInput,
        context: true,
        matcher: true,
        wiring: InstallWiring::Guard,
        ..row("BeforeTool", Kind::PreTool)
    },
    EventRow {
        deny: DenySupport::Feedback,
        rewrite: RewriteSupport::ToolOutput,
        context: true,
        matcher: true,
        ..row("AfterTool", Kind::PostTool)
    },
    row("Notification", Kind::Notification),
    EventRow { matcher: true, ..row("PreCompress", Kind::PreCompact) },
    EventRow { deny: DenySupport::Prevents, ..row("AfterAgent", Kind::Stop) },
    EventRow { matcher: true, ..row("SessionEnd", Kind::SessionEnd) },
];

const fn row(native: &'static str, kind: Kind) -> EventRow {
    EventRow::new(native, kind)
}
