// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Chains: hooks of one group that run one after the other, each seeing what the ones before it
//! changed.

use std::sync::Arc;

use serde_json::Value;
use tenterhook_event::{Call, Finding, Modification, Native};

use crate::Hook;

/// The selected hooks, put into units that run at the same time: each hook by itself, or all hooks
/// of one chain together.
pub(crate) fn units(selected: &[Arc<Hook>]) -> Vec<Vec<usize>> {
    let mut units: Vec<(Option<&str>, Vec<usize>)> = Vec::with_capacity(selected.len());
    for (at, hook) in selected.iter().enumerate() {
        let chain = hook.chain.as_deref();
        match units.iter_mut().find(|(name, _)| name.is_some() && *name == chain) {
            Some((_, unit)) => unit.push(at),
            None => units.push((chain, vec![at])),
        }
    }
    units.into_iter().map(|(_, unit)| unit).collect()
}

/// The call as the next hook of the chain sees it; nothing if this one changed nothing.
pub(crate) fn after(call: &Call, finding: &Finding) -> Option<Call> {
    if finding.modifications.is_empty() && finding.context.is_none() {
        return None;
    }
    let mut next = call.clone();
    let event = &mut next.event;
    for modification in &finding.modifications {
        match modification {
            Modification::ToolInput { merge, value } => {
                if let Some(tool) = &mut event.tool {
                    merge.apply(&mut tool.args, value);
                    set_native(&mut next.native, "tool_input", &tool.args);
                }
            }
            Modification::ToolOutput { value } => {
                event.detail.tool_output = Some(value.clone());
                set_native(&mut next.native, "tool_response", value);
            }
            Modification::ModelRequest { merge, value } => {
                let request = event.detail.model_request.get_or_insert(Value::Null);
                merge.apply(request, value);
                set_native(&mut next.native, "llm_request", request);
            }
            Modification::ModelResponse { merge, value } => {
                let response = event.detail.model_response.get_or_insert(Value::Null);
                merge.apply(response, value);
                set_native(&mut next.native, "llm_response", response);
            }
            Modification::ToolSelection { .. } => {}
        }
    }
    if let (Some(prompt), Some(context)) = (&mut event.detail.prompt, &finding.context) {
        *prompt = format!("{prompt}\n\n{context}");
        let prompt = Value::String(prompt.clone());
        set_native(&mut next.native, "prompt", &prompt);
    }
    Some(next)
}

/// Brings a change into the native payload, where it has such a field.
fn set_native(native: &mut Option<Native>, key: &str, value: &Value) {
    let Some(native) = native else { return };
    let Some(field) = native.fields.get_mut(key) else { return };
    field.clone_from(value);
    // Serialising plain data to memory has nothing to fail on.
    native.bytes = serde_json::to_vec(&native.fields).unwrap_or_default();
}
