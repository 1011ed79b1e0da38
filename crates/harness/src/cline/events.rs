// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every event Cline fires, and what it lets a hook do about it. A hook is a file of the event's name;
//! the payload has a name of its own for it.

use tenterhook_event::EventKind as Kind;

use crate::{Ask, Deny, EventRow, Rewrite, Wiring};

/// The table; the order is that of a session's life. What is not about a tool is told and not waited for.
pub const EVENTS: &[EventRow] = &[
    row("TaskStart", &["agent_start"], Kind::SessionStart),
    row("TaskResume", &["agent_resume"], Kind::SessionStart),
    row("UserPromptSubmit", &["prompt_submit"], Kind::Prompt),
    EventRow {
        deny: Deny::Prevents,
        ask: Ask::Wait,
        rewrite: Rewrite::ToolInput,
        context: true,
        wiring: Wiring::Guard,
        ..row("PreToolUse", &["tool_call"], Kind::PreTool)
    },
    EventRow { deny: Deny::Feedback, context: true, ..row("PostToolUse", &["tool_result"], Kind::PostTool) },
    EventRow {
        wiring: Wiring::Left("there is a name for it, and nothing that fires it"),
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
