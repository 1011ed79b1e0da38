// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codec for pi. Its hooks are functions of an extension, so Tenterhook installs one that calls the hook program. Payload and
//! reply are Tenterhook's own formats. The payload has Claude Code's keys with pi's names of events and tools:
//!
//! ```json
//! {"hook_event_name": "tool_call", "session_id": "s", "cwd": "/w", "tool_name": "bash",
//!  "tool_input": {"command": "make"}, "tool_use_id": "c"}
//! ```
//!
//! A call that was made by another tool, such as a `codemode` script, has that tool's id as `parent_tool_use_id`. The
//! reply is a [`PluginReply`](crate::PluginReply).

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
    // `command` is the text that the user ran with `!`.
    keys: PayloadKeys { message: &["command", "custom_instructions"], ..PayloadKeys::CLAUDE },
    unhooked_stdin: false,
    version_gaps: &[],
    // pi waits without a limit; the extension sets its own deadline.
    deadline: None,
    mcp_name: McpToolId::from_tool_name,
    adapt: |_, _| {},
    encode: plugin_reply::encode,
    refuse: plugin_reply::refuse,
    neutral: |_| "",
};
