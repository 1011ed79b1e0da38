// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tokens and cost, where a payload says them. Nothing is estimated.

use serde::Serialize;
use serde_json::{Map, Value};
use tenterhook_event::Event;

/// What was said about tokens and money.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub(super) struct Usage {
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) input_tokens: u64,
    #[serde(skip_serializing_if = "is_zero")]
    pub(super) output_tokens: u64,
    /// How full the context was when a harness last said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) context_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) cost_usd: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Usage {
    /// Reads what an event says. The answers of a model add up; a total replaces the one before.
    pub(super) fn read(&mut self, event: &Event, native: Option<&Map<String, Value>>) {
        if let Some(answer) = &event.detail.model_response {
            let usage = ["usageMetadata", "usage"].iter().find_map(|key| answer.get(key));
            let number = |keys: &[&str]| keys.iter().find_map(|key| usage?.get(key)?.as_u64()).unwrap_or(0);
            self.input_tokens += number(&["promptTokenCount", "input_tokens", "prompt_tokens"]);
            self.output_tokens += number(&["candidatesTokenCount", "output_tokens", "completion_tokens"]);
        }
        let Some(native) = native else { return };
        if let Some(number) = native.get("context_tokens").and_then(Value::as_u64) {
            self.context_tokens = Some(number);
        }
        let cost = native.get("total_cost_usd").or_else(|| native.get("cost")?.get("total_cost_usd"));
        if let Some(cost) = cost.and_then(Value::as_f64) {
            self.cost_usd = Some(cost);
        }
    }
}
