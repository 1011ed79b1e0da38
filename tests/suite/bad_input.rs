// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Invalid input causes a one-line error message and a documented exit code, and no file is written partially.

use std::process::Stdio;

use serde_json::json;

use crate::context::TestContext;

/// Invalid payloads for a hook, each with the message that the hook must print.
fn bad_payloads() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let deep = format!("{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    let large = format!("{{\"tool_input\":\"{}\"}}", "x".repeat(50_000_000));
    vec![
        ("empty", vec![], "the payload is empty"),
        ("blank", b" \n".to_vec(), "the payload is empty"),
        ("broken", b"{\"tool_name\": ".to_vec(), "the payload is not JSON"),
        ("text", b"hello".to_vec(), "the payload is not JSON"),
        ("array", b"[]".to_vec(), "the payload is not a JSON object but an array"),
        ("50 MB", large.into_bytes(), "the payload is larger than 32 MiB"),
        ("10,000 deep", deep.into_bytes(), "recursion limit exceeded"),
        ("NUL", b"{\"tool_name\":\"Ba\0sh\"}".to_vec(), "control character"),
        ("not UTF-8", b"{\"tool_name\":\"\xff\"}".to_vec(), "invalid unicode"),
        ("no tool", b"{\"hook_event_name\":\"PreToolUse\"}".to_vec(), "`tool_name` is not there"),
    ]
}

#[test]
fn a_payload_that_cannot_be_read_is_blocked_at_the_gate_in_one_line() {
    for (name, payload, line) in bad_payloads() {
        let test = TestContext::new();
        let ran = test.run_with(&["hook", "claude-code", "pre-tool-use"], &payload);
        assert_eq!(ran.exit, 2, "{name}: exit 2 blocks");
        assert_eq!(ran.stdout, "", "{name}");
        assert_eq!(ran.stderr.lines().count(), 1, "{name}: {}", ran.stderr);
        assert!(
            ran.stderr.starts_with("tenterhook: ") && ran.stderr.contains(line),
            "{name}: {}",
            ran.stderr
        );
        let ledger = test.decisions();
        assert_eq!(ledger.len(), 1, "{name}: unreadable input is recorded too");
        assert_eq!(ledger[0]["verdict"], "deny", "{name}");
    }
}

#[test]
fn after_the_fact_a_bad_payload_does_not_keep_the_agent_going() {
    let test = TestContext::new();
    for event in ["stop", "post-tool-use", "session-end"] {
        let ran = test.run_with(&["hook", "claude-code", event], b"nonsense");
        assert_eq!((ran.exit, ran.stdout.as_str()), (1, ""), "{event}");
    }
}

#[test]
fn fire_and_explain_refuse_what_they_cannot_read_and_record_nothing() {
    for (name, payload, line) in bad_payloads() {
        let test = TestContext::new();
        for verb in ["fire", "explain"] {
            let ran = test.run_with(&[verb, "--event", "PreToolUse"], &payload);
            assert_eq!((ran.exit, ran.stdout.as_str()), (2, ""), "{verb} {name}");
            assert!(
                ran.stderr.starts_with("error: ") && ran.stderr.contains(line),
                "{verb} {name}: {}",
                ran.stderr
            );
        }
        assert!(test.decisions().is_empty(), "{name}");
    }
}

#[test]
fn an_unknown_event_is_recorded_completely_and_reported() {
    let test = TestContext::new();
    let payload = json!({"hook_event_name": "Tomorrow", "session_id": "s"}).to_string();
    let ran = test.run_with(&["hook", "claude-code", "tomorrow"], payload.as_bytes());
    assert_eq!((ran.exit, ran.stdout.as_str()), (0, ""));
    assert_eq!(
        ran.stderr,
        "tenterhook: warning: unknown event `Tomorrow` of Claude Code; it was recorded as `other`\n"
    );
    assert_eq!(test.decisions()[0]["native_event"], "Tomorrow");

    let ran = test.run_with(&["fire", "--event", "PreTolUse"], b"{}");
    assert_eq!(ran.exit, 2);
    assert!(ran.stderr.starts_with("error: unknown event `PreTolUse` of Claude Code\nhint: known: Setup"));
}

#[test]
fn an_unknown_harness_names_the_known_ones() {
    let test = TestContext::new();
    let known: Vec<_> = tenterhook_harness::HARNESSES.iter().map(|harness| harness.id).collect();
    let said = format!(
        "error: unknown harness `klaude`\nhint: did you mean `claude`?\nhint: known: {}\n",
        known.join(", ")
    );
    for args in
        [&["hook", "klaude", "stop"][..], &["install", "klaude", "--yes"], &["fire", "--harness", "klaude"]]
    {
        let ran = test.run(args);
        assert_eq!(ran.exit, 2, "{args:?}");
        assert_eq!(ran.stderr, said, "{args:?}");
    }
}

#[test]
fn a_settings_file_that_cannot_be_read_is_left_alone() {
    for text in ["{\"hooks\": ", "[]", "{\"hooks\": []}", "\u{0}", "{\"hooks\": {\"PreToolUse\": {}}}"] {
        let test = TestContext::new();
        let settings = test.write("person/.claude/settings.json", text);
        let ran = test.run(&["install", "claude-code", "--yes"]);
        assert_eq!(ran.exit, 1, "{text}");
        assert!(ran.stderr.starts_with("error: "), "{text}: {}", ran.stderr);
        assert_eq!(std::fs::read_to_string(&settings).unwrap(), text);
        assert!(!test.home().join("bin").exists(), "{text}: nothing was written");
    }
}

#[test]
fn a_settings_file_that_the_client_would_ignore_is_not_reported_as_guarded() {
    for text in [
        "{ // mine\n}\n",
        "{\"disableAllHooks\": true}",
        "{\"hooks\":{\"PreToolUse\":[{\"hooks\":[{\"type\":\"x\"}]}]}}",
    ] {
        let test = TestContext::new();
        test.write("person/.claude/settings.json", text);
        let ran = test.run(&["install", "claude-code", "--yes"]);
        assert_eq!(ran.exit, 1, "{text}");
        assert!(
            ran.stdout.contains("note: ") && ran.stdout.contains("has hooks, but is not guarded"),
            "{}",
            ran.stdout
        );
        assert_eq!(
            test.run(&["install", "claude-code", "--yes", "--json"]).json()["in_force"],
            false,
            "{text}"
        );
    }
}

#[test]
fn a_home_that_cannot_be_written_blocks_with_the_reason() {
    let test = TestContext::new();
    let not_a_directory = test.write("file", "");
    let home = not_a_directory.join("home");
    let ran = test.run_with(
        &["--home", home.to_str().unwrap(), "hook", "claude-code", "pre-tool-use"],
        test.bash("ls").as_bytes(),
    );
    assert_eq!(ran.exit, 2);
    assert!(ran.stderr.contains("cannot create"), "{}", ran.stderr);
}

#[test]
fn pipes_and_locks_of_other_processes_do_not_hang_a_gate() {
    let test = TestContext::new();
    let made = std::process::Command::new("mkfifo").arg(test.home().join("policy.yaml")).status().unwrap();
    assert!(made.success());
    let ran = test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("rm -rf /").as_bytes());
    assert_eq!(
        ran.json()["hookSpecificOutput"]["permissionDecision"],
        "deny",
        "the built-in rules still apply"
    );

    assert_eq!(test.decisions().len(), 1);
    let keeper = std::fs::File::open(test.home().join("ledger/lock")).unwrap();
    keeper.lock().unwrap();
    let ran = test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("rm -rf /").as_bytes());
    assert_eq!(
        ran.json()["hookSpecificOutput"]["permissionDecision"],
        "deny",
        "spooled, with the usual decision"
    );
}

#[test]
fn an_unread_deny_is_still_a_deny() {
    let test = TestContext::new();
    let program = env!("CARGO_BIN_EXE_tenterhook");
    let payload = test.write("payload.json", &test.bash("rm -rf /"));
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    // The reading end is closed before the hook starts.
    let (_, closed) = std::io::pipe().unwrap();
    for (name, output) in [("full", Stdio::from(full)), ("closed", Stdio::from(closed))] {
        let mut command =
            test.command(std::path::Path::new(program), &["hook", "claude-code", "pre-tool-use"]);
        command.stdin(std::fs::File::open(&payload).unwrap()).stdout(output).stderr(Stdio::null());
        assert_eq!(command.status().unwrap().code(), Some(2), "{name}");
    }
}

#[test]
fn standard_input_that_is_never_closed_is_refused_in_time() {
    let test = TestContext::new();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_tenterhook"));
    let mut command = test.command(program, &["hook", "--within", "1", "claude-code", "pre-tool-use"]);
    command.stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let open = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(open);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("was not closed within 1 s"));
}

#[test]
fn a_broken_policy_loses_only_its_own_rules_and_is_reported_at_session_start() {
    let test = TestContext::new();
    test.write("home/policy.yaml", "version: 1\nrules:\n  - id: broken\n    verdict: maybe\n");
    test.write("home/tenterhook.yaml", "hooks: [");
    let ran = test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("rm -rf /").as_bytes());
    assert_eq!(
        ran.json()["hookSpecificOutput"]["permissionDecision"],
        "deny",
        "the built-in rules still apply"
    );

    let start =
        json!({"hook_event_name": "SessionStart", "session_id": "s", "source": "startup"}).to_string();
    let ran = test.run_with(&["hook", "claude-code", "session-start"], start.as_bytes());
    let message = ran.json()["systemMessage"].as_str().unwrap().to_owned();
    assert_eq!(message, "Tenterhook: 2 of your rules or hooks cannot be used; run `tenterhook check`");

    let ran = test.run(&["check"]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stdout.contains("[DIR]/home/policy.yaml:"), "{}", ran.stdout);
    assert!(ran.stdout.contains("[DIR]/home/tenterhook.yaml:"), "{}", ran.stdout);
}
