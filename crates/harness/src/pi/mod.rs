// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codec for pi. Its hooks are functions of an extension, so Tenterhook installs an extension that calls the hook
//! program. The payload and the reply have Tenterhook's own formats. The payload has Claude Code's keys with pi's
//! names for events and tools:
//!
//! ```json
//! {"hook_event_name": "tool_call", "session_id": "s", "cwd": "/w", "tool_name": "bash",
//!  "tool_input": {"command": "make"}, "tool_use_id": "c"}
//! ```
//!
//! If a call was made by another tool, such as a `codemode` script, `parent_tool_use_id` is that tool's id. The reply
//! is a [`PluginReply`](crate::PluginReply).

pub mod events;

use tenterhook_event::McpToolId;

use crate::{Harness, PayloadKeys, plugin_reply};

/// pi's row of the harness table.
pub const HARNESS: Harness = Harness {
    id: "pi",
    title: "pi",
    proved_on: &["1.5.0"],
    events: events::EVENTS,
    project_variable: None,
    headless_sign: None,
    // `command` is the text that the user ran with `!`.
    keys: PayloadKeys { message: &["command", "custom_instructions"], ..PayloadKeys::CLAUDE },
    unhooked_stdin: false,
    version_gaps: &[],
    // pi waits without a time limit, so the extension sets its own deadline.
    deadline: None,
    mcp_name: McpToolId::from_tool_name,
    adapt: |_, _| {},
    encode: plugin_reply::encode,
    refuse: plugin_reply::refuse,
    neutral: |_| "",
};
