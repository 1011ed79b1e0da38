// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Computes the input of the next hook when hooks run sequentially.

use serde_json::{Map, Value};
use tenterhook_event::EventKind;

use crate::js;
use crate::switches::{ChainMode, Profile};

/// Returns the next hook's input, made from the input and output of a successful hook. After a failed hook, callers
/// pass on the input unchanged. All hooks run, regardless of their output.
pub fn next_input(profile: &Profile, event: &str, input: &Value, output: &Value) -> Value {
    let mut next = input.clone();
    let specific = js::field(output, "hookSpecificOutput");
    let kind = profile.event(event).map(|row| row.kind);
    let (Some(specific), Some(kind), Some(fields)) = (specific, kind, next.as_object_mut()) else {
        return next;
    };
    if profile.chain == ChainMode::Nothing {
        return next;
    }
    match kind {
        EventKind::Prompt => {
            let context = specific.get("additionalContext").and_then(Value::as_str);
            if let (Some(context), Some(Value::String(prompt))) = (context, fields.get_mut("prompt")) {
                prompt.push_str("\n\n");
                prompt.push_str(context);
            }
        }
        EventKind::PreModel => merge_into_field(fields, "llm_request", js::field(specific, "llm_request")),
        EventKind::PreTool => {
            let change = js::field(specific, "tool_input");
            let counts = |change: &&Value| profile.chain == ChainMode::Anything || change.is_object();
            merge_into_field(fields, "tool_input", change.filter(counts));
        }
        _ => {}
    }
    next
}

/// Merges a change into an existing field, key by key.
fn merge_into_field(fields: &mut Map<String, Value>, key: &str, change: Option<&Value>) {
    if let (Some(change), Some(current)) = (change, fields.get_mut(key)) {
        let mut laid = Map::new();
        js::spread(&mut laid, current);
        js::spread(&mut laid, change);
        *current = laid.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find_profile;
    use serde_json::json;

    #[test]
    fn a_list_for_a_tool_input_passes_in_gemini_only() {
        let input = json!({"tool_input": {"a": 1}});
        let output = json!({"hookSpecificOutput": {"tool_input": ["x"]}});
        let next = |name: &str| next_input(find_profile(name).unwrap(), "BeforeTool", &input, &output);
        assert_eq!(next("llxprt"), input);
        assert_eq!(next("gemini"), json!({"tool_input": {"a": 1, "0": "x"}}));
    }

    #[test]
    fn hooks_that_run_side_by_side_see_nothing_of_each_other() {
        let input = json!({"tool_input": {"a": 1}});
        let output = json!({"hookSpecificOutput": {"tool_input": {"a": 2}}});
        assert_eq!(next_input(find_profile("claude").unwrap(), "PreToolUse", &input, &output), input);
    }

    #[test]
    fn a_field_the_input_lacks_is_not_invented() {
        let output = json!({"hookSpecificOutput": {"additionalContext": "c", "llm_request": {"model": "m"}}});
        for event in ["BeforeAgent", "BeforeModel", "BeforeTool"] {
            assert_eq!(
                next_input(find_profile("llxprt").unwrap(), event, &json!({"x": 1}), &output),
                json!({"x": 1})
            );
        }
    }
}
