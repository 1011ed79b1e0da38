// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `tenterhook sessions`.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use super::*;

fn daemon_with_sessions() -> RunningDaemon {
    let test = crate::context::TestContext::new();
    let rule = "version: 1\nrules:\n  - id: no-rm\n    verdict: deny\n    match: {shell: {program: [rm]}}\n    reason: no\n    nudge: use `git clean`\n";
    test.write("home/policy.yaml", rule);
    let served = RunningDaemon::in_home(test, &[]);
    served.call("SessionStart", &json!({"source": "startup", "model": "claude-test-1"}));
    served.call("UserPromptSubmit", &json!({"prompt": "please tidy up\u{1b}[2J"}));
    let todos = json!([{"content": "tidy", "status": "completed"}, {"content": "test", "status": "in_progress", "activeForm": "testing"}]);
    let todos = json!({"tool_name": "TodoWrite", "tool_input": {"todos": todos}, "tool_use_id": "t-0"});
    served.call("PreToolUse", &todos);
    let edit = json!({"tool_name": "Edit", "tool_input": {"file_path": "a.txt", "old_string": "one", "new_string": "two"}, "tool_use_id": "t-1"});
    served.call("PreToolUse", &edit);
    served.call("PostToolUse", &with_fields(edit, json!({"tool_response": {}})));
    served.bash("rm -r build");
    served.bash("git clean -n");
    served
}

/// Replaces values that differ from run to run.
fn normalize(text: &str) -> String {
    let mut text = text.replace(", 1s\n", ", 0s\n");
    while let Some(at) = text.find("20").filter(|at| text.as_bytes().get(at + 4) == Some(&b'-')) {
        text.replace_range(at..at + 19, "[WHEN]");
    }
    text
}

#[test]
fn a_session_is_a_panel() {
    let served = daemon_with_sessions();
    let shown = served.test.run(&["sessions", "show", "latest"]);
    let alone = {
        let mut served = served;
        served.signal(rustix::process::Signal::TERM);
        assert!(served.wait());
        served.test.run(&["sessions", "show", "s-"])
    };
    assert_eq!(shown.stdout, alone.stdout, "{}{}", shown.stderr, alone.stderr);
    let user = format!(" · {} · ", tenterhook_home::env::current_user());
    insta::assert_snapshot!(normalize(&shown.stdout).replace(&user, " · [USER] · "), @r"
    please tidy up[2J  active
    claude-code · s-1 · claude-test-1 · [USER] · [DIR]/work
    started [WHEN], 0s

    Files changed (1)
      a.txt  Edit  +1 −1

    Todo list (1/2)
      ✓ tidy
      ▸ testing

    Tools (3 calls, 1 ok, 1 denied)
      Bash  2 calls, 1 denied
      Edit  1 call, 1 ok

    Denied (1; suggestions taken 1/1)
      ✗ Bash rm -r build  no-rm
        → use `git clean`: taken

    Tokens and cost: not reported by the harness.
    ");
}

#[test]
fn sessions_are_a_table_and_missing_ones_are_reported() {
    let served = daemon_with_sessions();
    let listed = served.test.run(&["sessions", "list"]);
    insta::assert_snapshot!(normalize(&listed.stdout), @r"
    LAST                 HARNESS       STATE     SESSION     EVENTS  FILES  TODOS  DENIED  TITLE
    [WHEN]  claude-code   active    s-1              7      1    1/2       1  please tidy up[2J
    ");
    let none = served.test.run(&["sessions", "list", "--harness", "codex"]);
    assert_eq!((none.stdout.as_str(), none.exit), ("no matching sessions\n", 0));
    let unknown = served.test.run(&["sessions", "show", "nobody"]);
    assert_eq!(unknown.exit, 1);
    assert!(unknown.stderr.contains("unknown session `nobody`"), "{}", unknown.stderr);
    let diff = served.test.run(&["sessions", "show", "s-1", "--diff", "a.txt"]);
    assert!(diff.stdout.contains("-one\n+two\n"), "{}", diff.stdout);
    let timeline = served.test.run(&["sessions", "show", "s-1", "--timeline"]);
    assert_eq!(timeline.stdout.lines().count(), 7, "{}", timeline.stdout);
    let empty = crate::context::TestContext::new().run(&["sessions", "list"]);
    assert_eq!(empty.exit, 0);
    assert!(
        empty.stdout.contains("no sessions yet") && empty.stdout.contains("tenterhook install --list"),
        "{}",
        empty.stdout
    );
}

#[test]
fn following_shows_events_live() {
    let served = RunningDaemon::new();
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_tenterhook"));
    let mut command = served.test.command(program, &["sessions", "follow", "--json", "-n", "3"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    until("the follower is connected", || {
        served.get("/v1/metrics").body.contains("tenterhook_streams 1\n").then_some(())
    });
    let write = json!({"tool_name": "Write", "tool_input": {"file_path": "a.txt", "content": "x\n"}, "tool_use_id": "t-1"});
    served.call("PreToolUse", &write);
    served.call("PostToolUse", &with_fields(write, json!({"tool_response": {"type": "create"}})));
    let mut next = || serde_json::from_str::<Value>(&lines.next().unwrap().unwrap()).unwrap();
    let seen = [next(), next(), next()];
    assert!(child.wait().unwrap().success());
    let kinds = seen
        .each_ref()
        .map(|news| (news["event"].as_str().unwrap(), news["data"]["state"].as_str().unwrap()));
    assert_eq!(kinds, [("tool", "asked"), ("tool", "done"), ("file-changed", "done")]);
    let changed = &seen[2]["data"];
    assert_eq!(
        (&changed["session"], &changed["shown"], &changed["tool_use_id"]),
        (&json!("s-1"), &json!("a.txt"), &json!("t-1"))
    );
}

#[test]
fn without_a_daemon_the_ledger_is_followed() {
    let mut served = RunningDaemon::new();
    served.bash("ls");
    served.signal(rustix::process::Signal::TERM);
    assert!(served.wait());
    let test = &served.test;
    let program = std::path::Path::new(env!("CARGO_BIN_EXE_tenterhook"));
    let mut command = test.command(program, &["sessions", "follow", "--json", "-n", "4"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "no daemon is running: polling the ledger\n");
    // Hooks decide without a daemon and write their decisions to the spool.
    let call = json!({"tool_name": "Write", "tool_input": {"file_path": "a.txt", "content": "x\n"}, "tool_use_id": "t-1"});
    let result = with_fields(call.clone(), json!({"tool_response": {"type": "create"}}));
    let denied = json!({"tool_name": "Bash", "tool_input": {"command": "rm -rf /"}, "tool_use_id": "t-2"});
    for (event, payload) in [("PreToolUse", call), ("PostToolUse", result), ("PreToolUse", denied)] {
        let whole = json!({"session_id": "s-1", "cwd": test.path("work"), "hook_event_name": event});
        test.run_with(&["hook", "claude-code", event], with_fields(whole, payload).to_string().as_bytes());
    }
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let news: Vec<Value> = lines.map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect();
    assert!(child.wait().unwrap().success());
    let told = news.iter().map(|news| {
        let (event, data) = (news["event"].as_str().unwrap(), &news["data"]);
        (event, data["state"].as_str().unwrap(), data["tool_use_id"].as_str().unwrap())
    });
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            ("tool", "asked", "t-1"),
            ("tool", "done", "t-1"),
            ("file-changed", "done", "t-1"),
            ("tool", "denied", "t-2")
        ],
        "earlier events are not repeated"
    );
    let empty = crate::context::TestContext::new().run(&["sessions", "follow"]);
    assert_eq!(empty.exit, 0);
    assert!(
        empty.stdout.contains("no sessions yet") && empty.stdout.contains("tenterhook install --list"),
        "{}",
        empty.stdout
    );
}

#[test]
fn one_session_is_followed_without_the_others() {
    let served = RunningDaemon::new();
    let mut one = served.stream("/v1/sessions/claude-code:s-2/stream", &[]);
    assert_eq!(one.next().unwrap().kind, "hello");
    served.bash("ls");
    served.call("UserPromptSubmit", &json!({"session_id": "s-2", "prompt": "mine"}));
    let told = one.next().unwrap();
    assert_eq!(
        (told.kind.as_str(), &told.data["text"], &told.data["session"]),
        ("prompt", &json!("mine"), &json!("s-2"))
    );
}
