// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Outputs of hooks before the tool selection.

use serde_json::{Map, Value, json};

use super::HookOutput;
use crate::switches::Profile;
use crate::{js, translate};

/// `BeforeToolSelectionHookOutput` in LLxprt's hook documentation (seed 002 in `docs/seeds.md`).
#[derive(Debug, Clone, Copy)]
pub struct BeforeToolSelectionOutput<'a>(pub HookOutput<'a>);

impl<'a> BeforeToolSelectionOutput<'a> {
    /// The output of a hook before the tool selection.
    pub fn new(profile: &'a Profile, value: &'a Value) -> Self {
        Self(HookOutput::new(profile, "BeforeToolSelection", value))
    }

    /// Applies the hook's changes to the original `{toolConfig, tools}`.
    pub fn apply_tool_config_modifications(&self, target: &Value) -> Value {
        let Some(config) = self.0.specific("toolConfig").filter(|value| value.is_object()) else {
            return target.clone();
        };
        let mut applied = Map::new();
        js::spread(&mut applied, target);
        if js::field(target, "tools").is_none() {
            applied.insert("tools".into(), json!([]));
        }
        let mut tool_config = translate::from_hook_tool_config(config);
        if self.0.profile.merge_partial_config {
            tool_config = merged(target.get("toolConfig"), &tool_config);
        }
        if self.0.profile.names_beside_config
            && let (Some(names), Some(beside)) =
                (config.get("allowedFunctionNames"), tool_config.as_object_mut())
        {
            beside.insert("allowedFunctionNames".into(), names.clone());
        }
        applied.insert("toolConfig".into(), tool_config);
        applied.into()
    }
}

/// The original tool configuration, with the values that the hook sets.
fn merged(base: Option<&Value>, given: &Value) -> Value {
    let mut whole = Map::new();
    let mut calling = Map::new();
    if let Some(base) = base {
        js::spread(&mut whole, base);
    }
    for config in [base, Some(given)].into_iter().flatten() {
        if let Some(config) = config.get("functionCallingConfig") {
            js::spread(&mut calling, config);
        }
    }
    if !calling.is_empty() {
        whole.insert("functionCallingConfig".into(), calling.into());
    }
    whole.into()
}
