// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Seed 002's `ProcessedHookResult`: the fields every output has, read hook by hook.
//!
//! It disagrees with the aggregate, as in the original: there texts are joined and `suppressOutput` is
//! any hook's; here the first hook that says something wins.

use serde::Serialize;
use serde_json::Value;

use crate::aggregate::Aggregated;
use crate::js;

/// An aggregate and what the harness is to do about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Processed {
    /// The aggregate itself.
    pub aggregated: Aggregated,
    /// Whether to end here.
    pub should_stop: bool,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// What to tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// Whether to keep quiet about it.
    pub suppress_output: bool,
}

/// Reads the common fields: the first hook that stops and the first that has a message count.
pub fn process(aggregated: Aggregated) -> Processed {
    let stopping =
        aggregated.all_outputs.iter().find(|output| output.get("continue") == Some(&Value::Bool(false)));
    let stop_reason = stopping.map(|output| {
        let text = |key| {
            let text = js::text(output, key).map(|text| text.trim().to_owned());
            text.filter(|text| !text.is_empty())
        };
        text("reason").or_else(|| text("stopReason")).unwrap_or_else(|| "Hook requested stop".to_owned())
    });
    let speaking = aggregated.all_outputs.iter().find(|output| js::field(output, "systemMessage").is_some());
    let system_message = speaking.and_then(|output| js::text(output, "systemMessage"));
    let suppress_output =
        speaking.is_some_and(|output| output.get("suppressOutput") == Some(&Value::Bool(true)));
    Processed { should_stop: stopping.is_some(), stop_reason, system_message, suppress_output, aggregated }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn it_serialises_as_seed_002_has_it() {
        let outputs = vec![json!({"continue": false, "stopReason": " "}), json!({"suppressOutput": true})];
        let processed = process(Aggregated { all_outputs: outputs.clone(), ..Aggregated::nothing() });
        let expected = json!({
            "aggregated": {"success": true, "allOutputs": outputs, "errors": [], "totalDuration": 0},
            "shouldStop": true, "stopReason": "Hook requested stop", "suppressOutput": false,
        });
        assert_eq!(serde_json::to_value(processed).unwrap(), expected);
    }
}
