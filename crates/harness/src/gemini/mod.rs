// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codec for Gemini CLI. The client silently ignores output in Claude Code's format.

pub(crate) mod encode;
pub mod events;
mod wire;

use std::time::Duration;

use tenterhook_event::McpToolId;

use crate::{Harness, PayloadKeys, outcome_encoding};
use encode::GeminiVariant;

/// Gemini CLI's row of the harness table.
pub const HARNESS: Harness = Harness {
    id: "gemini",
    title: "Gemini CLI",
    proved_on: &["0.61.0"],
    events: events::EVENTS,
    project_variable: Some("GEMINI_PROJECT_DIR"),
    headless_sign: None,
    keys: KEYS,
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: Some(Duration::from_mins(1)),
    mcp_name: McpToolId::from_tool_name,
    adapt: |_, _| {},
    encode: |row, call, outcome| encode::encode(GeminiVariant::Gemini, row, call, outcome),
    refuse: outcome_encoding::refuse_by_exit,
    neutral: |_| "",
};

pub(crate) const KEYS: PayloadKeys = PayloadKeys {
    turn: &[],
    model: &["llm_request.model"],
    mcp: &["mcp_context"],
    mcp_server: &["mcp_context.server_name"],
    mcp_tool: &["mcp_context.tool_name"],
    response: &["prompt_response"],
    message: &["message"],
    error: &["tool_response.error.message", "tool_response.error"],
    ..PayloadKeys::CLAUDE
};
