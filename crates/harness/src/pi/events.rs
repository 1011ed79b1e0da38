// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The events of pi that an extension can observe, and what Tenterhook's extension can do for each of them.

use tenterhook_event::EventKind as Kind;

use crate::{AskSupport, DenySupport, EventRow, InstallWiring, RewriteSupport};

/// The events, in the order in which they occur in a session.
pub const EVENTS: &[EventRow] = &[
    skip("project_trust", "decides about files of the project, not about the agent's actions"),
    row("session_start", Kind::SessionStart),
    skip("resources_discover", "asks for paths of resources, and decides nothing"),
    skip("mcp_servers_change", "reports changes of MCP servers, which Tenterhook does not need"),
    EventRow {
        deny: DenySupport::Prevents,
        ask: AskSupport::Wait,
        context: true,
        ..row("input", Kind::Prompt)
    },
    skip("before_agent_start", "`input` has the prompt"),
    skip("agent_start", NOISE),
    skip("turn_start", NOISE),
    skip("context", "contains the whole conversation at every turn"),
    skip("context_with_system", "contains the whole conversation at every turn"),
    skip("before_provider_headers", "may contain keys, and decides nothing"),
    EventRow { rewrite: RewriteSupport::ModelRequest, ..row("before_provider_request", Kind::PreModel) },
    skip("after_provider_response", NOISE),
    skip("provider_stream_event", NOISE),
    skip("cache_warming_decision", NOISE),
    skip("message_start", NOISE),
    skip("message_update", NOISE),
    // The event is reported for messages from the model only.
    row("message_end", Kind::PostModel),
    skip("tool_execution_start", NOISE),
    EventRow {
        deny: DenySupport::Prevents,
        // pi has no permission prompts.
        ask: AskSupport::Wait,
        rewrite: RewriteSupport::ToolInput,
        wiring: InstallWiring::Guard,
        ..row("tool_call", Kind::PreTool)
    },
    skip("tool_execution_update", NOISE),
    EventRow {
        deny: DenySupport::Feedback,
        rewrite: RewriteSupport::ToolOutput,
        context: true,
        ..row("tool_result", Kind::PostTool)
    },
    skip("tool_execution_end", NOISE),
    skip("turn_end", NOISE),
    skip("agent_end", NOISE),
    EventRow { deny: DenySupport::Prevents, ..row("agent_before_settle", Kind::Stop) },
    skip("agent_settled", NOISE),
    // The user typed this command after `!`. It is recorded, but rules do not evaluate it.
    row("user_bash", Kind::Other),
    EventRow { deny: DenySupport::Prevents, ..row("session_before_compact", Kind::PreCompact) },
    row("session_compact", Kind::PostCompact),
    skip("session_compact_failed", NOISE),
    skip("session_info_changed", NOISE),
    skip("session_before_switch", NOISE),
    skip("session_before_fork", NOISE),
    skip("session_before_tree", NOISE),
    skip("session_tree", NOISE),
    skip("model_select", NOISE),
    skip("thinking_level_select", NOISE),
    skip("ui_prompt_start", NOISE),
    skip("ui_prompt_end", NOISE),
    row("session_shutdown", Kind::SessionEnd),
];

const NOISE: &str = "repeats other events, or concerns only the screen";

const fn row(native: &'static str, kind: Kind) -> EventRow {
    EventRow::new(native, kind)
}

const fn skip(native: &'static str, why: &'static str) -> EventRow {
    EventRow { wiring: InstallWiring::Skip(why), ..row(native, Kind::Other) }
}
