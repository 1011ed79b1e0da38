// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every event Claude Code fires, and what it lets a hook do about it.

use std::time::Duration;

use tenterhook_event::EventKind as Kind;

use crate::{Ask, Deny, EventRow, Rewrite, Wiring};

/// The table; the order is that of a session's life.
pub const EVENTS: &[EventRow] = &[
    row("Setup", Kind::Other),
    EventRow { context: true, matcher: true, ..row("SessionStart", Kind::SessionStart) },
    row("InstructionsLoaded", Kind::Other),
    EventRow {
        deny: Deny::Prevents,
        ask: Ask::Wait,
        context: true,
        deadline: Some(Duration::from_secs(30)),
        ..row("UserPromptSubmit", Kind::Prompt)
    },
    EventRow { deny: Deny::Prevents, context: true, ..row("UserPromptExpansion", Kind::Other) },
    EventRow {
        deny: Deny::Prevents,
        ask: Ask::Prompt,
        defers: true,
        rewrite: Rewrite::ToolInput,
        context: true,
        matcher: true,
        wiring: Wiring::Guard,
        ..row("PreToolUse", Kind::PreTool)
    },
    EventRow {
        deny: Deny::Prevents,
        // Saying nothing leaves the question to the client, which asks it.
        ask: Ask::Prompt,
        rewrite: Rewrite::ToolInput,
        matcher: true,
        wiring: Wiring::Guard,
        ..row("PermissionRequest", Kind::PermissionRequest)
    },
    EventRow { matcher: true, ..row("PermissionDenied", Kind::PermissionDenied) },
    EventRow {
        deny: Deny::Feedback,
        rewrite: Rewrite::ToolOutput,
        context: true,
        matcher: true,
        ..row("PostToolUse", Kind::PostTool)
    },
    EventRow {
        deny: Deny::Feedback,
        context: true,
        matcher: true,
        ..row("PostToolUseFailure", Kind::ToolError)
    },
    EventRow { deny: Deny::Feedback, context: true, ..row("PostToolBatch", Kind::Other) },
    row("Notification", Kind::Notification),
    EventRow { context: true, ..row("SubagentStart", Kind::SubagentStart) },
    EventRow { deny: Deny::Prevents, context: true, ..row("SubagentStop", Kind::SubagentStop) },
    EventRow { deny: Deny::Prevents, ..row("PreCompact", Kind::PreCompact) },
    row("PostCompact", Kind::PostCompact),
    EventRow { deny: Deny::Prevents, ask: Ask::Prompt, ..row("PreModelSwitch", Kind::Other) },
    EventRow { context: true, ..row("PostModelSwitch", Kind::Other) },
    EventRow { deny: Deny::Prevents, ..row("TaskCreated", Kind::Other) },
    EventRow { deny: Deny::Prevents, ..row("TaskCompleted", Kind::Other) },
    EventRow { deny: Deny::Prevents, ..row("TeammateIdle", Kind::Other) },
    EventRow { deny: Deny::Prevents, ..row("Elicitation", Kind::Other) },
    EventRow { deny: Deny::Prevents, ..row("ElicitationResult", Kind::Other) },
    EventRow { deny: Deny::Prevents, ..row("ConfigChange", Kind::Other) },
    row("CwdChanged", Kind::Other),
    row("DirectoryAdded", Kind::Other),
    EventRow {
        wiring: Wiring::Left("fires only for file names given as a matcher"),
        ..row("FileChanged", Kind::Other)
    },
    EventRow {
        deny: Deny::Prevents,
        wiring: Wiring::Left("a hook here replaces git's own creation of the worktree"),
        ..row("WorktreeCreate", Kind::Other)
    },
    EventRow {
        wiring: Wiring::Left("a hook here replaces git's own removal of the worktree"),
        ..row("WorktreeRemove", Kind::Other)
    },
    EventRow {
        wiring: Wiring::Left("fires for every piece of text on the screen and decides nothing"),
        ..row("MessageDisplay", Kind::Other)
    },
    EventRow { deny: Deny::Prevents, context: true, ..row("Stop", Kind::Stop) },
    row("StopFailure", Kind::Other),
    EventRow { deadline: Some(Duration::from_millis(1500)), ..row("SessionEnd", Kind::SessionEnd) },
];

const fn row(native: &'static str, kind: Kind) -> EventRow {
    EventRow::new(native, kind)
}
