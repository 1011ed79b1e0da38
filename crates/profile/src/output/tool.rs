// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Outputs of hooks before a tool call.

use serde_json::{Map, Value};

use super::HookOutput;
use crate::switches::Profile;

/// `BeforeToolHookOutput` in LLxprt's hook documentation (seed 002 in `docs/seeds.md`).
#[derive(Debug, Clone, Copy)]
pub struct BeforeToolOutput<'a>(pub HookOutput<'a>);

impl<'a> BeforeToolOutput<'a> {
    /// The output of a hook before a tool call.
    pub fn new(profile: &'a Profile, value: &'a Value) -> Self {
        Self(HookOutput::new(profile, "BeforeTool", value))
    }

    /// The complete new input of the tool.
    pub fn modified_tool_input(&self) -> Option<&'a Map<String, Value>> {
        self.0.specific("tool_input")?.as_object()
    }
}
