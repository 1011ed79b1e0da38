// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codex CLI and Codex Desktop, on their own terms. Both read one configuration, so that a Desktop
//! session usually comes in as `codex`; `codex-desktop` is there for what can tell them apart.

mod encode;
pub mod events;

use std::time::Duration;

use tenterhook_event::Mcp;

use crate::{Harness, Keys, VersionGap, answer};

/// The row of the table.
pub const HARNESS: Harness = Harness {
    id: "codex",
    title: "Codex CLI",
    proved_on: &["0.166.0"],
    events: events::EVENTS,
    project_variable: None,
    keys: Keys { turn: &["turn_id"], ..Keys::CLAUDE },
    unhooked_stdin: true,
    // Measured on 0.150.0, 0.154.0, 0.158.0, 0.160.1, 0.162.1, 0.164.0 and 0.165.0.
    version_gaps: &[VersionGap {
        fixed_in: "0.166.0",
        says: "does not tell hooks in which directory a command runs (`workdir`), so that it is judged in the directory of the session",
    }],
    deadline: Some(Duration::from_mins(10)),
    mcp_name: Mcp::from_tool_name,
    adapt: |_, _| {},
    encode: encode::encode,
    refuse: answer::refuse_by_exit,
    neutral: |_| "",
};

/// The Desktop program's row.
pub const DESKTOP: Harness = Harness {
    id: "codex-desktop",
    title: "Codex Desktop",
    proved_on: &[],
    // Its versions have other numbers.
    version_gaps: &[],
    // They are in the same place as the other's, and are its.
    ..HARNESS
};
