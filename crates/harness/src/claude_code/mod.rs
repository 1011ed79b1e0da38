// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Claude Code, on its own terms.
//!
//! What the client does was measured by running it; `docs/compatibility.md` has the rows that
//! differ from its documentation.

#[cfg(feature = "install")]
pub mod adopt;
mod encode;
pub mod events;
#[cfg(feature = "install")]
pub mod install;
#[cfg(feature = "install")]
mod launch;
#[cfg(feature = "install")]
mod remote_settings;
#[cfg(feature = "transcript")]
mod transcript;
#[cfg(feature = "transcript")]
mod usage;
pub mod wire;

use std::time::Duration;

use tenterhook_event::Mcp;

use crate::{Harness, Keys};
pub(crate) use encode::{encode, refuse};

const ID: &str = "claude-code";

/// The row of the table.
pub const HARNESS: Harness = Harness {
    id: ID,
    title: "Claude Code",
    proved_on: &["2.1.325"],
    events: events::EVENTS,
    project_variable: Some("CLAUDE_PROJECT_DIR"),
    keys: Keys::CLAUDE,
    unhooked_stdin: false,
    version_gaps: &[],
    deadline: Some(Duration::from_mins(10)),
    #[cfg(feature = "install")]
    signs: crate::install::Signs { programs: &["claude"], traces: &[".claude"] },
    #[cfg(feature = "install")]
    installer: Some(install::INSTALLER),
    #[cfg(feature = "install")]
    launch: Ok(launch::LAUNCH),
    #[cfg(feature = "transcript")]
    transcripts: Some(transcript::TRANSCRIPTS),
    mcp_name: Mcp::from_tool_name,
    adapt: |_, _| {},
    encode,
    refuse,
    neutral: |_| "",
};
