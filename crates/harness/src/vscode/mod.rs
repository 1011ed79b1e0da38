// SPDX-License-Identifier: Apache-2.0 OR MIT

//! VS Code's Copilot with the editor's own agent, on its own terms: Claude Code's form, nearly.

mod encode;
pub mod events;
#[cfg(feature = "install")]
mod install;

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
    #[cfg(feature = "install")]
    signs: crate::install::Signs {
        programs: &[],
        traces: &[
            ".config/Code/User/globalStorage/github.copilot-chat",
            "Library/Application Support/Code/User/globalStorage/github.copilot-chat",
        ],
    },
    #[cfg(feature = "install")]
    installer: Some(install::INSTALLER),
    #[cfg(feature = "install")]
    launch: Err("it runs inside an editor with a window"),
    #[cfg(feature = "transcript")]
    transcripts: None,
    mcp_name: Mcp::from_tool_name,
    adapt: |_, _| {},
    encode: encode::encode,
    refuse: answer::refuse_by_exit,
    neutral: |_| "",
};
