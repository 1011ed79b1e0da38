// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Interprets an aggregate as a decision.

use serde_json::Value;
use tenterhook_event::{Decision, Flow};

use crate::aggregate::AggregatedResult;
use crate::js;
use crate::output::HookOutput;
use crate::switches::{MergeStrategy, ObjectionEffect, Profile};

/// The decision about the action, and whether the agent continues.
///
/// An `allow` is [`Decision::None`] if it does not skip the harness's own checks: the hook does not object, but does
/// not approve the call either. Only Claude Code's `allow` approves a call.
pub fn interpret_output(profile: &Profile, event: &str, aggregated: &AggregatedResult) -> (Decision, Flow) {
    let (Some(row), Some(output)) = (profile.event(event), &aggregated.final_output) else {
        return (Decision::None, Flow::Go);
    };
    let mut flow = Flow::Go;
    let hook = HookOutput::new(profile, row.name, output);
    let decision = match row.merge {
        MergeStrategy::Actions => decision_of_action(output),
        MergeStrategy::Permission => {
            if hook.should_stop_execution() {
                flow = Flow::Stop { reason: js::text(output, "stopReason") };
            }
            strictest_permission(output)
        }
        MergeStrategy::OrDecision
        | MergeStrategy::Replace
        | MergeStrategy::ToolSelection
        | MergeStrategy::Simple => {
            if hook.should_stop_execution() {
                flow = Flow::Stop { reason: Some(hook.effective_reason()) };
            }
            match (hook.is_blocking_decision(), hook.is_ask_decision()) {
                (true, _) => Decision::Deny,
                (false, true) => Decision::Ask,
                (false, false) => Decision::None,
            }
        }
    };
    if !row.stops {
        flow = Flow::Go;
    }
    match row.deny {
        ObjectionEffect::EndsTurn if decision == Decision::Deny && flow == Flow::Go => {
            (decision, Flow::Stop { reason: js::text(output, "reason") })
        }
        ObjectionEffect::Prevents | ObjectionEffect::EndsTurn => (decision, flow),
        ObjectionEffect::Nothing => (Decision::None, flow),
    }
}

/// Decision of an action in the format of the A3S hook design (seed 003 in `docs/seeds.md`). A retry is not a
/// decision: the caller tries again, or denies with a message that names the retry.
fn decision_of_action(output: &Value) -> Decision {
    if output.get("action").is_some_and(|action| action == "block") { Decision::Deny } else { Decision::None }
}

/// The strictest decision in the three fields that can contain one.
fn strictest_permission(output: &Value) -> Decision {
    let specific = output.get("hookSpecificOutput");
    let permission = specific.and_then(|specific| specific.get("permissionDecision"));
    let behaviour = specific.and_then(|specific| specific.get("decision")?.get("behavior"));
    let words = [output.get("decision"), permission, behaviour];
    let strictness = |word: &Value| match word.as_str() {
        Some("deny" | "block") => 4,
        // Claude Code ranks defer as stricter than ask. Tenterhook ranks ask as stricter.
        Some("defer") => 3,
        Some("ask") => 2,
        Some("allow" | "approve") => 1,
        _ => 0,
    };
    match words.into_iter().flatten().map(strictness).max() {
        Some(4) => Decision::Deny,
        Some(3) => Decision::Defer,
        Some(2) => Decision::Ask,
        Some(1) => Decision::Allow,
        _ => Decision::None,
    }
}

#[cfg(test)]
mod tests;
