// SPDX-License-Identifier: Apache-2.0 OR MIT

//! pi. Its hooks are functions of an extension, so that ours calls us: payload and reply are our own. The payload has the
//! names of Claude Code's and pi's names of events and tools:
//!
//! ```json
//! {"hook_event_name": "tool_call", "session_id": "s", "cwd": "/w", "tool_name": "bash",
//!  "tool_input": {"command": "make"}, "tool_use_id": "c"}
//! ```
//!
//! A call that another tool made, such as a script of `codemode`, has that tool's id as `parent_tool_use_id`. The reply is
//! a [`PluginReply`](crate::PluginReply).

pub mod events;

use tenterhook_event::Mcp;

use crate::{Harness, Keys, plugin_reply};

/// The row of the table.
pub const HARNESS: Harness = Harness {
    id: "pi",
    title: "pi",
    proved_on: &["1.5.0"],
    events: events::EVENTS,
    project_variable: None,
    // `command` is what the user ran with `!`.
    keys: Keys { message: &["command", "custom_instructions"], ..Keys::CLAUDE },
    unhooked_stdin: false,
    version_gaps: &[],
    // It waits without a limit: the extension has a deadline of its own.
    deadline: None,
    mcp_name: Mcp::from_tool_name,
    adapt: |_, _| {},
    encode: plugin_reply::encode,
    refuse: plugin_reply::refuse,
    neutral: |_| "",
};
