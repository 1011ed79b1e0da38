// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The three ways in which LLxprt's hook documentation (seed 002 in `docs/seeds.md`) merges complete outputs.

use serde_json::{Map, Value};

use crate::js;
use crate::switches::Profile;

const SPECIFIC_OUTPUT_KEY: &str = "hookSpecificOutput";
const CLEAR_CONTEXT_KEY: &str = "clearContext";

/// Merges so that any objection (`block` or `deny`) applies. Texts are joined with line breaks, and other fields come
/// from the last hook.
pub(super) fn or_decision(profile: &Profile, outputs: &[Value]) -> Map<String, Value> {
    let mut merged = Map::new();
    let stops = outputs.iter().any(|output| output.get("continue") == Some(&Value::Bool(false)));
    merged.insert("continue".into(), (!stops).into());
    merged.insert("suppressOutput".into(), outputs.iter().any(|output| suppresses(profile, output)).into());
    if let Some(decision) = decision(profile, outputs, stops) {
        merged.insert("decision".into(), decision.into());
    }
    // Stop reasons are taken only from hooks that stop. Other texts are taken from all hooks, including those that
    // allow.
    let stopping: Vec<&Value> =
        outputs.iter().filter(|output| output.get("continue") == Some(&Value::Bool(false))).collect();
    let all: Vec<&Value> = outputs.iter().collect();
    for (key, from) in [("stopReason", stopping), ("reason", all.clone()), ("systemMessage", all)] {
        let texts: Vec<String> = from.iter().filter_map(|output| js::text(output, key)).collect();
        if !texts.is_empty() {
            merged.insert(key.into(), texts.join("\n").into());
        }
    }
    if let Some(specific) = specific(profile, outputs) {
        merged.insert(SPECIFIC_OUTPUT_KEY.into(), specific.into());
    }
    merged
}

/// The last objection, as spelled by its hook. `permissionDecision` is not considered, so a later output can override
/// an earlier deny in that field. The harnesses have the same defect.
fn decision(profile: &Profile, outputs: &[Value], stops: bool) -> Option<&'static str> {
    let decisions = || outputs.iter().filter_map(|output| output.get("decision")?.as_str());
    let last_block =
        decisions().rev().find_map(|word| ["block", "deny"].into_iter().find(|block| *block == word));
    let asks = profile.ask && decisions().any(|word| word == "ask");
    last_block.or(asks.then_some("ask")).or((!stops).then_some("allow"))
}

fn suppresses(profile: &Profile, output: &Value) -> bool {
    let wish = output.get("suppressOutput");
    if profile.suppress_strict { wish == Some(&Value::Bool(true)) } else { wish.is_some_and(js::is_truthy) }
}

fn specific(profile: &Profile, outputs: &[Value]) -> Option<Map<String, Value>> {
    let parts: Vec<&Value> =
        outputs.iter().filter_map(|output| js::field(output, SPECIFIC_OUTPUT_KEY)).collect();
    if parts.is_empty() {
        return None;
    }
    let mut merged = Map::new();
    for part in &parts {
        let cleared = merged.get(CLEAR_CONTEXT_KEY).cloned();
        js::spread(&mut merged, part);
        if profile.clear_context_stands {
            merged.remove(CLEAR_CONTEXT_KEY);
            if cleared.is_some() || part.get(CLEAR_CONTEXT_KEY) == Some(&Value::Bool(true)) {
                merged.insert(CLEAR_CONTEXT_KEY.into(), true.into());
            }
        }
    }
    let contexts: Vec<&str> =
        parts.iter().filter_map(|part| part.get("additionalContext").and_then(Value::as_str)).collect();
    if !contexts.is_empty() {
        merged.insert("additionalContext".into(), contexts.join("\n").into());
    }
    Some(merged)
}

/// Merges so that later fields replace earlier ones. `hookSpecificOutput` is merged key by key. A later allow
/// replaces an earlier deny. The result always has a `hookSpecificOutput`.
pub(super) fn replace(outputs: &[Value]) -> Map<String, Value> {
    let mut specific = Map::new();
    for part in outputs.iter().filter_map(|output| output.get(SPECIFIC_OUTPUT_KEY)) {
        js::spread(&mut specific, part);
    }
    let mut merged = simple(outputs);
    merged.insert(SPECIFIC_OUTPUT_KEY.into(), specific.into());
    merged
}

/// Merges so that later fields completely replace earlier ones.
pub(super) fn simple(outputs: &[Value]) -> Map<String, Value> {
    let mut merged = Map::new();
    for output in outputs {
        js::spread(&mut merged, output);
    }
    merged
}
