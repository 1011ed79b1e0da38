// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the common fields of all outputs, hook by hook. The type is `ProcessedHookResult` in LLxprt's hook
//! documentation (seed 002 in `docs/seeds.md`).
//!
//! In the profile of that documentation, the result agrees with the aggregate: messages are joined, and any hook can
//! set `suppressOutput`. The harnesses themselves use the first hook that has a message, and only that hook's
//! `suppressOutput`.

use serde::Serialize;
use serde_json::Value;

use crate::aggregate::AggregatedResult;
use crate::js;
use crate::switches::Profile;

/// An aggregate, and what the harness does because of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ProcessedResult {
    /// The aggregate itself.
    pub aggregated: AggregatedResult,
    /// Whether to stop the agent.
    pub should_stop: bool,
    /// Reason for the stop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Message for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// Whether to suppress the output.
    pub suppress_output: bool,
}

/// Reads the common fields. Of several hooks that stop, the first provides the reason.
pub fn process_result(profile: &Profile, aggregated: AggregatedResult) -> ProcessedResult {
    let stopping =
        aggregated.all_outputs.iter().find(|output| output.get("continue") == Some(&Value::Bool(false)));
    let stop_reason = stopping.map(|output| {
        let text = |key| {
            let text = js::text(output, key).map(|text| text.trim().to_owned());
            text.filter(|text| !text.is_empty())
        };
        text("reason").or_else(|| text("stopReason")).unwrap_or_else(|| "Hook requested stop".to_owned())
    });
    let suppresses = |output: &Value| output.get("suppressOutput") == Some(&Value::Bool(true));
    let mut speaking =
        aggregated.all_outputs.iter().filter(|output| js::field(output, "systemMessage").is_some());
    let (system_message, suppress_output) = if profile.processed_joins {
        let texts: Vec<_> = speaking.filter_map(|output| js::text(output, "systemMessage")).collect();
        let suppressed = aggregated.all_outputs.iter().any(suppresses);
        ((!texts.is_empty()).then(|| texts.join("\n")), suppressed)
    } else {
        let first = speaking.next();
        (first.and_then(|output| js::text(output, "systemMessage")), first.is_some_and(suppresses))
    };
    ProcessedResult {
        should_stop: stopping.is_some(),
        stop_reason,
        system_message,
        suppress_output,
        aggregated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn it_serialises_as_seed_002_has_it() {
        let outputs = vec![json!({"continue": false, "stopReason": " "}), json!({"suppressOutput": true})];
        let aggregated = AggregatedResult { all_outputs: outputs.clone(), ..AggregatedResult::empty() };
        for (name, suppressed) in [("llxprt", true), ("llxprt-2026-08", false)] {
            let processed = process_result(crate::find_profile(name).unwrap(), aggregated.clone());
            let expected = json!({
                "aggregated": {"success": true, "allOutputs": outputs, "errors": [], "totalDuration": 0},
                "shouldStop": true, "stopReason": "Hook requested stop", "suppressOutput": suppressed,
            });
            assert_eq!(serde_json::to_value(processed).unwrap(), expected, "{name}");
        }
    }

    #[test]
    fn messages_of_several_hooks_are_joined_as_in_the_aggregate() {
        let outputs =
            vec![json!({"systemMessage": "m1"}), json!({"systemMessage": "m2", "suppressOutput": true})];
        let aggregated = AggregatedResult { all_outputs: outputs, ..AggregatedResult::empty() };
        for (name, message, suppressed) in [("llxprt", "m1\nm2", true), ("llxprt-2026-08", "m1", false)] {
            let processed = process_result(crate::find_profile(name).unwrap(), aggregated.clone());
            assert_eq!(processed.system_message.as_deref(), Some(message), "{name}");
            assert_eq!(processed.suppress_output, suppressed, "{name}");
        }
    }
}
