// SPDX-License-Identifier: Apache-2.0 OR MIT

//! VS Code's Copilot with the editor's own agent, on its own terms: Claude Code's form, nearly.

mod encode;
pub mod events;

use std::time::Duration;

use tenterhook_event::Mcp;

use crate::{Harness, Keys, answer};

/// The row of the table.
pub const HARNESS: Harness = Harness {
    id: "vscode",
    title: "VS Code Copilot",
    proved_on: &[],
    events: events::EVENTS,
    project_variable: None,
    keys: Keys {
        event: &["hookEventName", "hook_event_name"],
        session: &["sessionId", "session_id"],
        turn: &[],
        ..Keys::CLAUDE
    },
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: Some(Duration::from_secs(30)),
    mcp_name: Mcp::from_tool_name,
    adapt: |_, _| {},
    encode: encode::encode,
    refuse: answer::refuse_by_exit,
    neutral: |_| "",
};
