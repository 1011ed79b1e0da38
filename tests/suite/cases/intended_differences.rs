// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Cases in which Tenterhook differs on purpose from the original program.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tenterhook_test_support::assert_no_hang;

use super::{case, command, fire, fire_file, input, lines_of_file};
use crate::context::TestContext;

#[test]
fn g_runner_295_and_l_runner_297_a_child_in_the_background_is_ended_and_not_waited_for() {
    for (id, profile) in [("g-runner-295", "gemini"), ("l-runner-297", "llxprt-2026-08")] {
        let case = case(id);
        let test = TestContext::new();
        let line = case["given"]["command"].as_str().unwrap().replace(" & ", " & echo $! > ../child; ");
        // The original waits for the child. In this test the child runs longer than a test may take.
        let line = line.replace("sleep 7", "sleep 1000");
        assert!(line.contains("sleep 1000"), "{line}");
        let mut hook = command(&line);
        hook["timeout"] = case["given"]["timeout_ms"].clone();
        let started = Instant::now();
        let answer = fire(&test, profile, "BeforeTool", &json!([{"hooks": [hook]}])).json();
        assert_no_hang(started, id);
        let step = &answer["trace"][0];
        assert_eq!(
            (&step["success"], &step["exitCode"]),
            (&case["expect"]["success"], &case["expect"]["exitCode"])
        );
        let child = lines_of_file(&test.path("child")).remove(0);
        assert!(has_ended(&child), "{id}: the child {child} still runs");
    }
}

/// Whether a process has ended, which may take a moment to become visible.
fn has_ended(id: &str) -> bool {
    let ended = || {
        let stat = std::fs::read_to_string(format!("/proc/{id}/stat"));
        stat.map_or(true, |stat| stat.rsplit(')').next().is_some_and(|rest| rest.trim().starts_with('Z')))
    };
    for _ in 0..100 {
        if ended() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    false
}

/// Registers the A3S hooks of a case, each of which prints the case's output.
fn a3s_hooks(case: &Value) -> Value {
    let hooks = case["outputs"].as_array().unwrap().iter().map(|output| {
        let answer =
            json!({"action": output["action"], "reason": output["reason"], "modified": output["modified"]});
        let answer = answer.as_object().unwrap().iter().filter(|(_, value)| !value.is_null());
        let answer = Value::Object(answer.map(|(key, value)| (key.clone(), value.clone())).collect());
        json!({
            "event": "PreToolUse",
            "command": format!("echo '{answer}'"),
            "matcher": case["config"][0]["matcher"],
            "config": {
                "priority": output["priority"].as_i64().unwrap_or(0),
                "async": output["async_execution"] == true,
            },
        })
    });
    json!({"registered": hooks.collect::<Vec<_>>()})
}

fn run_a3s_case(id: &str) -> Value {
    let (test, case) = (TestContext::new(), case(id));
    fire_file(&test, "a3s", case["event"].as_str().unwrap(), &a3s_hooks(&case), &case["input"]["payload"])
        .json()
}

#[test]
fn a3s_102_an_async_hook_decides_nothing() {
    let answer = run_a3s_case("a3s-102-async-ignored-on-gate");
    assert_eq!((&answer["decision"], &answer["plan"][0]["matched"]), (&json!("none"), &json!(true)));
}

#[test]
fn a3s_106_answers_before_a_skip_count() {
    let answer = run_a3s_case("a3s-106-skip-drops-modification");
    assert_eq!(answer["finalOutput"], json!({"action": "continue", "modified": {"x": 1}}));
    assert_eq!(answer["decision"], "none", "later answers do not count");
}

#[test]
fn a3s_110_changed_arguments_are_used() {
    let answer = run_a3s_case("a3s-110-pretool-modified-not-applied");
    assert_eq!(answer["finalOutput"]["modified"]["args"], json!({"command": "safe"}));
}

#[test]
fn a3s_112_an_invalid_pattern_is_refused() {
    let case = case("a3s-112-bad-regex-falls-back-to-contains");
    let pattern = case["config"][0]["matcher"]["command_pattern"].as_str().unwrap();
    let test = TestContext::new();
    let hook = format!(
        "hooks:\n  - {{id: a, on: PreToolUse, dialect: a3s, match: {{command_pattern: '{pattern}'}}, command: 'exit 2'}}\n"
    );
    test.write("home/tenterhook.yaml", &hook);
    let ran = test.run(&["check"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stdout.contains("invalid regular expression `(x`"), "{}", ran.stdout);
}

#[test]
fn a3s_112_an_invalid_pattern_is_reported() {
    let (test, case) = (TestContext::new(), case("a3s-112-bad-regex-falls-back-to-contains"));
    let ran = fire_file(&test, "a3s", "PreToolUse", &a3s_hooks(&case), &case["input"]["payload"]);
    assert!(ran.stderr.contains("invalid regular expression `(x`"), "{}", ran.stderr);
}

#[test]
fn a3s_205_a_hook_gets_the_whole_event() {
    let case = case("a3s-205-input-over-1MiB-truncated");
    let size = usize::try_from(case["config"][0]["event_bytes"].as_u64().unwrap()).unwrap();
    let test = TestContext::new();
    let mut input = input(&test);
    input["tool_input"]["content"] = json!("x".repeat(size));
    let hook = json!({"event": "PreToolUse", "command": "cat > ../got; echo '{\"action\":\"block\"}'"});
    let answer = fire_file(&test, "a3s", "PreToolUse", &json!({"registered": [hook]}), &input).json();
    let got: Value = serde_json::from_slice(&std::fs::read(test.path("got")).unwrap()).unwrap();
    assert_eq!(got, input);
    assert_eq!(answer["decision"], "deny");
}
