// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;
use crate::{HookResult, aggregate, find_profile};
use serde_json::json;

fn meant(name: &str, event: &str, outputs: &[Value]) -> (Decision, Flow) {
    let profile = find_profile(name).unwrap();
    let results: Vec<_> = outputs.iter().cloned().map(HookResult::with_output).collect();
    interpret_output(profile, event, &aggregate(profile, event, &results))
}

fn stop(reason: &str) -> Flow {
    Flow::Stop { reason: Some(reason.to_owned()) }
}

#[test]
fn an_allow_vouches_for_something_in_claude_only() {
    for name in ["llxprt", "llxprt-2026-08", "gemini"] {
        assert_eq!(meant(name, "BeforeTool", &[json!({"decision": "allow"})]), (Decision::None, Flow::Go));
    }
    let allow = json!({"hookSpecificOutput": {"permissionDecision": "allow"}});
    assert_eq!(meant("claude", "PreToolUse", &[allow]), (Decision::Allow, Flow::Go));
    assert_eq!(meant("claude", "PreToolUse", &[json!({})]), (Decision::None, Flow::Go));
}

#[test]
fn ask_is_a_decision_in_gemini_and_claude() {
    let ask = [json!({"decision": "ask"})];
    assert_eq!(meant("gemini", "BeforeTool", &ask).0, Decision::Ask);
    assert_eq!(meant("llxprt", "BeforeTool", &ask).0, Decision::None);
    let ask = [json!({"hookSpecificOutput": {"permissionDecision": "ask"}})];
    assert_eq!(meant("claude", "PreToolUse", &ask).0, Decision::Ask);
}

#[test]
fn claude_defers_before_it_asks() {
    let said = |word: &str| json!({"hookSpecificOutput": {"permissionDecision": word}});
    assert_eq!(
        meant("claude", "PreToolUse", &[said("ask"), said("defer"), said("allow")]).0,
        Decision::Defer
    );
}

#[test]
fn stop_and_deny_are_two_things() {
    let stops = json!({"continue": false, "stopReason": "enough"});
    assert_eq!(meant("gemini", "BeforeTool", std::slice::from_ref(&stops)), (Decision::None, stop("enough")));
    assert_eq!(meant("claude", "PreToolUse", &[stops]), (Decision::None, stop("enough")));
    let both = json!({"continue": false, "decision": "deny", "reason": "no"});
    assert_eq!(meant("llxprt", "BeforeTool", &[both]), (Decision::Deny, stop("no")));
}

#[test]
fn where_nobody_looks_nothing_is_decided() {
    let deny = json!({"decision": "deny", "continue": false});
    for event in ["SessionStart", "SessionEnd", "PreCompress", "Notification", "BeforeToolSelection"] {
        assert_eq!(
            meant("llxprt", event, std::slice::from_ref(&deny)),
            (Decision::None, Flow::Go),
            "{event}"
        );
    }
    assert_eq!(meant("claude", "Notification", &[json!({"decision": "block"})]).0, Decision::None);
    assert_eq!(meant("a3s", "PostToolUse", &[json!({"action": "block"})]).0, Decision::None);
    assert_eq!(meant("llxprt", "NoSuchEvent", &[deny]).0, Decision::None);
}

#[test]
fn a_later_allow_erases_a_deny_before_the_model() {
    let outputs = [json!({"decision": "deny"}), json!({"decision": "allow"})];
    assert_eq!(meant("gemini", "BeforeModel", &outputs).0, Decision::None);
    assert_eq!(meant("gemini", "BeforeAgent", &outputs).0, Decision::Deny);
}

#[test]
fn a_block_after_a_batch_of_tools_ends_the_turn() {
    let block = [json!({"decision": "block", "reason": "look"})];
    assert_eq!(meant("claude", "PostToolBatch", &block), (Decision::Deny, stop("look")));
    assert_eq!(meant("claude", "Stop", &block), (Decision::Deny, Flow::Go));
}
