// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The events of VS Code's built-in agent, and what a hook can do for each of them.

use tenterhook_event::EventKind as Kind;

use crate::{AskSupport, DenySupport, EventRow, InstallWiring, RewriteSupport};

/// The events, in the order in which they occur in a session.
pub const EVENTS: &[EventRow] = &[
    row("SessionStart", Kind::SessionStart),
    EventRow { deny: DenySupport::Prevents, ask: AskSupport::Wait, ..row("UserPromptSubmit", Kind::Prompt) },
    EventRow {
        deny: DenySupport::Prevents,
        ask: AskSupport::Prompt,
        rewrite: RewriteSupport::ToolInput,
        context: true,
        wiring: InstallWiring::Guard,
        ..row("PreToolUse", Kind::PreTool)
    },
    EventRow { deny: DenySupport::Feedback, ..row("PostToolUse", Kind::PostTool) },
    row("SubagentStart", Kind::SubagentStart),
    EventRow { deny: DenySupport::Prevents, ..row("SubagentStop", Kind::SubagentStop) },
    row("PreCompact", Kind::PreCompact),
    EventRow { deny: DenySupport::Prevents, ..row("Stop", Kind::Stop) },
];

const fn row(native: &'static str, kind: Kind) -> EventRow {
    EventRow::new(native, kind)
}
