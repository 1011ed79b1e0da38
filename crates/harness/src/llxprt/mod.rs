// SPDX-License-Identifier: Apache-2.0 OR MIT

//! LLxprt Code, on its own terms: Gemini CLI's form, with differences in what becomes of it.

pub mod events;

use std::time::Duration;

use serde_json::{Map, Value};
use tenterhook_event::{Event, EventKind, Mcp};

use crate::gemini::{self, encode::Form};
use crate::{Harness, answer};

/// The row of the table.
pub const HARNESS: Harness = Harness {
    id: "llxprt",
    title: "LLxprt Code",
    proved_on: &["0.11.0"],
    events: events::EVENTS,
    project_variable: Some("LLXPRT_PROJECT_DIR"),
    keys: gemini::KEYS,
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: Some(Duration::from_mins(1)),
    mcp_name: |name| Mcp::from_tool_name(name).or_else(|| Mcp::split(name, "__")),
    adapt,
    encode: |row, call, outcome| gemini::encode::encode(Form::Llxprt, row, call, outcome),
    refuse: answer::refuse_by_exit,
    neutral: |_| "",
};

/// `BeforeAgent` and `AfterAgent` come around every answer of the model. Only the first has a prompt and only the last
/// a response; the others are neither a prompt nor the end of a turn. A deny at an `AfterAgent` in the middle
/// of a turn would break off the turn and let the tool calls of the answer run.
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
