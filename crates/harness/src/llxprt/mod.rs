// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codec for LLxprt Code, which uses Gemini CLI's format with different effects.

pub mod events;

use std::time::Duration;

use serde_json::{Map, Value};
use tenterhook_event::{Event, EventKind, McpToolId};

use crate::gemini::{self, encode::GeminiVariant};
use crate::{Harness, outcome_encoding};

/// LLxprt Code's row of the harness table.
pub const HARNESS: Harness = Harness {
    id: "llxprt",
    title: "LLxprt Code",
    proved_on: &["0.11.0"],
    events: events::EVENTS,
    project_variable: Some("LLXPRT_PROJECT_DIR"),
    headless_sign: None,
    keys: gemini::KEYS,
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: Some(Duration::from_mins(1)),
    mcp_name: |name| McpToolId::from_tool_name(name).or_else(|| McpToolId::split(name, "__")),
    adapt,
    encode: |row, call, outcome| gemini::encode::encode(GeminiVariant::Llxprt, row, call, outcome),
    refuse: outcome_encoding::refuse_by_exit,
    neutral: |_| "",
};

/// Corrects `BeforeAgent` and `AfterAgent`, which LLxprt Code fires around every model response. Only the first
/// `BeforeAgent` has a prompt, and only the last `AfterAgent` has a response. The others are neither a prompt nor the
/// end of a turn. A deny for an `AfterAgent` in the middle of a turn would end the turn, but the tool calls of the
/// response would still run.
fn adapt(_: &Map<String, Value>, event: &mut Event) {
    let detail = &event.detail;
    let is_empty = match event.event {
        EventKind::Prompt => detail.prompt.as_deref().is_none_or(str::is_empty),
        EventKind::Stop => detail.response.as_deref().is_some_and(str::is_empty),
        _ => false,
    };
    if is_empty {
        event.event = EventKind::Other;
    }
}
