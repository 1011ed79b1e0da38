// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The `a3s` and `sdk` lines of `tests/cases/claude_a3s.jsonl` that involve more than a single hook's answer: limits,
//! timeouts, several hooks, observers. The tests of the dialects cover the meaning of a single answer.

use std::time::Duration;

use serde_json::{Value, json};
use tenterhook_client::{FailBehavior, FiredEvent, Hook, HookEvent, HookResponse};

use crate::context::repository;
use crate::daemon::RunningDaemon;
use crate::sdk::run;

fn case(id: &str) -> Value {
    let text = std::fs::read_to_string(repository().join("tests/cases/claude_a3s.jsonl")).unwrap();
    let mut cases = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    cases.find(|case| case["id"] == id).unwrap_or_else(|| panic!("no case `{id}`"))
}

fn event(case: &Value) -> FiredEvent {
    let input = &case["input"];
    let payload = if input["payload"].is_object() { &input["payload"] } else { input };
    let name = match case["event"].as_str().unwrap() {
        "pre_tool_use" => "PreToolUse",
        "post_tool_use" => "PostToolUse",
        name => name,
    };
    // The field names that A3S Code uses.
    let mut own = json!({"tool": payload["tool"], "args": payload["args"]});
    if payload["tool"].is_null() {
        own = json!({"tool": input["tool_name"], "args": input["tool_input"]});
    }
    if payload["result"].is_object() {
        own["result"] = payload["result"].clone();
    }
    FiredEvent::new(name, &own)
}

/// A hook that returns one output of a case.
fn hook(case: &Value, output: &Value) -> Hook {
    let event = if case["event"].as_str().unwrap().starts_with("post") || case["event"] == "PostToolUse" {
        "PostToolUse"
    } else {
        "PreToolUse"
    };
    let output = output.clone();
    let priority = output["priority"].as_i64().unwrap_or(0);
    let hook = Hook::on(event).priority(i32::try_from(priority).unwrap()).timeout(Duration::from_secs(2));
    hook.run(move |_: HookEvent| {
        let output = output.clone();
        async move {
            if output["timed_out"] == true {
                tokio::time::sleep(Duration::from_mins(1)).await;
            }
            if let Some(raised) = output["raised"].as_str() {
                return Err(raised.to_owned());
            }
            let reason = output["reason"].as_str().unwrap_or_default();
            Ok(match output["action"].as_str().unwrap() {
                "block" => HookResponse::block(reason),
                "skip" => HookResponse::skip(),
                "retry" => match output["delay"].as_u64() {
                    Some(ms) => HookResponse::retry_after(Duration::from_millis(ms)),
                    None => HookResponse::retry(),
                },
                _ if output["modified"].is_object() => HookResponse::modified(output["modified"].clone()),
                _ => HookResponse::proceed(),
            })
        }
    })
}

/// The outcome of a case, and the result of each hook.
fn outcome(id: &str, change: impl Fn(Hook) -> Hook) -> (tenterhook_client::FireResult, Vec<String>) {
    let (case, served) = (case(id), RunningDaemon::new());
    run(async {
        let client = served.program("case");
        for output in case["outputs"].as_array().unwrap() {
            client.register(change(hook(&case, output))).await.unwrap();
        }
        let fired = client.fire(event(&case)).await.unwrap();
        let trace = fired.outcome["trace"].as_array().cloned().unwrap_or_default();
        let status = |step: &Value| step["status"].as_str().unwrap().to_owned();
        let of_hooks =
            trace.iter().filter(|step| step["by"].as_str().unwrap().starts_with("hook:")).map(status);
        let of_hooks = of_hooks.collect();
        (fired, of_hooks)
    })
}

/// Reasons given by hooks; rules may add their own about the same command.
fn hook_reasons(fired: &tenterhook_client::FireResult) -> Vec<String> {
    let reasons = fired.outcome["reasons"].as_array().cloned().unwrap_or_default();
    let by_hooks = reasons.iter().filter(|said| said["by"].as_str().unwrap().starts_with("hook:"));
    by_hooks.map(|said| said["said"].as_str().unwrap().to_owned()).collect()
}

fn unchanged(hook: Hook) -> Hook {
    hook
}

#[test]
fn cc_019_and_a3s_007_a_hook_without_an_answer_blocks_or_not_as_configured() {
    let (fired, steps) = outcome("a3s-007-timeout-continue", unchanged);
    assert_eq!((hook_reasons(&fired), steps), (vec![], vec!["timed-out".to_owned()]));
    let (fired, _) =
        outcome("cc-019-timeout-sdk-callback-pretool-blocks", |hook| hook.fail(FailBehavior::Block));
    assert!(fired.blocked, "{fired:?}");
}

#[test]
fn a3s_009_the_eleventh_hook_of_an_event_is_refused() {
    let expected = case("a3s-009-limits-per-event")["expect"]["register_error"].as_str().unwrap().to_owned();
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("case");
        for _ in 0..10 {
            client.register(Hook::on("PreToolUse")).await.unwrap();
        }
        let error = client.register(Hook::on("PreToolUse")).await.unwrap_err();
        assert!(error.to_string().contains(&expected), "{error}");
    });
}

#[test]
fn a3s_011_a_path_pattern_fits_at_any_depth() {
    let case = case("a3s-011-matcher-path");
    let matcher = &case["config"][0]["matcher"];
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("case");
        let hook = Hook::on("PreToolUse")
            .tool(matcher["tool"].as_str().unwrap())
            .path(matcher["pathPattern"].as_str().unwrap());
        client.register(hook.run(|_| async { HookResponse::block("fires") })).await.unwrap();
        assert_eq!(client.fire(event(&case)).await.unwrap().reason.as_deref(), Some("fires"));
    });
}

/// An `async` hook is not waited for and therefore decides nothing. Hooks that decide are registered without `async`.
#[test]
fn a3s_013_and_102_an_observer_decides_nothing_and_a_gate_does() {
    let late = "late";
    let (fired, steps) = outcome("a3s-013-async-fire-and-forget", Hook::observing);
    assert_ne!(fired.reason.as_deref(), Some(late));
    assert_eq!(steps, ["detached"]);
    let (fired, _) = outcome("a3s-102-async-ignored-on-gate", unchanged);
    assert_eq!((fired.blocked, fired.reason.as_deref()), (true, Some("no")));
}

#[test]
fn a3s_104_a_failing_observer_blocks_nothing() {
    let (fired, steps) = outcome("a3s-104-observer-fail-open", unchanged);
    assert_eq!((fired.blocked, steps), (false, vec!["failed".to_owned()]));
}

/// The original lost changes that were made before a skip, and skipped later hooks without a message.
#[test]
fn a3s_106_answers_before_a_skip_count_and_the_trace_names_skipped_hooks() {
    let (fired, steps) = outcome("a3s-106-skip-drops-modification", |hook| hook);
    assert!(!fired.blocked, "{fired:?}");
    // `modified: {"x": 1}` does not match the schema, so Tenterhook reports a failure of that hook.
    assert_eq!(steps, ["failed", "ran", "skipped"]);
}

#[test]
fn a3s_001_003_005_108_and_110_block_modify_and_retry() {
    let (fired, _) = outcome("a3s-001-block", unchanged);
    assert_eq!((fired.blocked, hook_reasons(&fired)), (true, vec!["Dangerous".to_owned()]));
    let (fired, _) = outcome("a3s-003-continue-modified", unchanged);
    assert_eq!(
        fired.modified.unwrap()["args"],
        case("a3s-003-continue-modified")["expect"]["effective_args"]
    );
    let (fired, _) = outcome("a3s-005-retry", unchanged);
    assert!(fired.reason.unwrap().contains("try again in 500 ms"), "bounded");
    let (fired, _) = outcome("a3s-108-retry-default-delay", unchanged);
    assert!(fired.reason.unwrap().contains("try again in 1000 ms"), "bounded");
    // The original loses the rewrite; Tenterhook applies it.
    let (fired, _) = outcome("a3s-110-pretool-modified-not-applied", unchanged);
    assert_eq!(fired.modified.unwrap()["args"]["command"], "safe");
}

#[test]
fn a3s_112_an_invalid_pattern_is_refused_not_guessed() {
    let pattern =
        case("a3s-112-bad-regex-falls-back-to-contains")["config"][0]["matcher"]["command_pattern"].clone();
    let served = RunningDaemon::new();
    run(async {
        let client = served.program("case");
        let error =
            client.register(Hook::on("PreToolUse").command(pattern.as_str().unwrap())).await.unwrap_err();
        assert!(error.to_string().contains("invalid regular expression"), "{error}");
    });
}
