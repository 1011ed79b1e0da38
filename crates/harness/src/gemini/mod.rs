// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Gemini CLI, on its own terms. It ignores Claude Code's form without a word.

pub(crate) mod encode;
pub mod events;
mod wire;

use std::time::Duration;

use tenterhook_event::Mcp;

use crate::{Harness, Keys, answer};
use encode::Form;

/// The row of the table.
pub const HARNESS: Harness = Harness {
    id: "gemini",
    title: "Gemini CLI",
    proved_on: &["0.61.0"],
    events: events::EVENTS,
    project_variable: Some("GEMINI_PROJECT_DIR"),
    keys: KEYS,
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: Some(Duration::from_mins(1)),
    mcp_name: Mcp::from_tool_name,
    adapt: |_, _| {},
    encode: |row, call, outcome| encode::encode(Form::Gemini, row, call, outcome),
    refuse: answer::refuse_by_exit,
    neutral: |_| "",
};

pub(crate) const KEYS: Keys = Keys {
    turn: &[],
    model: &["llm_request.model"],
    mcp: &["mcp_context"],
    mcp_server: &["mcp_context.server_name"],
    mcp_tool: &["mcp_context.tool_name"],
    response: &["prompt_response"],
    message: &["message"],
    error: &["tool_response.error.message", "tool_response.error"],
    ..Keys::CLAUDE
};
