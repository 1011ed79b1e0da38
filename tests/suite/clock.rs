// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A daemon whose clock is set forward and back while it runs.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::context::{TestContext, repository};
use crate::terminal_user::SocketDaemon;

const DAY: i64 = 86_400;

/// Builds a library that shifts a program's clock. `None`, with a note, where it cannot be built.
fn build_clock_library(test: &TestContext) -> Option<std::path::PathBuf> {
    let library = test.path("clock.so");
    let mut command = Command::new("cc");
    command
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .arg(repository().join("tests/suite/clock.c"));
    if cfg!(target_os = "linux") && command.arg("-ldl").status().is_ok_and(|status| status.success()) {
        return Some(library);
    }
    tenterhook_test_support::skip_test("needs a C compiler and Linux");
    None
}

#[test]
fn a_clock_that_jumps_loses_no_record_and_weakens_nothing() {
    let test = TestContext::new();
    let Some(library) = build_clock_library(&test) else { return };
    let step = test.write("step", "0");
    let mut command =
        test.command(Path::new(env!("CARGO_BIN_EXE_tenterhook")), &["serve", "--listen", "none"]);
    command.env("LD_PRELOAD", library).env("CLOCK_STEP", &step);
    let guard = SocketDaemon::with(&test, command);
    let call = |number: usize, command: &str| {
        let payload = json!({
            "session_id": "s", "cwd": test.path("work"), "hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command}, "tool_use_id": format!("call-{number}"),
        });
        guard.hook("claude-code", "PreToolUse", &payload)
    };
    let steps = [0, -DAY, 400 * DAY, -20 * 365 * DAY, 3600, 0];
    for (number, seconds) in steps.iter().enumerate() {
        std::fs::write(&step, seconds.to_string()).unwrap();
        let denied = call(number * 2, "rm -rf ~/");
        assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny", "{seconds}: {denied}");
        let passed = call(number * 2 + 1, "ls");
        assert!(passed.is_null() || passed == json!({}), "{seconds}: {passed}");
        let signed = guard.request("POST", "/v1/ledger/checkpoint", &json!({}));
        assert_eq!(signed.0, 200, "{seconds}: {}", signed.1);
    }
    let (status, sessions) = guard.request("GET", "/v1/sessions", &Value::Null);
    assert_eq!(status, 200, "{sessions}");
    guard.terminate();
    let leaves = test.decisions();
    let calls: Vec<_> = leaves.iter().map(|leaf| leaf["tool_use_id"].as_str().unwrap().to_owned()).collect();
    let expected: Vec<_> = (0..steps.len() * 2).map(|number| format!("call-{number}")).collect();
    assert_eq!(calls, expected, "each once, in order");
    let years: Vec<_> = leaves
        .iter()
        .step_by(2)
        .map(|leaf| leaf["ts"].as_str().unwrap().split('-').next().unwrap().to_owned())
        .collect();
    assert_ne!(years[2], years[0], "the clock was changed: {years:?}");
    assert!(years[3] < years[0], "{years:?}");
    assert_eq!(test.run(&["ledger", "verify"]).exit, 0);
    // A second daemon, whose clock is right, appends to a ledger that contains records from the future.
    let guard = SocketDaemon::of(&test);
    guard.hook("claude-code", "PreToolUse", &serde_json::from_str(&test.bash("true")).unwrap());
    guard.terminate();
    assert_eq!((test.decisions().len(), test.run(&["ledger", "verify"]).exit), (steps.len() * 2 + 1, 0));
}
