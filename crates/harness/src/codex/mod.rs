// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codec for Codex CLI and Codex Desktop. Both read the same configuration, so a Desktop session usually arrives as
//! `codex`. The id `codex-desktop` is for callers that can distinguish the two programs.

mod encode;
pub mod events;

use std::time::Duration;

use tenterhook_event::McpToolId;

use crate::{Harness, PayloadKeys, VersionGap, outcome_encoding};

/// Codex CLI's row of the harness table.
pub const HARNESS: Harness = Harness {
    id: "codex",
    title: "Codex CLI",
    proved_on: &["0.166.0"],
    events: events::EVENTS,
    project_variable: None,
    headless_sign: None,
    keys: PayloadKeys { turn: &["turn_id"], ..PayloadKeys::CLAUDE },
    unhooked_stdin: true,
    // Measured on 0.150.0, 0.154.0, 0.158.0, 0.160.1, 0.162.1, 0.164.0 and 0.165.0.
    version_gaps: &[VersionGap {
        fixed_in: "0.166.0",
        description: "does not tell hooks in which directory a command runs (`workdir`); Tenterhook evaluates the command in the directory of the session",
    }],
    deadline: Some(Duration::from_mins(10)),
    mcp_name: McpToolId::from_tool_name,
    adapt: |_, _| {},
    encode: encode::encode,
    refuse: outcome_encoding::refuse_by_exit,
    neutral: |_| "",
};

/// Codex Desktop's row of the harness table.
pub const DESKTOP: Harness = Harness {
    id: "codex-desktop",
    title: "Codex Desktop",
    proved_on: &[],
    // Desktop uses its own version numbers.
    version_gaps: &[],
    // Desktop uses the hooks that are registered for the CLI.
    ..HARNESS
};
