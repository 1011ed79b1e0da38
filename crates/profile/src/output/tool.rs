// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Before a tool runs.

use serde_json::{Map, Value};

use super::HookOutput;
use crate::switches::Profile;

/// Seed 002's `BeforeToolHookOutput`.
#[derive(Debug, Clone, Copy)]
pub struct BeforeToolOutput<'a>(pub HookOutput<'a>);

impl<'a> BeforeToolOutput<'a> {
    /// What was said before a tool.
    pub fn new(profile: &'a Profile, value: &'a Value) -> Self {
        Self(HookOutput::new(profile, "BeforeTool", value))
    }

    /// The input the tool should run with instead: the whole of it, not a part.
    pub fn modified_tool_input(&self) -> Option<&'a Map<String, Value>> {
        self.0.specific("tool_input")?.as_object()
    }
}
