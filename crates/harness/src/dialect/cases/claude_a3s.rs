// SPDX-License-Identifier: Apache-2.0 OR MIT

use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_event::{Decision, Event, EventKind as Kind, Flow, Modification, Origin, ToolCall};

use super::{Elsewhere, each, event, load, run};
use crate::dialect::{
    A3sMatcher, EngineControl, EventMatcher, HookExit, InterpretedOutput, InvalidOutput, find,
    permission_rule,
};

const ELSEWHERE: Elsewhere = &[
    ("cc-019-timeout-sdk-callback-pretool-blocks", "engine: the deadline"),
    ("cc-021-onFailure-block-timeout", "engine: the deadline and `fail:`"),
    ("cc-023-onFailure-ignored-on-stop", "engine: `fail:`"),
    ("cc-025-allow-cannot-beat-deny-rule", "the client's own permission rules"),
    ("cc-027-precedence-deny-defer-ask-allow", "engine: the fold of several"),
    ("cc-029-defer-interactive-ignored", "the client's mode; a hook's `defer` is a defer"),
    ("cc-033-updatedInput-race-last-to-finish", "engine: the fold of several"),
    ("cc-035-context-all-delivered", "engine: the fold of several"),
    ("cc-039-terminalSequence-allow", "the client's terminal"),
    ("cc-d02-plugin-copy-not-deduped", "load: the same hook twice"),
    ("cc-057-posttoolbatch-exit2-stops", "the client's effect; a hook's exit 2 is a deny"),
    ("cc-059-permreq-exit2-not-honored", "on purpose not as the client: a guard's no is a no (tested below)"),
    ("cc-061-permdenied-retry", "harness: `retry` is carried by the reply of that event"),
    ("cc-063-stop-cap-8", "the client's counter"),
    ("cc-065-stop-prompt-hook-impossible", "prompt hooks"),
    ("cc-069-sessionstart-http-unsupported", "load: kinds of hooks"),
    ("cc-073-worktreecreate-path", "not wired"),
    ("cc-075-elicitation-accept", "harness: carried by the reply of that event"),
    ("cc-077-messagedisplay-replace", "not wired"),
    ("cc-079-http-2xx-empty", "http hooks"),
    ("cc-081-http-200-json-deny", "http hooks"),
    ("cc-083-http-env-unlisted-empty", "http hooks"),
    ("cc-085-asyncRewake-exit2-wakes", "engine: background hooks"),
    ("cc-087-prompt-hook-pretool-ends-turn", "prompt hooks"),
    ("sdk-001-initialize-registration", "SDK"),
    ("sdk-003-hook_callback-roundtrip", "SDK"),
    ("sdk-005-python-key-rename", "SDK"),
    ("sdk-007-cancel", "SDK"),
    ("ch-001-file-changed-edit", "sessions"),
    ("ch-003-todowrite-full-replace", "sessions"),
    ("a3s-007-timeout-continue", "engine: the deadline"),
    ("a3s-009-limits-per-event", "engine: limits"),
    ("a3s-013-async-fire-and-forget", "engine: background hooks"),
    ("a3s-102-async-ignored-on-gate", "engine: background hooks"),
    ("a3s-104-observer-fail-open", "engine: `fail:`"),
    ("a3s-106-skip-drops-modification", "engine: `skip` drops nothing here, on purpose"),
    ("a3s-110-pretool-modified-not-applied", "a lost rewrite of the original; here it applies (a3s-003)"),
    ("a3s-112-bad-regex-falls-back-to-contains", "on purpose refused instead (tested below)"),
    ("a3s-201-untrusted-definition-inert", "load: trust"),
    ("a3s-205-input-over-1MiB-truncated", "decode: limits"),
    ("ahp-002-id-mismatch-is-failure", "another protocol"),
];

/// Builds the event directly, because decoding would reject some of these payloads.
fn claude_event(input: &Value) -> Event {
    let text = |key: &str| input[key].as_str().map(ToOwned::to_owned);
    let name = input["hook_event_name"].as_str().unwrap();
    let kind = crate::find_harness("claude-code").unwrap().event(name).unwrap().kind;
    let mut event = event("claude-code", kind, name);
    event.cwd = text("cwd");
    event.agent.kind = text("agent_type");
    event.tool = input["tool_name"].as_str().map(|name| ToolCall::new(name, input["tool_input"].clone()));
    event.detail.cause = text("source").or_else(|| text("trigger"));
    event
}

fn a3s_event(case: &Value) -> Event {
    let input = &case["input"];
    let payload = if input["payload"].is_object() { &input["payload"] } else { input };
    let mut event = event("a3s", Kind::PreTool, "PreToolUse");
    event.cwd = payload["context"]["workingDirectory"].as_str().map(ToOwned::to_owned);
    event.tool = payload["tool"].as_str().map(|name| ToolCall::new(name, payload["args"].clone()));
    event
}

/// Returns the exit status of a program, or the result of an A3S handler.
fn exited(output: &Value) -> HookExit {
    let text = |key: &str| output[key].as_str().unwrap_or_default().as_bytes().to_vec();
    match output["exit_code"].as_i64() {
        Some(code) => {
            HookExit { code: i32::try_from(code).ok(), stdout: text("stdout"), stderr: text("stderr") }
        }
        None => HookExit { code: Some(0), stdout: output.to_string().into_bytes(), stderr: Vec::new() },
    }
}

fn fires(case: &Value, event: &Event) -> bool {
    let Some(group) = case["config"].get(0) else { return true };
    let matcher = if group["matcher"].is_object() {
        let matcher: A3sMatcher = serde_json::from_value(group["matcher"].clone()).unwrap();
        EventMatcher::a3s(&matcher).unwrap()
    } else {
        find("claude").unwrap().matcher(group["matcher"].as_str()).0
    };
    let filter = group["hooks"].get(0).and_then(|hook| hook["if"].as_str());
    matcher.admits(event).is_ok()
        && filter.is_none_or(|rule| permission_rule(rule).is_ok_and(|rule| rule.admits(event).is_ok()))
}

/// Returns whether the output has the expected decision. A failed hook decides nothing (`fail: open`), as in the
/// original client.
fn decides(heard: &Result<InterpretedOutput, InvalidOutput>, expected: &str) -> bool {
    let Ok(heard) = heard else { return matches!(expected, "none" | "continue") };
    let decision = heard.finding.decision;
    match expected {
        "none" | "continue" => decision == Decision::None,
        "deny" | "block" => decision == Decision::Deny,
        "allow" => decision == Decision::Allow,
        "ask" => decision == Decision::Ask,
        "stop" => matches!(heard.finding.flow, Flow::Stop { .. }),
        "retry" => matches!(heard.control, EngineControl::Retry { .. }),
        _ => false,
    }
}

fn retries_after(heard: &Result<InterpretedOutput, InvalidOutput>, ms: &Value) -> bool {
    let delay = Duration::from_millis(ms.as_u64().unwrap());
    heard.as_ref().is_ok_and(|heard| heard.control == EngineControl::Retry { delay })
}

fn check(case: &Value) {
    let claude = case["dialect"].as_str().unwrap().starts_with("claude");
    let cli = case["dialect"] == "a3s-cli";
    let event = if claude || cli { claude_event(&case["input"]) } else { a3s_event(case) };
    let dialect = find(if claude { "claude" } else { "a3s" }).unwrap();
    let heard = dialect.interpret(&event, Origin::hook("h"), &exited(&case["outputs"][0]));
    let finding = heard.as_ref().ok().map(|heard| &heard.finding);
    let reason = || finding.and_then(|finding| finding.reason.clone());
    let changed = |expected: &Value| {
        finding.is_some_and(|finding| {
            finding.modifications.iter().any(|change| match change {
                Modification::ToolInput { value, .. } | Modification::ToolOutput { value } => {
                    value == expected
                }
                _ => false,
            })
        })
    };
    each(case, &case["expect"], |key, expected| match key {
        "decision" => decides(&heard, expected.as_str().unwrap()),
        // The original client allows two interpretations. The safer one is expected.
        "safe" => decides(&heard, expected["decision"].as_str().unwrap()),
        "reason" | "feedback_to_model" => json!(reason()) == *expected,
        "stop_reason" => finding.is_some_and(|finding| {
            finding.flow == Flow::Stop { reason: expected.as_str().map(ToOwned::to_owned) }
        }),
        "context" => {
            let context = finding.and_then(|finding| finding.context.clone());
            json!(context.into_iter().collect::<Vec<_>>()) == *expected
        }
        "effective_input" | "effective_args" | "model_sees" => changed(expected),
        "tool_runs" => json!(finding.is_none_or(|finding| finding.decision != Decision::Deny)) == *expected,
        "error_notice" => heard.is_err() != expected.is_null(),
        "delay_ms" => retries_after(&heard, expected),
        "denial" => retries_after(&heard, &expected["retry_after_ms"]),
        "fires" => json!(fires(case, &event)) == *expected,
        // These keys are notes for readers, or describe what the client does with the result.
        "effect"
        | "lint"
        | "log"
        | "compat"
        | "stop_reason_to"
        | "reason_to"
        | "prompt_erased"
        | "original_prompt_in_message"
        | "tool_undone"
        | "original_output_kept"
        | "session_env"
        | "agent_error"
        | "bounded_by" => true,
        _ => false,
    });
}

#[test]
fn one_hook_is_matched_and_heard_as_claude_code_and_a3s_do_it() {
    run(&load("claude_a3s.jsonl"), ELSEWHERE, check);
}

#[test]
fn where_we_are_stricter_on_purpose() {
    let cases = load("claude_a3s.jsonl");
    let case = |id: &str| cases.iter().find(|case| case["id"] == id).unwrap();
    let refused = case("cc-059-permreq-exit2-not-honored");
    let event = claude_event(&refused["input"]);
    let heard = find("claude").unwrap().interpret(&event, Origin::hook("h"), &exited(&refused["outputs"][0]));
    assert_eq!(heard.unwrap().finding.decision, Decision::Deny);
    let broken = case("a3s-112-bad-regex-falls-back-to-contains");
    let matcher: A3sMatcher = serde_json::from_value(broken["config"][0]["matcher"].clone()).unwrap();
    assert!(EventMatcher::a3s(&matcher).is_err());
}
