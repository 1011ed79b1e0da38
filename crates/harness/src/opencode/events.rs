// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every hook of an OpenCode plugin and every event of its bus that is known, and what our plugin can
//! do about each.

use tenterhook_event::EventKind as Kind;

use crate::{Ask, Deny, EventRow, Rewrite, Wiring};

/// The table: first the hooks, then the events of the bus, which can only be watched.
pub const EVENTS: &[EventRow] = &[
    // The text of the message can be taken out before the model reads it.
    EventRow { deny: Deny::Prevents, ask: Ask::Wait, context: true, ..row("chat.message", Kind::Prompt) },
    EventRow { rewrite: Rewrite::ModelRequest, ..row("chat.params", Kind::PreModel) },
    left("chat.headers", "may carry keys, and decides nothing"),
    EventRow { context: true, ..row("experimental.chat.system.transform", Kind::Other) },
    left("experimental.chat.messages.transform", "carries the whole conversation at every turn"),
    left("tool.definition", "fires for every tool at every turn"),
    EventRow {
        deny: Deny::Prevents,
        // Its own question comes after this hook, and headless it is a no.
        ask: Ask::Wait,
        rewrite: Rewrite::ToolInput,
        wiring: Wiring::Guard,
        ..row("tool.execute.before", Kind::PreTool)
    },
    EventRow {
        deny: Deny::Feedback,
        rewrite: Rewrite::ToolOutput,
        context: true,
        ..row("tool.execute.after", Kind::PostTool)
    },
    row("experimental.text.complete", Kind::PostModel),
    EventRow { context: true, ..row("experimental.session.compacting", Kind::PreCompact) },
    left("experimental.compaction.autocontinue", "decides nothing that is not said elsewhere"),
    left("experimental.provider.small_model", "decides nothing that is not said elsewhere"),
    row("command.execute.before", Kind::Other),
    left("shell.env", "carries the environment of every command"),
    left("permission.ask", "is typed, and never called"),
    left("config", "may carry keys, and decides nothing"),
    left("dispose", "comes when nobody can be asked any more"),
    row("session.created", Kind::SessionStart),
    left("session.updated", NOISE),
    left("session.status", NOISE),
    row("session.idle", Kind::Stop),
    left("session.diff", NOISE),
    row("session.error", Kind::Other),
    row("session.compacted", Kind::PostCompact),
    row("session.deleted", Kind::SessionEnd),
    left("message.updated", NOISE),
    left("message.part.updated", NOISE),
    left("message.part.delta", NOISE),
    left("file.edited", NOISE),
    left("file.watcher.updated", NOISE),
    row("permission.asked", Kind::PermissionRequest),
    // Which of the two it was, the payload says.
    row("permission.replied", Kind::Other),
    left("plugin.added", NOISE),
    left("catalog.updated", NOISE),
    left("integration.updated", NOISE),
    left("reference.updated", NOISE),
];

const NOISE: &str = "fires often and says what other events say";

const fn row(native: &'static str, kind: Kind) -> EventRow {
    EventRow::new(native, kind)
}

const fn left(native: &'static str, why: &'static str) -> EventRow {
    EventRow { wiring: Wiring::Left(why), ..row(native, Kind::Other) }
}
