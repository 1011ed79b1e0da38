// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Aggregates the results of all hooks of one event.

mod actions;
mod merge;
mod permission;
mod selection;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use tenterhook_event::EventKind;

use crate::js;
use crate::result::HookResult;
use crate::switches::{MergeStrategy, Profile, SuccessRule};

/// The aggregated result of all hooks: `AggregatedHookResult` in LLxprt's hook documentation (seed 002 in
/// `docs/seeds.md`).
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AggregatedResult {
    /// Whether the aggregate is considered a success.
    pub success: bool,
    /// The merged output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub final_output: Option<Value>,
    /// Outputs of the hooks, in order.
    pub all_outputs: Vec<Value>,
    /// Errors of the hooks. In JSON, an error is `{"message": …}`.
    #[serde(serialize_with = "serialize_errors")]
    pub errors: Vec<String>,
    /// Sum of all durations in milliseconds, including those of parallel hooks.
    pub total_duration: u64,
}

/// Merges the outputs of hooks, in the order of the plan.
///
/// Outputs of failed hooks are included, because some hooks object with an exit code other than 0.
pub fn aggregate(profile: &Profile, event: &str, results: &[HookResult]) -> AggregatedResult {
    let output_of = |result: &HookResult| result.output.clone().filter(js::is_truthy);
    let all_outputs: Vec<Value> = results.iter().filter_map(output_of).collect();
    let errors: Vec<String> = results.iter().filter_map(|result| result.error.clone()).collect();
    let row = profile.event(event);
    let name = row.map_or(event, |row| row.name);
    let final_output =
        (!all_outputs.is_empty()).then(|| match row.map_or(MergeStrategy::Simple, |row| row.merge) {
            MergeStrategy::OrDecision => keep_common_fields(merge::or_decision(profile, &all_outputs)),
            MergeStrategy::Replace => keep_common_fields(merge::replace(&all_outputs)),
            MergeStrategy::Simple => keep_common_fields(merge::simple(&all_outputs)),
            MergeStrategy::ToolSelection => selection::merge(profile, &all_outputs),
            MergeStrategy::Permission => {
                let before_tool = row.is_some_and(|row| row.kind == EventKind::PreTool);
                permission::merge(name, before_tool, &all_outputs)
            }
            MergeStrategy::Actions => actions::merge(row, &all_outputs),
        });
    let all_succeeded = results.iter().all(|result| result.success);
    AggregatedResult {
        success: errors.is_empty() && (all_succeeded || profile.success == SuccessRule::NoErrors),
        final_output,
        all_outputs,
        errors,
        total_duration: results.iter().map(|result| result.duration_ms).fold(0, u64::saturating_add),
    }
}

impl AggregatedResult {
    /// Creates the result for an event for which no hook ran.
    pub fn empty() -> Self {
        Self { success: true, ..Self::default() }
    }
}

/// Keeps only the fields that the harnesses' own output class has.
fn keep_common_fields(merged: Map<String, Value>) -> Value {
    const FIELDS: [&str; 7] = [
        "continue",
        "stopReason",
        "suppressOutput",
        "systemMessage",
        "decision",
        "reason",
        "hookSpecificOutput",
    ];
    merged.into_iter().filter(|(key, _)| FIELDS.contains(&key.as_str())).collect::<Map<_, _>>().into()
}

fn serialize_errors<S: Serializer>(errors: &[String], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(errors.iter().map(|error| serde_json::json!({"message": error})))
}

#[cfg(test)]
mod tests;
