// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The parts of `doctor --prove` that need no real client; `tests/e2e/tests/prove.rs` runs real ones.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::Value;

use crate::context::{CommandOutput, TestContext};

/// Writes a program of this name to a directory on the search path.
fn write_program(test: &TestContext, name: &str, script: &str) {
    let path = test.write(&format!("bin/{name}"), &format!("#!/bin/sh\n{script}\n"));
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn prove(test: &TestContext, args: &[&str]) -> CommandOutput {
    let args = [&["doctor", "--json", "--prove"], args].concat();
    let mut command = test.command(Path::new(env!("CARGO_BIN_EXE_tenterhook")), &args);
    command.env("PATH", format!("{}:/usr/bin:/bin", test.path("bin").display()));
    command.env("USER_SECRET", "hunter2");
    test.run_command(command, b"")
}

fn only_result(ran: &CommandOutput) -> Value {
    let report = ran.json();
    assert_eq!(report["harnesses"].as_array().unwrap().len(), 1, "{report}");
    report["harnesses"][0].clone()
}

#[test]
fn nothing_to_prove_is_not_a_failure() {
    let test = TestContext::new();
    let ran = prove(&test, &[]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    assert_eq!(ran.json(), serde_json::json!({"proven": true, "harnesses": []}));
}

#[test]
fn an_unknown_harness_is_refused() {
    let test = TestContext::new();
    let ran = prove(&test, &["claude-cod"]);
    assert_eq!(ran.exit, 2);
    assert!(ran.stderr.contains("did you mean `claude-code`?"), "{}", ran.stderr);
    assert_eq!(test.run(&["doctor", "--prove", "--fix"]).exit, 2, "the options are exclusive");
    assert_eq!(test.run(&["doctor", "--within", "3"]).exit, 2, "there is nothing to wait for");
}

#[test]
fn a_client_that_cannot_be_run_is_not_provable_and_fails_only_if_it_is_named() {
    let test = TestContext::new();
    assert_eq!(test.run(&["install", "claude-code", "cursor", "--yes"]).exit, 0);
    let ran = prove(&test, &[]);
    assert_eq!(ran.exit, 0, "{}", ran.stdout);
    for proof in ran.json()["harnesses"].as_array().unwrap() {
        assert_eq!(proof["result"], "not-provable", "{proof}");
    }
    let named = prove(&test, &["claude-code"]);
    assert_eq!(named.exit, 1);
    assert_eq!(only_result(&named)["reason"], "`claude` is not on the PATH");
    let cursor = only_result(&prove(&test, &["cursor"]));
    assert!(cursor["reason"].as_str().unwrap().contains("vendor's services"), "{cursor}");
    let gemini = only_result(&prove(&test, &["gemini"]));
    assert!(gemini["reason"].as_str().unwrap().contains("not installed"), "{gemini}");
    assert_eq!(gemini["fix"], "`tenterhook install gemini`");
}

#[test]
fn a_client_that_calls_no_model_is_not_provable_and_says_what_it_printed() {
    let test = TestContext::new();
    assert_eq!(test.run(&["install", "claude-code", "--yes"]).exit, 0);
    write_program(&test, "claude", "echo 'please sign in' >&2; exit 1");
    let proof = only_result(&prove(&test, &["claude-code"]));
    assert_eq!(proof["result"], "not-provable", "{proof}");
    assert!(proof["reason"].as_str().unwrap().contains("please sign in"), "{proof}");
}

#[test]
fn a_hook_program_that_is_broken_is_not_fired() {
    let test = TestContext::new();
    assert_eq!(test.run(&["install", "claude-code", "--yes"]).exit, 0);
    write_program(&test, "claude", "exit 0");
    std::fs::remove_file(test.home().join("bin/tenterhook-hook")).unwrap();
    let ran = prove(&test, &[]);
    assert_eq!(ran.exit, 1, "{}", ran.stdout);
    assert_eq!(ran.json()["proven"], false);
    let proof = only_result(&ran);
    assert_eq!(proof["result"], "not-fired", "{proof}");
    assert!(proof["reason"].as_str().unwrap().contains("hook program does not work"), "{proof}");
}

#[test]
fn a_client_that_hangs_is_ended_with_what_it_started() {
    let test = TestContext::new();
    assert_eq!(test.run(&["install", "claude-code", "--yes"]).exit, 0);
    let beats = test.path("beats");
    let beat = format!("while :; do echo >>'{}'; sleep 0.01; done", beats.display());
    write_program(
        &test,
        "claude",
        &format!("[ \"$1\" = --version ] && exit\n({beat}) & setsid sh -c \"{beat}\" & sleep 60"),
    );
    let proof = only_result(&prove(&test, &["claude-code", "--within", "1"]));
    assert!(proof["reason"].as_str().unwrap().contains("did not end in time"), "{proof}");
    let count = || std::fs::metadata(&beats).unwrap().len();
    let counted = count();
    std::thread::sleep(std::time::Duration::from_millis(200));
    assert_eq!(count(), counted, "a process of the client still runs");
}

#[test]
fn a_client_sees_a_copy_of_hook_settings_and_nothing_else() {
    let test = TestContext::new();
    let settings = r#"{"env": {"KEY": "hunter2"}, "apiKeyHelper": "hunter2", "disableAllHooks": true,
        "hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "notify hunter2"}]}]}}"#;
    test.write("person/.claude/settings.json", settings);
    test.write("person/.claude/.credentials.json", "hunter2");
    test.run(&["install", "claude-code", "--yes"]);
    let seen = test.path("seen");
    let look = format!(
        "mkdir '{0}' || exit 0; env >'{0}/env'; cp -r \"$HOME\" '{0}/home'; pwd >'{0}/pwd'",
        seen.display()
    );
    write_program(&test, "claude", &look);
    prove(&test, &["claude-code"]);

    let mut texts = String::new();
    let mut folders = vec![seen.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else {
                texts += &std::fs::read_to_string(entry).unwrap();
            }
        }
    }
    assert!(!texts.contains("hunter2"), "{texts}");
    let person = test.path("person").display().to_string();
    assert!(!texts.contains(&person) && !texts.contains(test.home().to_str().unwrap()), "{texts}");
    let copy = std::fs::read_to_string(seen.join("home/.claude/settings.json")).unwrap();
    assert!(
        copy.contains("\"disableAllHooks\": true") && copy.contains("/state/bin/tenterhook-hook'"),
        "{copy}"
    );
    // The temporary directory is removed, and nothing was recorded.
    let pwd = std::fs::read_to_string(seen.join("pwd")).unwrap();
    assert!(!Path::new(pwd.trim()).exists(), "{pwd}");
    assert!(test.decisions().is_empty());
}
