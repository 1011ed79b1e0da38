// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Groups hooks into chains. The hooks of one chain run in order, and each sees the changes made by the hooks before
//! it.

use std::sync::Arc;

use serde_json::Value;
use tenterhook_event::{Finding, HookCall, Modification};
use tenterhook_harness::{CallPart, apply_to_native};

use crate::Hook;

/// Groups the selected hooks into units that run in parallel: a single hook, or all hooks of one chain. Returns
/// indexes into `selected`.
pub(crate) fn group_into_units(selected: &[Arc<Hook>]) -> Vec<Vec<usize>> {
    let mut units: Vec<(Option<&str>, Vec<usize>)> = Vec::with_capacity(selected.len());
    for (index, hook) in selected.iter().enumerate() {
        let chain = hook.chain.as_deref();
        match units.iter_mut().find(|(name, _)| name.is_some() && *name == chain) {
            Some((_, unit)) => unit.push(index),
            None => units.push((chain, vec![index])),
        }
    }
    units.into_iter().map(|(_, unit)| unit).collect()
}

/// Returns the call with this finding's changes applied, for the next hook of the chain; `None` if the finding
/// changes nothing.
pub(crate) fn apply_finding(call: &HookCall, finding: &Finding) -> Option<HookCall> {
    if finding.modifications.is_empty() && finding.context.is_none() {
        return None;
    }
    let mut next = call.clone();
    for modification in &finding.modifications {
        let event = &mut next.event;
        let part = match modification {
            Modification::ToolInput { merge, value } => {
                let Some(tool) = &mut event.tool else { continue };
                merge.apply(&mut tool.args, value);
                CallPart::ToolInput
            }
            Modification::ToolOutput { value } => {
                event.detail.tool_output = Some(value.clone());
                CallPart::ToolOutput
            }
            Modification::ModelRequest { merge, value } => {
                merge.apply(event.detail.model_request.get_or_insert(Value::Null), value);
                CallPart::ModelRequest
            }
            Modification::ModelResponse { merge, value } => {
                merge.apply(event.detail.model_response.get_or_insert(Value::Null), value);
                CallPart::ModelResponse
            }
            Modification::ToolSelection { .. } => continue,
        };
        apply_to_native(&mut next, part);
    }
    if let (Some(prompt), Some(context)) = (&mut next.event.detail.prompt, &finding.context) {
        *prompt = format!("{prompt}\n\n{context}");
        apply_to_native(&mut next, CallPart::Prompt);
    }
    Some(next)
}
