// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Merges outputs as Claude Code does: the strictest decision applies, and everything else is combined.
//!
//! For some values (`updatedInput`, or the reason for a denial) only one hook can be used. Claude Code uses the hook
//! that *finished* last, which is a race. This crate uses the last hook in the configuration.

use serde_json::{Map, Value};

use crate::js;

const SPECIFIC_OUTPUT_KEY: &str = "hookSpecificOutput";

/// Permission decisions, strictest first.
const DECISIONS: [&str; 4] = ["deny", "defer", "ask", "allow"];

/// Merges the outputs of an event. With `before_tool`, the older keywords `block` and `approve` mean `deny` and
/// `allow`.
pub(super) fn merge(event: &str, before_tool: bool, outputs: &[Value]) -> Value {
    let mut merged = Map::new();
    let mut specific = Map::new();
    for part in outputs.iter().filter_map(|output| output.get(SPECIFIC_OUTPUT_KEY)) {
        js::spread(&mut specific, part);
    }
    join(
        &mut specific,
        "additionalContext",
        outputs.iter().filter_map(|output| output.get(SPECIFIC_OUTPUT_KEY)),
        "\n",
    );

    if let Some((decision, from)) = strictest(outputs, |output| permission(output, before_tool)) {
        specific.insert("permissionDecision".into(), decision.into());
        specific.remove("permissionDecisionReason");
        if let Some(reason) = reason(from) {
            specific.insert("permissionDecisionReason".into(), reason.into());
        }
        if decision == "deny" {
            // The tool does not run, so its input is not rewritten.
            specific.remove("updatedInput");
        }
    }
    let behavior = strictest(outputs, behavior_of);
    if let Some(decision) = behavior.and_then(|(_, from)| from.get(SPECIFIC_OUTPUT_KEY)?.get("decision")) {
        specific.insert("decision".into(), decision.clone());
    }

    let verdict =
        ["block", "approve"].into_iter().find(|word| outputs.iter().any(|output| has_decision(output, word)));
    if let Some(word) = verdict.filter(|_| !before_tool) {
        merged.insert("decision".into(), word.into());
        join(&mut merged, "reason", outputs.iter().filter(|output| has_decision(output, word)), "\n");
    }
    let stopping = || outputs.iter().filter(|output| output.get("continue") == Some(&Value::Bool(false)));
    if stopping().next().is_some() {
        merged.insert("continue".into(), false.into());
        join(&mut merged, "stopReason", stopping(), "\n");
    }
    join(&mut merged, "systemMessage", outputs.iter(), "\n");
    // The terminal interprets these sequences, so nothing may be inserted between them.
    join(&mut merged, "terminalSequence", outputs.iter(), "");
    if outputs.iter().any(|output| output.get("suppressOutput") == Some(&Value::Bool(true))) {
        merged.insert("suppressOutput".into(), true.into());
    }
    specific.remove("hookEventName");
    if !specific.is_empty() {
        specific.insert("hookEventName".into(), event.into());
        merged.insert(SPECIFIC_OUTPUT_KEY.into(), specific.into());
    }
    merged.into()
}

/// The strictest decision, and the last output that has it.
fn strictest(
    outputs: &[Value],
    read: impl Fn(&Value) -> Option<&'static str>,
) -> Option<(&'static str, &Value)> {
    DECISIONS.into_iter().find_map(|decision| {
        let from = outputs.iter().rev().find(|output| read(output) == Some(decision))?;
        Some((decision, from))
    })
}

fn permission(output: &Value, before_tool: bool) -> Option<&'static str> {
    let word =
        output.get(SPECIFIC_OUTPUT_KEY).and_then(|specific| specific.get("permissionDecision")?.as_str());
    let older = [("block", "deny"), ("approve", "allow")]
        .into_iter()
        .find_map(|(word, decision)| (before_tool && has_decision(output, word)).then_some(decision));
    DECISIONS.into_iter().find(|decision| word == Some(*decision) || older == Some(*decision))
}

fn behavior_of(output: &Value) -> Option<&'static str> {
    let word = output.get(SPECIFIC_OUTPUT_KEY)?.get("decision")?.get("behavior")?.as_str()?;
    DECISIONS.into_iter().find(|decision| *decision == word)
}

fn reason(output: &Value) -> Option<String> {
    let specific =
        output.get(SPECIFIC_OUTPUT_KEY).and_then(|specific| js::text(specific, "permissionDecisionReason"));
    specific.or_else(|| js::text(output, "reason"))
}

fn has_decision(output: &Value, word: &str) -> bool {
    output.get("decision").is_some_and(|value| value == word)
}

fn join<'a>(into: &mut Map<String, Value>, key: &str, from: impl Iterator<Item = &'a Value>, between: &str) {
    let texts: Vec<String> = from.filter_map(|value| js::text(value, key)).collect();
    if !texts.is_empty() {
        into.insert(key.to_owned(), texts.join(between).into());
    }
}
