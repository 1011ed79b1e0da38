// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codec for VS Code Copilot with the editor's built-in agent, whose format is nearly the same as Claude Code's.

mod encode;
pub mod events;

use std::time::Duration;

use tenterhook_event::McpToolId;

use crate::{Harness, PayloadKeys, outcome_encoding};

/// VS Code Copilot's row of the harness table.
pub const HARNESS: Harness = Harness {
    id: "vscode",
    title: "VS Code Copilot",
    proved_on: &[],
    events: events::EVENTS,
    project_variable: None,
    headless_sign: None,
    keys: PayloadKeys {
        event: &["hookEventName", "hook_event_name"],
        session: &["sessionId", "session_id"],
        turn: &[],
        ..PayloadKeys::CLAUDE
    },
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: Some(Duration::from_secs(30)),
    mcp_name: McpToolId::from_tool_name,
    adapt: |_, _| {},
    encode: encode::encode,
    refuse: outcome_encoding::refuse_by_exit,
    neutral: |_| "",
};
