// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;
use crate::find_profile;
use serde_json::json;

fn merged(name: &str, event: &str, outputs: &[Value]) -> Value {
    let results: Vec<_> = outputs.iter().cloned().map(HookResult::with_output).collect();
    aggregate(find_profile(name).unwrap(), event, &results).final_output.unwrap()
}

#[test]
fn seed_002_block_and_modify_examples() {
    let block = json!({"decision": "deny", "reason": "Writing to /etc is prohibited"});
    let modify = json!({
        "decision": "allow",
        "hookSpecificOutput": {"tool_input": {"path": "/safe/path/file.txt", "content": "Modified content"}},
    });
    let expected = json!({
        "continue": true, "suppressOutput": false, "decision": "deny", "reason": "Writing to /etc is prohibited",
        "hookSpecificOutput": {"tool_input": {"path": "/safe/path/file.txt", "content": "Modified content"}},
    });
    assert_eq!(merged("llxprt", "BeforeTool", &[block, modify]), expected);
}

#[test]
fn seed_002_restrict_tools_example() {
    let names = json!(["read_file", "list_directory", "glob"]);
    let restrict =
        json!({"hookSpecificOutput": {"toolConfig": {"mode": "AUTO", "allowedFunctionNames": names}}});
    let more =
        json!({"hookSpecificOutput": {"toolConfig": {"mode": "ANY", "allowedFunctionNames": ["edit"]}}});
    let none = json!({"hookSpecificOutput": {"toolConfig": {"mode": "NONE"}}});
    let config = |name, outputs: &[Value]| {
        merged(name, "BeforeToolSelection", outputs)["hookSpecificOutput"]["toolConfig"].clone()
    };
    let both = [restrict.clone(), more];
    assert_eq!(
        config("llxprt", &both),
        json!({"mode": "ANY", "allowedFunctionNames": ["edit", "glob", "list_directory", "read_file"]})
    );
    assert_eq!(config("llxprt-2026-08", &both), json!({"mode": "ANY", "allowedFunctionNames": []}));
    assert_eq!(
        config("llxprt", &[restrict, none.clone()]),
        json!({"mode": "NONE", "allowedFunctionNames": []})
    );
    assert_eq!(config("llxprt-2026-08", &[none]), json!({"mode": "NONE"}));
}

#[test]
fn the_result_serialises_as_seed_002_has_it() {
    let results = [
        HookResult { duration_ms: 3, ..HookResult::failed("boom") },
        HookResult { duration_ms: 4, ..HookResult::with_output(json!({"systemMessage": "m", "extra": 1})) },
    ];
    let aggregated = aggregate(find_profile("llxprt").unwrap(), "Notification", &results);
    let expected = json!({
        "success": false, "finalOutput": {"systemMessage": "m"}, "allOutputs": [{"systemMessage": "m", "extra": 1}],
        "errors": [{"message": "boom"}], "totalDuration": 7,
    });
    assert_eq!(serde_json::to_value(aggregated).unwrap(), expected);
    let nothing = aggregate(find_profile("llxprt").unwrap(), "BeforeTool", &[]);
    assert_eq!(nothing, AggregatedResult::empty());
}

#[test]
fn success_is_each_profiles_own() {
    let failed = [HookResult { success: false, ..HookResult::with_output(json!({"decision": "deny"})) }];
    let success = |name| aggregate(find_profile(name).unwrap(), "BeforeTool", &failed).success;
    assert_eq!([success("llxprt"), success("llxprt-2026-08"), success("gemini")], [false, false, true]);
}

#[test]
fn suppress_output_and_clear_context_follow_their_switches() {
    let loose = [
        json!({"suppressOutput": 1, "hookSpecificOutput": {"clearContext": true}}),
        json!({"hookSpecificOutput": {"clearContext": false}}),
    ];
    let both = |name| {
        let merged = merged(name, "AfterAgent", &loose);
        (merged["suppressOutput"] == true, merged["hookSpecificOutput"]["clearContext"] == true)
    };
    assert_eq!(
        [both("llxprt"), both("llxprt-2026-08"), both("gemini")],
        [(true, false), (false, true), (true, true)]
    );
}

#[test]
fn an_unknown_spelling_of_deny_allows() {
    for name in ["llxprt", "llxprt-2026-08", "gemini"] {
        assert_eq!(merged(name, "BeforeTool", &[json!({"decision": "DENY"})])["decision"], "allow");
    }
}

#[test]
fn claude_everything_but_the_decision_adds_up() {
    let said = |fields: Value| json!({"hookSpecificOutput": fields});
    let mut first = said(json!({"hookEventName": "PreToolUse", "permissionDecision": "ask",
        "permissionDecisionReason": "sure?", "additionalContext": "one", "updatedInput": {"command": "a"}}));
    first["systemMessage"] = json!("m1");
    let mut second = said(json!({"hookEventName": "PreToolUse", "permissionDecision": "allow",
        "permissionDecisionReason": "fine", "additionalContext": "two", "updatedInput": {"command": "b"}}));
    second["systemMessage"] = json!("m2");
    let expected = json!({
        "systemMessage": "m1\nm2",
        "hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask",
            "permissionDecisionReason": "sure?", "additionalContext": "one\ntwo", "updatedInput": {"command": "b"}},
    });
    assert_eq!(merged("claude", "PreToolUse", &[first.clone(), second]), expected);

    let legacy = json!({"decision": "block", "reason": "old words"});
    let denied = merged("claude", "PreToolUse", &[first, legacy]);
    assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(denied["hookSpecificOutput"]["permissionDecisionReason"], "old words");
    assert_eq!(denied.pointer("/hookSpecificOutput/updatedInput"), None, "nothing runs");
    assert_eq!(denied.get("decision"), None, "said once, in the newer words");
}

#[test]
fn claude_several_reasons_to_go_on_are_all_told() {
    let outputs =
        [json!({"decision": "block", "reason": "tests"}), json!({"decision": "block", "reason": "lint"})];
    assert_eq!(merged("claude", "Stop", &outputs), json!({"decision": "block", "reason": "tests\nlint"}));
    let deny = json!({"behavior": "deny", "message": "no"});
    let said = |decision: &Value| json!({"hookSpecificOutput": {"decision": decision}});
    let asked = merged("claude", "PermissionRequest", &[said(&deny), said(&json!({"behavior": "allow"}))]);
    assert_eq!(asked["hookSpecificOutput"]["decision"], deny);
}

#[test]
fn a3s_block_before_retry_before_continue() {
    let go = json!({"action": "continue", "modified": {"args": {"command": "ls", "timeout": 1}}});
    let and = json!({"action": "continue", "modified": {"args": {"timeout": 2}, "note": "n"}});
    let retry = json!({"action": "retry", "delay": 500});
    let block = json!({"action": "block", "reason": "no"});
    let merged = |outputs: &[&Value]| {
        let outputs: Vec<Value> = outputs.iter().map(|output| (*output).clone()).collect();
        merged("a3s", "PreToolUse", &outputs)
    };
    assert_eq!(merged(&[&go, &retry, &block]), json!({"action": "block", "reason": "no"}));
    assert_eq!(
        merged(&[&go, &retry, &json!({"action": "retry"})]),
        json!({"action": "retry", "delay": 1000})
    );
    assert_eq!(
        merged(&[&go, &and]),
        json!({"action": "continue", "modified": {"args": {"command": "ls", "timeout": 2}, "note": "n"}})
    );
    let skip = json!({"action": "skip"});
    assert_eq!(
        merged(&[&go, &skip, &block]),
        go,
        "what was said before it stands, what comes after does not"
    );
}

#[test]
fn a3s_what_has_happened_cannot_be_blocked() {
    let block = [json!({"action": "block", "reason": "late"})];
    assert_eq!(merged("a3s", "PostToolUse", &block), json!({"action": "continue"}));
}
