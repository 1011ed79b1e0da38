// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Merges outputs by the rules of the A3S hook design (seed 003 in `docs/seeds.md`): block takes precedence over
//! retry, and retry over continue.

use serde_json::{Map, Value, json};
use tenterhook_event::MergeMode;

use crate::js;
use crate::switches::{ObjectionEffect, ProfileEvent};

/// Default delay before a retry. The authors of the A3S hook design chose this value.
const RETRY_DELAY_MS: u64 = 1000;

/// Merges outputs, which must be sorted by priority.
///
/// A `skip` discards its own output and all later outputs. The A3S hook design contradicts itself about later hooks
/// ("this hook only", "remaining hooks"), but both readings keep earlier outputs.
pub(super) fn merge(row: Option<&ProfileEvent>, outputs: &[Value]) -> Value {
    let until_skip = outputs.iter().position(|output| has_action(output, "skip")).unwrap_or(outputs.len());
    let counted = || outputs.iter().take(until_skip);
    let event_blocks = row.is_none_or(|row| row.deny != ObjectionEffect::Nothing);
    if event_blocks {
        if let Some(block) = counted().find(|output| has_action(output, "block")) {
            let mut answer = Map::new();
            answer.insert("action".into(), "block".into());
            answer.extend(js::text(block, "reason").map(|reason| ("reason".to_owned(), reason.into())));
            return answer.into();
        }
        // The longest delay satisfies all hooks.
        let delay = |output: &Value| output.get("delay").and_then(Value::as_u64).unwrap_or(RETRY_DELAY_MS);
        if let Some(delay) = counted().filter(|output| has_action(output, "retry")).map(delay).max() {
            return json!({"action": "retry", "delay": delay});
        }
    }
    let mut modified: Option<Value> = None;
    for change in counted()
        .filter(|output| has_action(output, "continue"))
        .filter_map(|output| js::field(output, "modified"))
    {
        match &mut modified {
            Some(all) => MergeMode::Deep.apply(all, change),
            None => modified = Some(change.clone()),
        }
    }
    match modified {
        Some(modified) => json!({"action": "continue", "modified": modified}),
        None => json!({"action": "continue"}),
    }
}

fn has_action(output: &Value, action: &str) -> bool {
    output.get("action").is_some_and(|value| value == action)
}
