// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The events of Cline, and what a hook can do for each of them. A hook is a file named after the event; the payload
//! uses a different event name.

use tenterhook_event::EventKind as Kind;

use crate::{AskSupport, DenySupport, EventRow, InstallWiring, RewriteSupport};

/// The events, in the order in which they occur in a session. For events without a tool, the client does not wait for
/// hooks.
pub const EVENTS: &[EventRow] = &[
    row("TaskStart", &["agent_start"], Kind::SessionStart),
    row("TaskResume", &["agent_resume"], Kind::SessionStart),
    row("UserPromptSubmit", &["prompt_submit"], Kind::Prompt),
    EventRow {
        deny: DenySupport::Prevents,
        ask: AskSupport::Wait,
        rewrite: RewriteSupport::ToolInput,
        context: true,
        wiring: InstallWiring::Guard,
        ..row("PreToolUse", &["tool_call"], Kind::PreTool)
    },
    EventRow {
        deny: DenySupport::Feedback,
        context: true,
        ..row("PostToolUse", &["tool_result"], Kind::PostTool)
    },
    EventRow {
        wiring: InstallWiring::Skip("the client defines this event but never fires it"),
        ..row("PreCompact", &[], Kind::PreCompact)
    },
    row("TaskCancel", &["agent_abort"], Kind::Other),
    row("TaskError", &["agent_error"], Kind::Other),
    row("TaskComplete", &["agent_end"], Kind::Stop),
    row("SessionShutdown", &["session_shutdown"], Kind::SessionEnd),
];

const fn row(native: &'static str, aliases: &'static [&'static str], kind: Kind) -> EventRow {
    EventRow { aliases, ..EventRow::new(native, kind) }
}
