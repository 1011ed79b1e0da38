// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `judge`: evaluates only rules, without a state directory.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext};

const NO_DOCKER: &str = "version: 1\nrules:\n  - id: no-docker\n    match: {shell: {program: docker}}\n    \
                         verdict: ask\n    reason: no containers here\n";

/// Runs the program with an empty environment.
fn run_bare(test: &TestContext, args: &[&str], stdin: &str) -> CommandOutput {
    let mut command = test.command(Path::new(env!("CARGO_BIN_EXE_tenterhook")), args);
    command.env_clear();
    test.run_command(command, stdin.as_bytes())
}

fn json_lines(ran: &CommandOutput) -> Vec<Value> {
    ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_command_is_judged_without_a_home() {
    let test = TestContext::new();
    let ran = run_bare(&test, &["judge", "--shell", "rm -rf ~/work"], "");
    assert_eq!((ran.exit, ran.stderr.as_str()), (0, ""));
    assert_eq!(
        ran.stdout,
        "  denied: blocked\n  recursive-delete  This would delete a whole directory tree outside the \
         project, or the project itself.\n  → delete only the paths you mean, by name, inside the project, or ask the \
         user to do it\n"
    );
    assert!(std::fs::read_dir(test.home()).unwrap().next().is_none(), "nothing is written");
}

#[test]
fn the_exit_code_gives_the_verdict_only_on_request() {
    let test = TestContext::new();
    let policy = test.write("p.yaml", NO_DOCKER);
    let policy = policy.to_str().unwrap();
    for (command, code) in [("ls", 0), ("docker ps", 3), ("docker ps; rm -rf /", 4)] {
        let args = ["judge", "--shell", command, "--policy", policy];
        assert_eq!(run_bare(&test, &args, "").exit, 0, "{command}");
        assert_eq!(run_bare(&test, &[&args[..], &["--exit-code"]].concat(), "").exit, code, "{command}");
    }
}

#[test]
fn every_input_line_gets_an_output_line() {
    let test = TestContext::new();
    let event = json!({
        "v": 1, "id": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "ts": "2026-01-01T00:00:00Z", "source": "x", "event": "pre-tool",
        "native_event": "PreToolUse", "cwd": "/w",
        "tool": {"name": "Read", "class": "read", "args": {"file_path": "/home/u/.ssh/id_rsa"}},
    });
    let input = [
        r#"{"command": "rm -rf /", "id": 7}"#,
        r#"{"command": "ls", "command": "rm -rf /"}"#,
        "",
        r#"{"command": "rm -rf work", "cwd": "/home/u/x"}"#,
        r#"{"command": "rm -rf /home/u/x/work", "cwd": "/home/u/x"}"#,
        r#"{"command": "rm -rf /home/u/x/work", "cwd": "/home/u/y"}"#,
        &event.to_string(),
        r#"{"command": ["ls"]}"#,
        "[1]",
        r#"{"event": "pre-tool"}"#,
        r#"{"command": "ls"}"#,
    ]
    .join("\n");
    let ran = run_bare(&test, &["judge", "--jsonl"], &input);
    assert_eq!(ran.exit, 1, "some lines could not be read");
    let lines = json_lines(&ran);
    let said: Vec<_> = lines
        .iter()
        .map(|line| line["verdict"].as_str().or(line["error"].as_str().map(|_| "error")).unwrap())
        .collect();
    assert_eq!(
        said,
        ["deny", "error", "error", "none", "none", "deny", "deny", "error", "error", "error", "none"]
    );
    assert_eq!((&lines[0]["id"], &lines[0]["rule"]), (&json!(7), &json!("recursive-delete")));
    assert_eq!(lines[6]["id"], "01ARZ3NDEKTSV4RRFFQ69G5FAV");
    assert_eq!(lines[10], json!({"verdict": "none", "rule": null, "reason": null}));
    assert!(lines[1]["error"].as_str().unwrap().contains("duplicate key"), "{}", lines[1]);
}

#[test]
fn an_answer_does_not_wait_for_the_next_line() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_tenterhook"))
        .args(["judge", "--jsonl", "-"])
        .env_clear()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    for _ in 0..3 {
        input.write_all(b"{\"command\": \"rm -rf /\"}\n").unwrap();
        assert!(output.next().unwrap().unwrap().contains("\"deny\""));
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn the_directory_comes_from_the_line_then_the_option_then_the_process() {
    let test = TestContext::new();
    let line = r#"{"command": "rm -rf /srv/app/build"}"#;
    let verdict = |args: &[&str]| json_lines(&run_bare(&test, args, line))[0]["verdict"].clone();
    assert_eq!(verdict(&["judge", "--jsonl"]), "deny");
    assert_eq!(verdict(&["judge", "--jsonl", "--cwd", "/srv/app"]), "none");
    let ran =
        run_bare(&test, &["judge", "--cwd", "/srv/app", "--json", "--shell", "rm -rf /srv/app/build"], "");
    assert_eq!(ran.json()["verdict"], "none");
}

#[test]
fn the_baseline_can_be_left_out_and_a_broken_policy_is_refused() {
    let test = TestContext::new();
    let policy = test.write("p.yaml", NO_DOCKER);
    let policy = policy.to_str().unwrap();
    let args = ["judge", "--no-baseline", "--policy", policy, "--json", "--shell"];
    assert_eq!(run_bare(&test, &[&args[..], &["rm -rf /"]].concat(), "").json()["verdict"], "none");
    assert_eq!(run_bare(&test, &[&args[..], &["docker ps"]].concat(), "").json()["rule"], "no-docker");

    let broken = test.write("b.yaml", &NO_DOCKER.replace("verdict", "vredict"));
    let ran = run_bare(&test, &["judge", "--shell", "ls", "--policy", broken.to_str().unwrap()], "");
    assert_eq!(ran.exit, 2);
    assert!(ran.stderr.contains("b.yaml:5:5"), "{}", ran.stderr);
}
