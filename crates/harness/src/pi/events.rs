// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Every event of pi that an extension can listen to, and what ours can do about it.

use tenterhook_event::EventKind as Kind;

use crate::{Ask, Deny, EventRow, Rewrite, Wiring};

/// The table; the order is that of a session's life.
pub const EVENTS: &[EventRow] = &[
    left("project_trust", "decides about files of the project, not about what the agent does"),
    row("session_start", Kind::SessionStart),
    left("resources_discover", "asks for paths of resources, and decides nothing"),
    left("mcp_servers_change", "marks an extension that connects MCP servers"),
    EventRow { deny: Deny::Prevents, ask: Ask::Wait, context: true, ..row("input", Kind::Prompt) },
    left("before_agent_start", "`input` has the prompt"),
    left("agent_start", NOISE),
    left("turn_start", NOISE),
    left("context", "carries the whole conversation at every turn"),
    left("context_with_system", "carries the whole conversation at every turn"),
    left("before_provider_headers", "may carry keys, and decides nothing"),
    EventRow { rewrite: Rewrite::ModelRequest, ..row("before_provider_request", Kind::PreModel) },
    left("after_provider_response", NOISE),
    left("provider_stream_event", NOISE),
    left("cache_warming_decision", NOISE),
    left("message_start", NOISE),
    left("message_update", NOISE),
    // Reported for the messages of the model only.
    row("message_end", Kind::PostModel),
    left("tool_execution_start", NOISE),
    EventRow {
        deny: Deny::Prevents,
        // pi has no permission prompts of its own.
        ask: Ask::Wait,
        rewrite: Rewrite::ToolInput,
        wiring: Wiring::Guard,
        ..row("tool_call", Kind::PreTool)
    },
    left("tool_execution_update", NOISE),
    EventRow {
        deny: Deny::Feedback,
        rewrite: Rewrite::ToolOutput,
        context: true,
        ..row("tool_result", Kind::PostTool)
    },
    left("tool_execution_end", NOISE),
    left("turn_end", NOISE),
    left("agent_end", NOISE),
    EventRow { deny: Deny::Prevents, ..row("agent_before_settle", Kind::Stop) },
    left("agent_settled", NOISE),
    // A command that the user typed after `!`: it is recorded, not judged.
    row("user_bash", Kind::Other),
    EventRow { deny: Deny::Prevents, ..row("session_before_compact", Kind::PreCompact) },
    row("session_compact", Kind::PostCompact),
    left("session_compact_failed", NOISE),
    left("session_info_changed", NOISE),
    left("session_before_switch", NOISE),
    left("session_before_fork", NOISE),
    left("session_before_tree", NOISE),
    left("session_tree", NOISE),
    left("model_select", NOISE),
    left("thinking_level_select", NOISE),
    left("ui_prompt_start", NOISE),
    left("ui_prompt_end", NOISE),
    row("session_shutdown", Kind::SessionEnd),
];

const NOISE: &str = "other events say the same, or it is about the screen";

const fn row(native: &'static str, kind: Kind) -> EventRow {
    EventRow::new(native, kind)
}

const fn left(native: &'static str, why: &'static str) -> EventRow {
    EventRow { wiring: Wiring::Left(why), ..row(native, Kind::Other) }
}
