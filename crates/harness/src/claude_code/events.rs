// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The events of Claude Code, and what a hook can do for each of them.

use std::time::Duration;

use tenterhook_event::EventKind as Kind;

use crate::{AskSupport, DenySupport, EventRow, InstallWiring, RewriteSupport};

/// The events, in the order in which they occur in a session.
pub const EVENTS: &[EventRow] = &[
    row("Setup", Kind::Other),
    EventRow { context: true, matcher: true, ..row("SessionStart", Kind::SessionStart) },
    row("InstructionsLoaded", Kind::Other),
    EventRow {
        deny: DenySupport::Prevents,
        ask: AskSupport::Wait,
        context: true,
        deadline: Some(Duration::from_secs(30)),
        ..row("UserPromptSubmit", Kind::Prompt)
    },
    EventRow { deny: DenySupport::Prevents, context: true, ..row("UserPromptExpansion", Kind::Other) },
    EventRow {
        deny: DenySupport::Prevents,
        ask: AskSupport::Prompt,
        defers: true,
        rewrite: RewriteSupport::ToolInput,
        context: true,
        matcher: true,
        wiring: InstallWiring::Guard,
        ..row("PreToolUse", Kind::PreTool)
    },
    EventRow {
        deny: DenySupport::Prevents,
        // If the reply is empty, the client shows its own prompt.
        ask: AskSupport::Prompt,
        rewrite: RewriteSupport::ToolInput,
        matcher: true,
        wiring: InstallWiring::Guard,
        ..row("PermissionRequest", Kind::PermissionRequest)
    },
    EventRow { matcher: true, ..row("PermissionDenied", Kind::PermissionDenied) },
    EventRow {
        deny: DenySupport::Feedback,
        rewrite: RewriteSupport::ToolOutput,
        context: true,
        matcher: true,
        ..row("PostToolUse", Kind::PostTool)
    },
    EventRow {
        deny: DenySupport::Feedback,
        context: true,
        matcher: true,
        ..row("PostToolUseFailure", Kind::ToolError)
    },
    EventRow { deny: DenySupport::Feedback, context: true, ..row("PostToolBatch", Kind::Other) },
    row("Notification", Kind::Notification),
    EventRow { context: true, ..row("SubagentStart", Kind::SubagentStart) },
    EventRow { deny: DenySupport::Prevents, context: true, ..row("SubagentStop", Kind::SubagentStop) },
    EventRow { deny: DenySupport::Prevents, ..row("PreCompact", Kind::PreCompact) },
    row("PostCompact", Kind::PostCompact),
    EventRow { deny: DenySupport::Prevents, ask: AskSupport::Prompt, ..row("PreModelSwitch", Kind::Other) },
    EventRow { context: true, ..row("PostModelSwitch", Kind::Other) },
    EventRow { deny: DenySupport::Prevents, ..row("TaskCreated", Kind::Other) },
    EventRow { deny: DenySupport::Prevents, ..row("TaskCompleted", Kind::Other) },
    EventRow { deny: DenySupport::Prevents, ..row("TeammateIdle", Kind::Other) },
    EventRow { deny: DenySupport::Prevents, ..row("Elicitation", Kind::Other) },
    EventRow { deny: DenySupport::Prevents, ..row("ElicitationResult", Kind::Other) },
    EventRow { deny: DenySupport::Prevents, ..row("ConfigChange", Kind::Other) },
    row("CwdChanged", Kind::Other),
    row("DirectoryAdded", Kind::Other),
    EventRow {
        wiring: InstallWiring::Skip("fires only for file names given as a matcher"),
        ..row("FileChanged", Kind::Other)
    },
    EventRow {
        deny: DenySupport::Prevents,
        wiring: InstallWiring::Skip("a hook here replaces git's own creation of the worktree"),
        ..row("WorktreeCreate", Kind::Other)
    },
    EventRow {
        wiring: InstallWiring::Skip("a hook here replaces git's own removal of the worktree"),
        ..row("WorktreeRemove", Kind::Other)
    },
    EventRow {
        wiring: InstallWiring::Skip("fires for every piece of text on the screen and decides nothing"),
        ..row("MessageDisplay", Kind::Other)
    },
    EventRow { deny: DenySupport::Prevents, context: true, ..row("Stop", Kind::Stop) },
    row("StopFailure", Kind::Other),
    EventRow { deadline: Some(Duration::from_millis(1500)), ..row("SessionEnd", Kind::SessionEnd) },
];

const fn row(native: &'static str, kind: Kind) -> EventRow {
    EventRow::new(native, kind)
}
