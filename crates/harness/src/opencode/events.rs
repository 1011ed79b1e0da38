// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The hooks of an OpenCode plugin and the events of OpenCode's event bus, and what Tenterhook's plugin can do for
//! each of them.

use tenterhook_event::EventKind as Kind;

use crate::{AskSupport, DenySupport, EventRow, InstallWiring, RewriteSupport};

/// The hooks, followed by the events of the event bus. Events of the bus can only be observed.
pub const EVENTS: &[EventRow] = &[
    // The plugin can remove the message's text before the model reads it.
    EventRow {
        deny: DenySupport::Prevents,
        ask: AskSupport::Wait,
        context: true,
        ..row("chat.message", Kind::Prompt)
    },
    EventRow { rewrite: RewriteSupport::ModelRequest, ..row("chat.params", Kind::PreModel) },
    skip("chat.headers", "may contain keys, and decides nothing"),
    EventRow { context: true, ..row("experimental.chat.system.transform", Kind::Other) },
    skip("experimental.chat.messages.transform", "contains the whole conversation at every turn"),
    skip("tool.definition", "fires for every tool at every turn"),
    EventRow {
        deny: DenySupport::Prevents,
        // The client's own prompt follows this hook; without a terminal, the client denies the call.
        ask: AskSupport::Wait,
        rewrite: RewriteSupport::ToolInput,
        wiring: InstallWiring::Guard,
        ..row("tool.execute.before", Kind::PreTool)
    },
    EventRow {
        deny: DenySupport::Feedback,
        rewrite: RewriteSupport::ToolOutput,
        context: true,
        ..row("tool.execute.after", Kind::PostTool)
    },
    row("experimental.text.complete", Kind::PostModel),
    EventRow { context: true, ..row("experimental.session.compacting", Kind::PreCompact) },
    skip("experimental.compaction.autocontinue", "decides nothing that other events do not cover"),
    skip("experimental.provider.small_model", "decides nothing that other events do not cover"),
    row("command.execute.before", Kind::Other),
    skip("shell.env", "contains the environment of every command"),
    skip("permission.ask", "is declared but never called"),
    skip("config", "may contain keys, and decides nothing"),
    skip("dispose", "fires when no reply can be read any more"),
    row("session.created", Kind::SessionStart),
    skip("session.updated", NOISE),
    skip("session.status", NOISE),
    row("session.idle", Kind::Stop),
    skip("session.diff", NOISE),
    row("session.error", Kind::Other),
    row("session.compacted", Kind::PostCompact),
    row("session.deleted", Kind::SessionEnd),
    skip("message.updated", NOISE),
    skip("message.part.updated", NOISE),
    skip("message.part.delta", NOISE),
    skip("file.edited", NOISE),
    skip("file.watcher.updated", NOISE),
    row("permission.asked", Kind::PermissionRequest),
    // The payload says whether the permission was granted or denied.
    row("permission.replied", Kind::Other),
    skip("plugin.added", NOISE),
    skip("catalog.updated", NOISE),
    skip("integration.updated", NOISE),
    skip("reference.updated", NOISE),
];

const NOISE: &str = "fires often and repeats other events";

const fn row(native: &'static str, kind: Kind) -> EventRow {
    EventRow::new(native, kind)
}

const fn skip(native: &'static str, why: &'static str) -> EventRow {
    EventRow { wiring: InstallWiring::Skip(why), ..row(native, Kind::Other) }
}
