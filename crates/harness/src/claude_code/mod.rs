// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Claude Code, on its own terms.
//!
//! What the client does was measured by running it; `docs/compatibility.md` has the rows that
//! differ from its documentation.

mod encode;
pub mod events;
pub mod wire;

use std::time::Duration;

use tenterhook_event::Mcp;

use crate::{Harness, Keys};
pub(crate) use encode::{encode, refuse};

/// The row of the table.
pub const HARNESS: Harness = Harness {
    id: "claude-code",
    title: "Claude Code",
    proved_on: &["2.1.325"],
    events: events::EVENTS,
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    keys: Keys::CLAUDE,
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: Some(Duration::from_mins(10)),
    mcp_name: Mcp::from_tool_name,
    adapt: |_, _| {},
    encode,
    refuse,
    neutral: |_| "",
};
