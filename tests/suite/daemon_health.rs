// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the daemon reports about agents, hooks and sessions.

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::daemon::{RunningDaemon, until};

/// Polls health until the condition holds.
fn health(served: &RunningDaemon, what: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    until(what, || Some(served.json("/v1/health")).filter(&is_so))
}

#[test]
fn health_names_the_agents_that_are_guarded_and_those_that_are_not() {
    let test = TestContext::new();
    std::fs::create_dir(test.path("person/.claude")).unwrap();
    let served = RunningDaemon::in_home(test, &[]);
    let found = health(&served, "agents are looked for", |health| health.get("guarded").is_some());
    assert_eq!(found["guarded"], json!([]));
    assert!(found["unguarded"].as_array().unwrap().contains(&json!("claude-code")), "{found}");

    // Every program that calls hooks is guarded, even if its hooks were not set up by `install`.
    served.post(
        "/v1/hooks/codex/pre-tool-use",
        &json!({
            "session_id": "s", "turn_id": "t", "cwd": served.test.path("work"), "hook_event_name": "PreToolUse",
            "model": "m", "permission_mode": "default", "tool_name": "Bash",
            "tool_input": {"command": "ls"}, "tool_use_id": "u-1",
        }),
    );
    health(&served, "codex is heard", |health| health["guarded"] == json!(["codex"]));

    let ran = served.test.run(&["install", "claude-code", "--yes"]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    let found =
        health(&served, "hooks are wired", |health| health["guarded"] == json!(["claude-code", "codex"]));
    assert!(!found["unguarded"].as_array().unwrap().contains(&json!("claude-code")), "{found}");
}

#[test]
fn a_script_that_vanished_is_reported_while_the_daemon_runs() {
    let test = TestContext::new();
    let script = test.write("person/guard.sh", "exit 0\n");
    let settings = format!("hooks:\n  - {{id: guard, on: pre-tool, exec: [sh, {}]}}\n", script.display());
    test.write("home/tenterhook.yaml", &settings);
    let served = RunningDaemon::in_home(test, &[]);
    let (health_now, hooks) = (served.json("/v1/health"), served.json("/v1/hooks"));
    assert_eq!((&health_now["problems"], &hooks["hooks"][0]["problem"]), (&json!([]), &Value::Null));

    std::fs::remove_file(&script).unwrap();
    let said = format!("script `{}` does not exist", script.display());
    let found = health(&served, "the script is missed", |health| health["problems"] != json!([]));
    let problem = &found["problems"][0];
    assert_eq!((&problem["message"], &problem["about"]), (&json!(said), &json!("hook `guard`")), "{found}");
    assert_eq!(&served.json("/v1/hooks")["hooks"][0]["problem"], problem);

    std::fs::write(&script, "exit 0\n").unwrap();
    health(&served, "the script is back", |health| health["problems"] == json!([]));
    assert_eq!(served.json("/v1/hooks")["hooks"][0]["problem"], Value::Null);
}

#[test]
fn live_views_learn_that_a_session_waits_no_longer() {
    let test = TestContext::new();
    test.write(
        "home/policy.yaml",
        "version: 1\nrules:\n  - {id: ask-make, match: {shell: {program: make}}, verdict: ask, reason: people make things}\n",
    );
    let served = RunningDaemon::in_home(test, &[]);
    let mut stream = served.stream("/v1/stream", &[]);
    stream.next_of("hello");
    let payload = json!({
        "session_id": "s", "turn_id": "t", "cwd": served.test.path("work"), "hook_event_name": "PreToolUse",
        "model": "m", "permission_mode": "default", "tool_name": "Bash",
        "tool_input": {"command": "make all"}, "tool_use_id": "u-1",
    });
    std::thread::scope(|scope| {
        let reply = scope.spawn(|| served.post("/v1/hooks/codex/pre-tool-use", &payload));
        assert_eq!(stream.next_of("session").data["state"], "waiting");
        let id = until("a call waits", || {
            served.json("/v1/approvals")["pending"][0]["id"].as_str().map(ToOwned::to_owned)
        });
        let (path, denial) = (format!("/v1/approvals/{id}"), json!({"answer": "deny"}).to_string());
        let answer = served.request("POST", &path, &["Content-Type: application/json"], denial.as_bytes());
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(stream.next_of("session").data["state"], "active");
        assert_eq!(reply.join().unwrap().status, 200);
    });
}
