// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The reference agent, with a real daemon and without a daemon.

use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::thread;

use rustix::process::{Pid, Signal};
use serde_json::{Value, json};

use crate::context::{CommandOutput, TestContext};
use crate::terminal_user::{SocketDaemon, terminal, until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_tenterhook");

/// Script of a model that tries a denied command, follows the suggestion in the reply and starts a subagent.
const SCRIPT: &str = r#"
turns:
  - { say: I clear the home., call: { Bash: { command: "rm -rf ~/work" } } }
  - { if: nudged, say: Then only this., call: { Bash: { command: "echo kept > kept.txt" } } }
  - { call: { Task: { description: look, prompt: look, subagent_type: general } } }
  - say: Done.
subagents:
  general: [ { call: { Read: { file_path: kept.txt } } }, { say: It says kept. } ]
"#;

fn agent(test: &TestContext, script: &str, more: &[&str]) -> CommandOutput {
    let file = test.write("script.yaml", script);
    let provider = format!("scripted:{}", file.display());
    let mut args = vec!["agent", "run", "-p", "tidy up", "--provider", &provider];
    args.extend(more);
    test.run(&args)
}

fn kinds(leaves: &[Value]) -> Vec<&str> {
    leaves.iter().map(|leaf| leaf["event"].as_str().unwrap()).collect()
}

#[test]
fn a_session_is_judged_and_recorded_the_same_with_a_daemon_and_without() {
    let mut both = Vec::new();
    for with_daemon in [true, false] {
        let test = TestContext::new();
        let guard = with_daemon.then(|| SocketDaemon::of(&test));
        let ran = agent(&test, SCRIPT, &["--permission-mode", "bypassPermissions"]);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        assert!(!ran.stdout.contains('\u{1b}'), "output without a terminal has no colours");
        for part in
            ["> tidy up", "✗ denied [recursive-delete]", "→ ", "● Then only this.", "┌ general", "● Done."]
        {
            assert!(ran.stdout.contains(part), "`{part}` is not in\n{}", ran.stdout);
        }
        assert_eq!(std::fs::read_to_string(test.path("work/kept.txt")).unwrap(), "kept\n");
        drop(guard);
        let leaves = test.decisions();
        let told = leaves.iter().map(|leaf| {
            assert_eq!(leaf["source"], "tenterhook-agent");
            format!("{} {} {}", leaf["event"], leaf["verdict"], leaf["agent"]["type"])
        });
        both.push(told.collect::<Vec<_>>());
    }
    assert_eq!(both[0], both[1]);
    assert_eq!(both[0].iter().filter(|line| line.contains("deny")).count(), 1);
}

#[test]
fn the_session_is_seen_as_one_with_its_todos_files_and_subagent() {
    let test = TestContext::new();
    let guard = SocketDaemon::of(&test);
    let script = r"
turns:
  - calls:
      - { TodoWrite: { todos: [ { content: write, status: completed }, { content: check, status: pending } ] } }
      - { Write: { file_path: made.txt, content: x } }
      - { Task: { description: d, prompt: p, subagent_type: general } }
  - say: Done.
subagents:
  general: [ { say: fine } ]
";
    let ran = agent(&test, script, &["--permission-mode", "acceptEdits", "--json"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let id = lines[0]["session"].as_str().unwrap();
    assert_eq!(lines.last().unwrap(), &json!({"what": "end", "finished": true, "text": "Done."}));
    let list = guard.request("GET", "/v1/sessions", &Value::Null).1.to_string();
    assert!(list.contains(id), "{list}");
    let shown = guard.request("GET", &format!("/v1/sessions/{id}"), &Value::Null).1.to_string();
    for part in ["made.txt", "\"write\"", "agent-1", "tidy up"] {
        assert!(shown.contains(part), "`{part}` is not in {shown}");
    }
}

#[test]
fn a_call_that_a_rule_asks_about_waits_for_approval_elsewhere() {
    let test = TestContext::new();
    test.write(
        "home/policy.yaml",
        "version: 1\nrules:\n  - {id: ask-make, match: {shell: {program: make}}, verdict: ask, reason: people make things}\n",
    );
    let guard = SocketDaemon::of(&test);
    let script = "turns:\n  - { call: { Bash: { command: make --version } } }\n  - { if: failed, say: no }\n  - say: yes\n";
    let play = |answer: &[&str]| {
        thread::scope(|scope| {
            let ran = scope.spawn(|| agent(&test, script, &["--permission-mode", "bypassPermissions"]));
            let id = until("the call waits", || {
                let pending = guard.request("GET", "/v1/approvals", &Value::Null).1;
                pending["pending"][0]["id"].as_str().map(ToOwned::to_owned)
            });
            let mut words = vec!["approvals", answer[0], &id];
            words.extend(&answer[1..]);
            let said = test.run_on_terminal(&words);
            assert_eq!(said.exit, 0, "{}", said.stderr);
            ran.join().unwrap().stdout
        })
    };
    let yes = play(&["approve"]);
    assert!(yes.contains("● yes") && yes.contains("GNU Make"), "{yes}");
    let no = play(&["deny", "--note", "not now"]);
    assert!(no.contains("● no") && no.contains("Denied by ") && no.contains(": not now"), "{no}");
}

#[test]
fn ctrl_c_ends_the_agent_and_everything_it_started() {
    let test = TestContext::new();
    let guard = SocketDaemon::of(&test);
    let file =
        test.write("script.yaml", "turns: [{ call: { Bash: { command: 'echo $$ > pid; sleep 60' } } }]");
    let provider = format!("scripted:{}", file.display());
    let args =
        ["agent", "run", "-p", "go", "--provider", &provider, "--permission-mode", "bypassPermissions"];
    let mut command = test.command(Path::new(PROGRAM), &args);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = until("the command runs", || {
        std::fs::read_to_string(test.path("work/pid")).ok().filter(|text| text.ends_with('\n'))
    });
    rustix::process::kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(130), "{}", String::from_utf8_lossy(&ended.stderr));
    until("the command is gone", || (!Path::new("/proc").join(pid.trim()).exists()).then_some(()));
    drop(guard);
    let leaves = test.decisions();
    assert_eq!(kinds(&leaves).last(), Some(&"session-end"), "{:?}", kinds(&leaves));
}

#[test]
fn the_user_at_the_terminal_is_asked() {
    let script = "turns:\n  - { call: { Bash: { command: echo hello } } }\n  - { if: failed, say: no }\n  - say: yes\n";
    for (typed, expected, said) in
        [("y\n", "permission-granted", "● yes"), ("rather not\n", "permission-denied", "● no")]
    {
        let test = TestContext::new();
        let provider = format!("scripted:{}", test.write("script.yaml", script).display());
        let (mut master, slave) = terminal();
        let mut command =
            test.command(Path::new(PROGRAM), &["agent", "run", "-p", "go", "--provider", &provider]);
        command.stdin(slave.try_clone().unwrap()).stderr(slave).stdout(Stdio::piped());
        let child = command.spawn().unwrap();
        drop(command);
        let mut asked = String::new();
        until("the prompt appears", || {
            let mut room = [0; 1024];
            let count = master.read(&mut room).unwrap_or(0);
            asked += &String::from_utf8_lossy(&room[..count]);
            asked.contains("y: allow").then_some(())
        });
        assert!(asked.contains("Bash") && asked.contains("echo hello"), "{asked}");
        master.write_all(typed.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && shown.contains(said), "{shown}");
        assert!(kinds(&test.decisions()).contains(&expected));
    }
}

#[test]
fn same_user_what_the_agent_starts_is_a_guarded_agent() {
    let test = TestContext::new();
    let guard = SocketDaemon::of(&test);
    // Rules would deny this command. They would find it in the script too, so padding makes the script too
    // large to be read.
    let padding = "# padding\n".repeat(8_000);
    test.write("work/end.sh", &format!("{padding}{PROGRAM} mode monitor </dev/null >said 2>&1\n"));
    let script = "turns:\n  - { call: { Bash: { command: sh ./end.sh } } }\n  - say: Done.\n";
    let ran = agent(&test, script, &["--permission-mode", "bypassPermissions"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let said = std::fs::read_to_string(test.path("work/said")).unwrap_or_else(|_| ran.stdout.clone());
    assert!(said.contains("guarded agent"), "{said}");
    assert_eq!(guard.request("GET", "/v1/health", &Value::Null).1["mode"], "enforce");
}

#[test]
fn mistakes_are_reported_with_a_hint() {
    let test = TestContext::new();
    let said = [
        agent(&test, "turns: []", &[]),
        agent(&test, SCRIPT, &["--permission-mode", "yolo"]),
        agent(&test, SCRIPT, &["--cwd", "nowhere"]),
        agent(&test, SCRIPT, &["--mcp-config", "nowhere.json"]),
        test.run(&["agent", "run", "-p", "x", "--provider", "anthropic"]),
        test.run(&["agent", "run", "-p", "x", "--provider", "nobody"]),
    ];
    let said: Vec<_> = said.iter().map(|ran| format!("{} {}", ran.exit, ran.stderr)).collect();
    insta::assert_snapshot!(said.join(""), @"
    2 error: [DIR]/script.yaml: `turns` has no turns
    hint: see docs/guide/agent.md for the script format
    2 error: unknown permission mode `yolo`
    hint: known: default, acceptEdits, plan, bypassPermissions, dontAsk
    2 error: `[DIR]/work/nowhere` is not a directory
    2 error: failed to open file `nowhere.json`: No such file or directory (os error 2)
    2 error: no API key for anthropic
    hint: set ANTHROPIC_API_KEY, or use --provider scripted:FILE
    2 error: unknown provider `nobody`
    hint: use one of: anthropic, openai, gemini, scripted:FILE
    ");
}
