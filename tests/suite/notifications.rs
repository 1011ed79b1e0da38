// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Notifications about calls that wait for an approval, and asks of runs without a prompt.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value, json};
use tenterhook_test_support::{HANG_TIMEOUT, wait_until};

use crate::context::TestContext;
use crate::terminal_user::{SocketDaemon, until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tenterhook");
const RULES: &str = "version: 1\nrules:\n  - {id: ask-make, match: {shell: {program: make}}, verdict: ask, reason: people make things}\n  \
                     - {id: no-cc, match: {shell: {program: cc}}, verdict: deny, reason: no compiler}\n";

fn home_with_rules(settings: &str) -> TestContext {
    let test = TestContext::new();
    test.write("home/policy.yaml", RULES);
    test.write("home/tenterhook.yaml", settings);
    test
}

/// Starts an HTTP server that returns the JSON bodies that it receives.
fn start_server() -> (String, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (sender, received) = channel();
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut line, mut length) = (String::new(), 0);
            while reader.read_line(&mut line).unwrap() > 2 {
                let header = std::mem::take(&mut line).to_ascii_lowercase();
                if let Some(value) = header.strip_prefix("content-length: ") {
                    length = value.trim().parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").unwrap();
            if sender.send(serde_json::from_slice(&body).unwrap()).is_err() {
                return;
            }
        }
    });
    (url, received)
}

/// Writes a `notify-send` that appends its last two arguments to a file.
fn fake_desktop(test: &TestContext) -> String {
    let out = test.path("desktop.txt");
    let script = format!("#!/bin/sh\nprintf '%s|' \"$5\" \"$6\" >> {}\n", out.display());
    let program = test.write("bin/notify-send", &script);
    std::fs::set_permissions(program, std::fs::Permissions::from_mode(0o755)).unwrap();
    format!("{}:/usr/bin:/bin", test.path("bin").display())
}

fn codex_payload(test: &TestContext, command: &str) -> Value {
    json!({
        "session_id": "s", "turn_id": "t", "cwd": test.path("work"), "hook_event_name": "PreToolUse",
        "model": "m", "permission_mode": "default", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": "u-1",
    })
}

fn waiting_id(guard: &SocketDaemon<'_>) -> String {
    until("a call waits", || {
        let pending = guard.request("GET", "/v1/approvals", &Value::Null).1;
        pending["pending"][0]["id"].as_str().map(ToOwned::to_owned)
    })
}

/// A hook call of Claude Code that was started with `-p`.
fn headless_hook(test: &TestContext) -> Command {
    let mut command = test.command(Path::new(PROGRAM), &["hook", "claude-code", "PreToolUse"]);
    command.env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
    command
}

#[test]
fn a_waiting_call_and_a_denied_call_reach_every_target_that_wants_them() {
    let (url, received) = start_server();
    let test = home_with_rules(&format!(
        "notify:\n  - desktop\n  - webhook: {url}/hook\n    on: [approval, denied]\n    interval: 0s\n"
    ));
    let path = fake_desktop(&test);
    let mut serve = test.command(Path::new(PROGRAM), &["serve", "--listen", "none"]);
    serve.env("PATH", path);
    let guard = SocketDaemon::with(&test, serve);
    let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
    let payload = codex_payload(&test, &format!("make all TOKEN={token}"));
    thread::scope(|scope| {
        let reply = scope.spawn(|| guard.hook("codex", "pre-tool-use", &payload));
        let id = waiting_id(&guard);
        let body = received.recv_timeout(HANG_TIMEOUT).unwrap();
        assert_eq!((&body["kind"], &body["id"]), (&json!("approval"), &json!(id)));
        assert_eq!((&body["harness"], &body["rule"]), (&json!("codex"), &json!("ask-make")));
        assert!(body["seconds_left"].as_u64().is_some_and(|seconds| (40..=60).contains(&seconds)), "{body}");
        let summary = body["summary"].as_str().unwrap();
        assert!(summary.starts_with("make all TOKEN=[") && !summary.contains("a1B2"), "{body}");
        let shown = wait_until("the desktop shows it", || {
            let text = std::fs::read_to_string(test.path("desktop.txt")).ok()?;
            text.ends_with('|').then_some(text)
        });
        assert!(shown.starts_with("Tenterhook: approval needed|codex · Bash · make all"), "{shown}");
        let answer = json!({"answer": "deny"});
        assert_eq!(guard.request("POST", &format!("/v1/approvals/{id}"), &answer).0, 200);
        reply.join().unwrap();
    });
    guard.hook("codex", "pre-tool-use", &codex_payload(&test, "cc a.c"));
    let body = received.recv_timeout(HANG_TIMEOUT).unwrap();
    assert_eq!((&body["kind"], &body["rule"]), (&json!("denied"), &json!("no-cc")));
    guard.hook("codex", "pre-tool-use", &codex_payload(&test, "ls"));

    // A changed file applies without a restart.
    test.write("home/tenterhook.yaml", "notify: []\n");
    until("the targets are gone", || {
        guard.hook("codex", "pre-tool-use", &codex_payload(&test, "cc b.c"));
        received.recv_timeout(std::time::Duration::from_millis(300)).is_err().then_some(())
    });
    assert_eq!(std::fs::read_to_string(test.path("desktop.txt")).unwrap().matches('|').count(), 2);
}

#[test]
fn an_ask_without_a_prompt_says_that_a_user_must_approve() {
    let test = home_with_rules("hooks: []\n");
    for with_daemon in [false, true] {
        let guard = with_daemon.then(|| SocketDaemon::of(&test));
        let ran = test.run_command(headless_hook(&test), test.bash("make all").as_bytes());
        let reply = ran.json();
        let output = &reply["hookSpecificOutput"];
        assert_eq!(output["permissionDecision"], "ask", "{with_daemon}: {reply}");
        let reason = output["permissionDecisionReason"].as_str().unwrap();
        assert!(reason.starts_with("people make things"), "{reason}");
        assert!(reason.contains("A user must approve this call in Tenterhook"), "{reason}");
        // With a prompt, the reason is that of the rule.
        let plain = test.run_with(&["hook", "claude-code", "PreToolUse"], test.bash("make all").as_bytes());
        assert!(!plain.stdout.contains("A user must approve"), "{}", plain.stdout);
        drop(guard);
    }
    assert!(test.decisions().iter().all(|decision| decision["verdict"] == "ask"));
}

#[test]
fn an_ask_without_a_prompt_waits_if_the_user_chose_that() {
    let test = home_with_rules("approvals: {headless: wait}\n");
    let guard = SocketDaemon::of(&test);
    let reply = thread::scope(|scope| {
        let call = scope.spawn(|| test.run_command(headless_hook(&test), test.bash("make all").as_bytes()));
        let id = waiting_id(&guard);
        let ran = test.run_on_terminal(&["approvals", "approve", &id]);
        assert_eq!((ran.exit, ran.stdout.as_str()), (0, "✓ approved\n"), "{}", ran.stderr);
        call.join().unwrap().json()
    });
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "allow", "{reply}");
    // A run with a prompt still asks with it.
    let plain = test.run_with(&["hook", "claude-code", "PreToolUse"], test.bash("make all").as_bytes());
    assert_eq!(plain.json()["hookSpecificOutput"]["permissionDecision"], "ask", "{}", plain.stdout);
}

#[test]
fn targets_are_tested_and_settings_are_checked() {
    let (url, received) = start_server();
    let test = home_with_rules(&format!("notify: [{{webhook: '{url}/secret'}}, desktop]\n"));
    let ran = test.run(&["approvals", "notify"]);
    assert_eq!(received.recv_timeout(HANG_TIMEOUT).unwrap()["kind"], "test");
    let host = url.trim_start_matches("http://");
    let lines: Vec<_> = ran.stdout.lines().collect();
    assert_eq!(lines[0], format!("✓ webhook {host}"));
    assert_eq!(lines.len(), 2, "{lines:?}");
    let json = test.run(&["approvals", "notify", "--json"]).json();
    assert_eq!(json["targets"][0], json!({"target": format!("webhook {host}"), "error": null}));

    test.write("home/tenterhook.yaml", "notify:\n  - webhok: https://example.com\n");
    let ran = test.run(&["check"]);
    assert_eq!(ran.exit, 1);
    assert!(
        ran.stdout.contains("[DIR]/home/tenterhook.yaml:2:5: unknown key `webhok`; did you mean `webhook`?"),
        "{}",
        ran.stdout
    );
    test.write("home/tenterhook.yaml", "hooks: []\n");
    let ran = test.run(&["approvals", "notify"]);
    assert_eq!((ran.exit, &*ran.stdout), (0, "no targets; add `notify: [desktop]` to tenterhook.yaml\n"));
}
