// SPDX-License-Identifier: Apache-2.0 OR MIT

use super::*;
use crate::find_profile;
use serde_json::json;

const LLXPRT: [&str; 2] = ["llxprt", "llxprt-2026-08"];

#[test]
fn the_reason_is_looked_for_in_each_profiles_order() {
    let reason = |name: &str, value: Value| {
        HookOutput::new(find_profile(name).unwrap(), "AfterTool", &value).effective_reason()
    };
    let both = || json!({"reason": "R", "stopReason": "S"});
    assert_eq!(["llxprt", "llxprt-2026-08", "gemini"].map(|name| reason(name, both())), ["R", "S", "S"]);
    let empty = || json!({"reason": "R", "stopReason": ""});
    assert_eq!(
        ["llxprt", "llxprt-2026-08", "gemini"].map(|name| reason(name, empty())),
        ["R", "No reason provided", "R"]
    );
}

#[test]
fn the_compatibility_fields_count_before_a_tool_and_not_in_gemini() {
    let value =
        json!({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "P"}});
    for name in LLXPRT {
        let profile = find_profile(name).unwrap();
        let error = HookOutput::new(profile, "BeforeTool", &value).blocking_error();
        assert_eq!(error, BlockingError { blocked: true, reason: "P".into() });
        assert!(!HookOutput::new(profile, "AfterTool", &value).is_blocking_decision());
    }
    let error = HookOutput::new(find_profile("gemini").unwrap(), "BeforeTool", &value).blocking_error();
    assert_eq!(error, BlockingError { blocked: false, reason: String::new() });
}

#[test]
fn seed_002_modify_input_example() {
    let value = json!({"decision": "allow", "hookSpecificOutput": {
        "tool_input": {"path": "/safe/path/file.txt", "content": "Modified content"}}});
    for profile in crate::PROFILES.iter().filter(|profile| profile.event("BeforeTool").is_some()) {
        let output = BeforeToolOutput::new(profile, &value);
        assert_eq!(output.modified_tool_input(), value["hookSpecificOutput"]["tool_input"].as_object());
        assert!(!output.0.is_blocking_decision() && !output.0.should_stop_execution());
    }
}

#[test]
fn seed_002_restrict_tools_example_is_applied() {
    let names = json!(["read_file", "list_directory", "glob"]);
    let value =
        json!({"hookSpecificOutput": {"toolConfig": {"mode": "AUTO", "allowedFunctionNames": names}}});
    let applied = |name| {
        BeforeToolSelectionOutput::new(find_profile(name).unwrap(), &value)
            .apply_tool_config_modifications(&json!({"other": 1}))
    };
    let calling = json!({"mode": "AUTO", "allowedFunctionNames": names});
    assert_eq!(
        applied("gemini"),
        json!({"other": 1, "tools": [], "toolConfig": {"functionCallingConfig": calling}})
    );
    assert_eq!(applied("llxprt")["toolConfig"]["allowedFunctionNames"], names);
    let silent = json!({});
    let output = BeforeToolSelectionOutput::new(find_profile("llxprt").unwrap(), &silent);
    assert_eq!(output.apply_tool_config_modifications(&json!({"tools": 1})), json!({"tools": 1}));
}

#[test]
fn a_synthetic_response_is_given_in_the_models_form() {
    let value = json!({"hookSpecificOutput": {"llm_response": {"candidates": [
        {"content": {"role": "model", "parts": ["cached", {"text": " answer"}]}, "finishReason": "STOP"}]}}});
    let response =
        BeforeModelOutput::new(find_profile("llxprt").unwrap(), &value).synthetic_response().unwrap();
    let expected = json!({"candidates": [{"finishReason": "STOP",
        "content": {"role": "model", "parts": [{"text": "cached"}, {"text": " answer"}]}}]});
    assert_eq!(response, expected);
}

#[test]
fn a_stop_after_the_answer_becomes_the_answer_in_the_seed_only() {
    let value = json!({"continue": false, "reason": "enough"});
    let response = |name| AfterModelOutput::new(find_profile(name).unwrap(), &value).modified_response();
    assert_eq!(response("llxprt").unwrap()["candidates"][0]["content"]["parts"], json!([{"text": "enough"}]));
    assert_eq!(response("llxprt-2026-08").or(response("gemini")), None);
}

#[test]
fn an_answer_without_parts_is_a_change_in_llxprt_only() {
    let value = json!({"hookSpecificOutput": {"llm_response": {"candidates": [{"content": {"parts": []}}]}}});
    let changed =
        |name| AfterModelOutput::new(find_profile(name).unwrap(), &value).modified_response().is_some();
    assert_eq!(["llxprt", "llxprt-2026-08", "gemini"].map(changed), [true, true, false]);
}

#[test]
fn a_boundary_is_absent_valid_or_malformed() {
    let skip = OnInvalid::SkipCompression;
    assert_eq!(Boundary::read(None), Boundary::Absent);
    let value = json!({"version": 1, "pendingMessageStartIndex": 2, "pendingMessageCount": 3});
    let valid = Boundary::read(Some(&value));
    assert_eq!(valid, Boundary::Valid { start: 2, count: Some(3), on_invalid: skip });
    assert!(valid.fits(5) && !valid.fits(6));
    for wrong in [
        json!(false),
        json!({}),
        json!({"pendingMessageStartIndex": -1}),
        json!({"pendingMessageStartIndex": 0, "version": 2}),
    ] {
        assert_eq!(Boundary::read(Some(&wrong)), Boundary::Malformed { on_invalid: skip }, "{wrong}");
    }
    let throws = json!({"pendingMessageStartIndex": "x", "onInvalidBoundary": "throw"});
    assert_eq!(Boundary::read(Some(&throws)), Boundary::Malformed { on_invalid: OnInvalid::Throw });
}
