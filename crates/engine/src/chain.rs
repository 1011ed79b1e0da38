// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Chains: hooks of one group that run one after the other, each seeing what the ones before it
//! changed.

use std::sync::Arc;

use serde_json::Value;
use tenterhook_event::{Call, Finding, Modification};
use tenterhook_harness::{Part, carry};

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
    for modification in &finding.modifications {
        let event = &mut next.event;
        let part = match modification {
            Modification::ToolInput { merge, value } => {
                let Some(tool) = &mut event.tool else { continue };
                merge.apply(&mut tool.args, value);
                Part::ToolInput
            }
            Modification::ToolOutput { value } => {
                event.detail.tool_output = Some(value.clone());
                Part::ToolOutput
            }
            Modification::ModelRequest { merge, value } => {
                merge.apply(event.detail.model_request.get_or_insert(Value::Null), value);
                Part::ModelRequest
            }
            Modification::ModelResponse { merge, value } => {
                merge.apply(event.detail.model_response.get_or_insert(Value::Null), value);
                Part::ModelResponse
            }
            Modification::ToolSelection { .. } => continue,
        };
        carry(&mut next, part);
    }
    if let (Some(prompt), Some(context)) = (&mut next.event.detail.prompt, &finding.context) {
        *prompt = format!("{prompt}\n\n{context}");
        carry(&mut next, Part::Prompt);
    }
    Some(next)
}
