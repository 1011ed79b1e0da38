// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Qwen Code, on its own terms: Claude Code's events and form, Gemini's tools.

mod encode;
pub mod events;

use serde_json::{Map, Value};
use tenterhook_event::{Event, EventKind, Mcp};

use crate::{Harness, Keys, answer};

/// The row of the table.
pub const HARNESS: Harness = Harness {
    id: "qwen",
    title: "Qwen Code",
    proved_on: &["0.24.4"],
    events: events::EVENTS,
    project_variable: Some("QWEN_PROJECT_DIR"),
    keys: Keys::CLAUDE,
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: None,
    mcp_name: Mcp::from_tool_name,
    adapt,
    encode: encode::encode,
    refuse: answer::refuse_by_exit,
    neutral: |_| "",
};

/// After every batch of tools the client says `UserPromptSubmit` once more, with nothing in it: no
/// person has asked anything.
fn adapt(fields: &Map<String, Value>, event: &mut Event) {
    let empty = event.detail.prompt.as_deref().is_none_or(str::is_empty);
    if event.event == EventKind::Prompt && empty && !fields.contains_key("submitted_prompt") {
        event.event = EventKind::Other;
    }
}
