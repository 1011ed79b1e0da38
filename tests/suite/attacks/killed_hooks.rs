// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Hook programs that are killed while they wait for the daemon. The client may then run the tool without an answer.
//! The daemon notices and records both the killed hook and the tool that ran.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::daemon::RunningDaemon;
use crate::terminal_user::until;

/// Arguments of the hook command.
const CLAUDE_CODE: &[&str] = &["claude-code", "pre-tool-use"];

/// A daemon with Claude Code's hooks installed, and a user's hook that takes as long as the test wants.
fn start_daemon() -> RunningDaemon {
    start_daemon_in(TestContext::new())
}

fn start_daemon_in(test: TestContext) -> RunningDaemon {
    assert_eq!(test.run(&["install", "claude-code", "--yes"]).exit, 0);
    let [asked, go] = ["work/asked", "work/go"].map(|name| test.path(name).display().to_string());
    let command = format!("cat >/dev/null; touch {asked}; until test -e {go}; do sleep 0.02; done");
    let hook = json!({"id": "slow", "on": "pre-tool", "command": command, "timeout": "30s"});
    // JSON is valid YAML.
    test.write("home/tenterhook.yaml", &json!({"hooks": [hook]}).to_string());
    RunningDaemon::in_home(test, &[])
}

fn payload(served: &RunningDaemon, event: &str, id: &str) -> Value {
    let mut payload = json!({
        "session_id": "s", "cwd": served.test.path("work"), "hook_event_name": event, "tool_name": "Bash",
        "tool_input": {"command": "ls"}, "tool_use_id": id,
    });
    if event == "PostToolUse" {
        payload["tool_response"] = json!({"stdout": ""});
    }
    payload
}

/// Starts the installed hook program, which waits for the daemon's answer about a call.
fn spawn_waiting_hook(served: &RunningDaemon, id: &str, args: &[&str]) -> Child {
    let program = served.test.home().join("bin/tenterhook-hook");
    let mut command = served.test.command(&program, args);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let payload = payload(served, "PreToolUse", id).to_string();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    let asked = served.test.path("work/asked");
    until("the slow hook was called", || asked.exists().then_some(()));
    std::fs::remove_file(asked).unwrap();
    child
}

/// A connection with a call that waits for its answer.
fn open_call(served: &RunningDaemon, payload: &str) -> UnixStream {
    let mut stream = UnixStream::connect(served.socket()).unwrap();
    let length = payload.len();
    let head = format!("TH1 hook claude-code pre-tool-use 01JCQZ8W3N6R5T4V7X9Y2B1D0F 55000 {length}\n\n");
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(payload.as_bytes()).unwrap();
    stream
}

/// Lets the slow hook answer.
fn release_slow_hook(served: &RunningDaemon) {
    served.test.write("work/go", "");
}

fn undelivered(served: &RunningDaemon) -> Value {
    served.json("/v1/health")["undelivered"].clone()
}

/// Records of this name.
fn changes(served: &RunningDaemon, name: &str) -> Vec<Value> {
    let ran = served.test.run(&["ledger", "query", "--kind", "change", "--limit", "100", "--json"]);
    let leaves = ran.json()["leaves"].as_array().cloned().unwrap();
    leaves.into_iter().map(|leaf| leaf["leaf"].clone()).filter(|leaf| leaf["what"] == name).collect()
}

#[test]
fn a_killed_hook_and_a_tool_that_ran_without_its_answer_are_recorded() {
    let served = start_daemon();
    let mut hook = spawn_waiting_hook(&served, "u-1", CLAUDE_CODE);
    hook.kill().unwrap();
    hook.wait().unwrap();
    // The daemon notices at once, before the slow hook has answered.
    until("the killed hook is noticed", || (undelivered(&served)["count"] == 1).then_some(()));
    release_slow_hook(&served);
    let lost = until("it is recorded", || changes(&served, "answer not delivered").pop());
    assert_eq!(
        lost["detail"],
        json!({"harness": "claude-code", "event": "PreToolUse", "tool": "Bash", "session": "s"})
    );
    let decision = until("the decision is recorded", || {
        served.test.records().into_iter().find(|leaf| leaf["native_event"] == "PreToolUse")
    });
    assert_eq!(lost["links"], json!([decision["id"]]), "it names the decision");
    let status = served.test.run(&["status"]).stdout;
    assert!(status.contains("1 hook program ended before the daemon's answer arrived"), "{status}");
    assert!(!status.contains("without an answer"), "{status}");

    let program = served.test.home().join("bin/tenterhook-hook");
    for id in ["u-2", "u-1"] {
        let command = served.test.command(&program, &["claude-code", "post-tool-use"]);
        let payload = payload(&served, "PostToolUse", id).to_string();
        assert_eq!(served.test.run_command(command, payload.as_bytes()).exit, 0);
    }
    let ran = until("it is recorded", || changes(&served, "tool ran without its answer").pop());
    let result = served
        .test
        .records()
        .into_iter()
        .find(|leaf| leaf["tool_use_id"] == "u-1" && leaf["native_event"] == "PostToolUse");
    assert_eq!(ran["links"], json!([decision["id"], result.unwrap()["id"]]));
    assert_eq!(changes(&served, "tool ran without its answer").len(), 1, "not for the other call");
    let report = undelivered(&served);
    assert_eq!((&report["count"], &report["ran"]), (&json!(1), &json!(1)));
    let status = served.test.run(&["status"]).stdout;
    assert!(status.contains("the client ran 1 of these tools without an answer"), "{status}");
    let doctor = served.test.run(&["doctor"]);
    assert!(doctor.stdout.contains("without an answer") && doctor.exit != 0, "{}", doctor.stdout);
}

#[test]
fn a_slow_answer_that_arrives_causes_no_warning() {
    let served = start_daemon();
    let hook = spawn_waiting_hook(&served, "u-1", CLAUDE_CODE);
    std::thread::sleep(Duration::from_millis(400));
    release_slow_hook(&served);
    assert!(hook.wait_with_output().unwrap().status.success());
    // A caller that has closed only its writing side is not treated as killed either.
    let payload = payload(&served, "PreToolUse", "u-2").to_string();
    std::fs::remove_file(served.test.path("work/go")).unwrap();
    let mut stream = open_call(&served, &payload);
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    std::thread::sleep(Duration::from_millis(400));
    release_slow_hook(&served);
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    assert!(reply.contains("TH1 reply 0"), "{reply}");
    assert_eq!(undelivered(&served), json!({"count": 0, "ran": 0, "recent": []}));
    assert!(changes(&served, "answer not delivered").is_empty());
}

/// No approval is requested for a call whose caller is gone.
#[test]
fn a_call_of_a_killed_hook_does_not_wait_for_an_approval() {
    let test = TestContext::new();
    let rule =
        "version: 1\nrules:\n  - {id: ask-ls, match: {shell: {program: ls}}, verdict: ask, reason: asked}\n";
    test.write("home/policy.yaml", rule);
    let served = start_daemon_in(test);
    let mut hook = spawn_waiting_hook(&served, "u-1", &["codex", "pre-tool-use"]);
    hook.kill().unwrap();
    hook.wait().unwrap();
    until("the killed hook is noticed", || (undelivered(&served)["count"] == 1).then_some(()));
    // Only after the slow hook has answered does the rule ask.
    release_slow_hook(&served);
    let expired = until("it is recorded", || changes(&served, "approval expired").pop());
    assert_eq!(expired["detail"]["why"], "the caller is gone");
    assert_eq!(served.json("/v1/health")["pending"], 0);
}

/// The hook dies at the moment when its answer is sent, so it never reads the answer.
#[test]
fn an_answer_that_was_sent_and_not_read_is_not_delivered() {
    let served = start_daemon();
    let payload = payload(&served, "PreToolUse", "u-1").to_string();
    let stream = open_call(&served, &payload);
    release_slow_hook(&served);
    until("it is decided", || {
        served.test.records().into_iter().find(|leaf| leaf["native_event"] == "PreToolUse")
    });
    std::thread::sleep(Duration::from_millis(300));
    drop(stream);
    until("it is recorded", || changes(&served, "answer not delivered").pop());
}

#[test]
fn a_hook_that_evaluates_the_call_itself_gets_its_own_answer() {
    let served = start_daemon();
    let hook = spawn_waiting_hook(&served, "u-1", &["claude-code", "pre-tool-use", "--within", "1"]);
    std::thread::sleep(Duration::from_millis(1300));
    // The hook program evaluates the call itself, which runs the slow hook again.
    release_slow_hook(&served);
    assert!(hook.wait_with_output().unwrap().status.success());
    let program = served.test.home().join("bin/tenterhook-hook");
    let command = served.test.command(&program, &["claude-code", "post-tool-use"]);
    let payload = payload(&served, "PostToolUse", "u-1").to_string();
    assert_eq!(served.test.run_command(command, payload.as_bytes()).exit, 0);
    until("its own decision is known", || (undelivered(&served)["count"] == 0).then_some(()));
    assert!(changes(&served, "tool ran without its answer").is_empty());
}
