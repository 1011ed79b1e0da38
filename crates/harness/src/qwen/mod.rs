// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codec for Qwen Code, which uses Claude Code's events and format with Gemini's tools.

mod encode;
pub mod events;

use serde_json::{Map, Value};
use tenterhook_event::{Event, EventKind, McpToolId};

use crate::{Harness, PayloadKeys, outcome_encoding};

/// Qwen Code's row of the harness table.
pub const HARNESS: Harness = Harness {
    id: "qwen",
    title: "Qwen Code",
    proved_on: &["0.24.4"],
    events: events::EVENTS,
    project_variable: Some("QWEN_PROJECT_DIR"),
    headless_sign: None,
    keys: PayloadKeys::CLAUDE,
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: None,
    mcp_name: McpToolId::from_tool_name,
    adapt,
    encode: encode::encode,
    refuse: outcome_encoding::refuse_by_exit,
    neutral: |_| "",
};

/// Corrects prompt events: after every batch of tools, the client fires `UserPromptSubmit` again with an empty
/// prompt, although the user submitted nothing.
fn adapt(fields: &Map<String, Value>, event: &mut Event) {
    let empty = event.detail.prompt.as_deref().is_none_or(str::is_empty);
    if event.event == EventKind::Prompt && empty && !fields.contains_key("submitted_prompt") {
        event.event = EventKind::Other;
    }
}
