// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The installed `tenterhook-status`, which prints the status line below the chat, with and without a daemon.

use serde_json::json;

use crate::context::TestContext;
use crate::terminal_user::{SocketDaemon, until};

const RULES: &str = "version: 1\nrules:\n  - {id: ask-make, match: {shell: {program: make}}, verdict: ask}\n";

fn line(test: &TestContext, args: &[&str], input: &str) -> String {
    let program = test.home().join("bin/tenterhook-status");
    let ran = test.run_command(test.command(&program, args), input.as_bytes());
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""));
    ran.stdout
}

// seed: 001-010, 001-012, 001-013, 001-021
#[test]
fn the_line_shows_the_state() {
    let test = TestContext::new();
    test.write("home/policy.yaml", RULES);
    assert_eq!(test.run(&["install", "claude-code", "--yes"]).exit, 0);
    assert_eq!(line(&test, &[], "{}"), "Tenterhook ⚠ daemon offline\n");
    let guard = SocketDaemon::of(&test);
    assert_eq!(line(&test, &[], "{}"), "Tenterhook ✓\n");

    assert_eq!(test.run_on_terminal(&["mode", "monitor"]).exit, 0);
    assert_eq!(line(&test, &[], "{}"), "Tenterhook ⚠ monitor\n");
    assert_eq!(test.run(&["mode", "enforce"]).exit, 0);

    std::thread::scope(|scope| {
        let payload = json!({
            "session_id": "s", "turn_id": "t", "cwd": test.path("work"), "hook_event_name": "PreToolUse",
            "model": "m", "permission_mode": "default", "tool_name": "Bash",
            "tool_input": {"command": "make all"}, "tool_use_id": "u-1",
        });
        let guard = &guard;
        let waits = scope.spawn(move || guard.hook("codex", "pre-tool-use", &payload));
        until("the line shows the waiting call", || {
            (line(&test, &[], "{}") == "Tenterhook ⚠ 1 approval pending\n").then_some(())
        });
        let id = guard.request("GET", "/v1/approvals", &json!({})).1["pending"][0]["id"]
            .as_str()
            .unwrap()
            .to_owned();
        assert_eq!(test.run(&["approvals", "deny", &id]).exit, 0);
        waits.join().unwrap();
    });
    assert_eq!(line(&test, &[], "{}"), "Tenterhook ✓\n");

    std::fs::write(test.home().join("policy.yaml"), "rules: [").unwrap();
    guard.send_signal(rustix::process::Signal::HUP);
    until("a broken file is reported", || {
        line(&test, &[], "{}").starts_with("Tenterhook ⚠ stale").then_some(())
    });
    guard.terminate();
    assert_eq!(line(&test, &[], "{}"), "Tenterhook ⚠ daemon offline\n");
}

#[test]
fn each_harness_keeps_the_line_it_had() {
    let test = TestContext::new();
    assert_eq!(test.run(&["install", "claude-code", "--yes"]).exit, 0);
    std::fs::write(test.home().join("status-chain"), "echo of claude").unwrap();
    std::fs::write(test.home().join("status-chain-copilot"), "grep -o '\"model\"'").unwrap();
    // The payload that Copilot CLI sends to its status line.
    let copilot = r#"{"session_id":"s","cwd":"/w","model":{"id":"m","display_name":"M"},"version":"1"}"#;
    for (args, before) in [
        (&[][..], "of claude · "),
        (&["claude-code"], "of claude · "),
        (&["copilot"], "\"model\" · "),
        (&["../x"], ""),
    ] {
        assert_eq!(line(&test, args, copilot), format!("{before}Tenterhook ⚠ daemon offline\n"), "{args:?}");
    }
}

#[test]
fn copilot_s_status_line_is_replaced_and_restored() {
    let test = TestContext::new();
    let settings = test.path("person/.copilot/settings.json");
    std::fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let before = "{\n  // mine\n  \"statusLine\": {\"type\": \"command\", \"command\": \"echo theirs\"}\n}\n";
    std::fs::write(&settings, before).unwrap();
    assert_eq!(test.run(&["install", "copilot", "--yes"]).exit, 0);
    let with = std::fs::read_to_string(&settings).unwrap();
    assert!(with.contains("/bin/tenterhook-status' copilot"), "{with}");
    assert_eq!(line(&test, &["copilot"], "{}"), "theirs · Tenterhook ⚠ daemon offline\n");
    assert_eq!(test.run_on_terminal(&["uninstall", "copilot", "--yes"]).exit, 0);
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), before);
}
