// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codec for Claude Code.
//!
//! The client's behaviour was measured by running it. `docs/compatibility.md` lists where the behaviour differs from
//! the client's documentation.

mod encode;
pub mod events;
pub mod wire;

use std::time::Duration;

use tenterhook_event::McpToolId;

use crate::{Harness, PayloadKeys};
pub(crate) use encode::{encode, refuse};

/// Claude Code's row of the harness table.
pub const HARNESS: Harness = Harness {
    id: "claude-code",
    title: "Claude Code",
    proved_on: &["2.1.325"],
    events: events::EVENTS,
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    headless_sign: Some(("CLAUDE_CODE_ENTRYPOINT", "sdk-cli")),
    keys: PayloadKeys::CLAUDE,
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: Some(Duration::from_mins(10)),
    mcp_name: McpToolId::from_tool_name,
    adapt: |_, _| {},
    encode,
    refuse,
    neutral: |_| "",
};
