// SPDX-License-Identifier: Apache-2.0 OR MIT

//! LLxprt Code, on its own terms: Gemini CLI's form, with differences in what becomes of it.

pub mod events;
#[cfg(feature = "install")]
mod install;

use std::time::Duration;

use tenterhook_event::Mcp;

use crate::gemini::{self, encode::Form};
use crate::{Harness, answer};

/// The row of the table.
pub const HARNESS: Harness = Harness {
    id: "llxprt",
    title: "LLxprt Code",
    proved_on: &[],
    events: events::EVENTS,
    project_variable: Some("LLXPRT_PROJECT_DIR"),
    keys: gemini::KEYS,
    deadline: Some(Duration::from_mins(1)),
    #[cfg(feature = "install")]
    signs: crate::install::Signs { programs: &["llxprt"], traces: &[".config/llxprt-code", ".llxprt"] },
    #[cfg(feature = "install")]
    installer: Some(install::INSTALLER),
    #[cfg(feature = "transcript")]
    transcripts: None,
    mcp_name: |name| Mcp::from_tool_name(name).or_else(|| Mcp::split(name, "__")),
    adapt: |_, _| {},
    encode: |row, call, outcome| gemini::encode::encode(Form::Llxprt, row, call, outcome),
    refuse: answer::refuse_by_exit,
    neutral: |_| "",
};
