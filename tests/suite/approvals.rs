// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Calls that wait for approval because the harness cannot ask the user.

use std::thread;
use tenterhook_test_support::assert_waited;

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::terminal_user::{SocketDaemon, until};

const RULES: &str = "# mine\nversion: 1\nrules:\n  - {id: ask-make, match: {shell: {program: make}}, verdict: ask, reason: people make things}   # keep\n";

fn home_with_ask_rule() -> TestContext {
    let test = TestContext::new();
    test.write("home/policy.yaml", RULES);
    test
}

fn codex_payload(test: &TestContext, session: &str, command: &str) -> Value {
    json!({
        "session_id": session, "turn_id": "t", "cwd": test.path("work"), "hook_event_name": "PreToolUse",
        "model": "m", "permission_mode": "default", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": "u-1",
    })
}

/// Sends a call and returns the reply that the agent gets. Runs `meanwhile` while the call waits.
fn call_while<T>(
    guard: &SocketDaemon<'_>,
    session: &str,
    command: &str,
    meanwhile: impl FnOnce() -> T,
) -> (Value, T) {
    let payload = codex_payload(guard.test, session, command);
    thread::scope(|scope| {
        let reply = scope.spawn(|| guard.hook("codex", "pre-tool-use", &payload));
        let done = meanwhile();
        (reply.join().unwrap(), done)
    })
}

fn waiting_call_id(guard: &SocketDaemon<'_>) -> String {
    until("a call waits", || {
        let pending = guard.request("GET", "/v1/approvals", &Value::Null).1;
        pending["pending"][0]["id"].as_str().map(ToOwned::to_owned)
    })
}

/// Digest of a waiting call, which an approval must name.
fn digest(guard: &SocketDaemon<'_>, id: &str) -> Value {
    guard.request("GET", &format!("/v1/approvals/{id}"), &Value::Null).1["digest"].take()
}

fn is_denied(reply: &Value) -> bool {
    reply["hookSpecificOutput"]["permissionDecision"] == "deny"
}

fn reason(reply: &Value) -> &str {
    reply["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or_default()
}

#[test]
fn a_call_waits_until_a_user_approves_and_both_are_recorded() {
    let test = home_with_ask_rule();
    let guard = SocketDaemon::of(&test);
    let (reply, id) = call_while(&guard, "s", "make all", || {
        let id = waiting_call_id(&guard);
        let listed = test.run(&["approvals", "list"]).stdout;
        for part in [id.as_str(), "codex", "make all", "rule:ask-make people make things", "[DIR]/work"] {
            assert!(listed.contains(part), "`{part}` is not in\n{listed}");
        }
        assert_eq!(guard.request("GET", "/v1/health", &Value::Null).1["pending"], 1);
        assert_eq!(guard.request("GET", "/v1/sessions/s", &Value::Null).1["state"], "waiting");
        let number = test.run(&["ledger", "show", &id, "--json"]).json()["seq"].to_string();
        for reference in [&number, &format!("#{number}"), id.split_at(10).0, "last"] {
            assert_eq!(test.run(&["approvals", "show", reference, "--json"]).json()["id"], id.as_str());
        }
        let ran = test.run_on_terminal(&["approvals", "approve", id.split_at(20).1, "--note", "fine"]);
        assert_eq!((ran.exit, ran.stdout.as_str()), (0, "✓ approved\n"), "{}", ran.stderr);
        id
    });
    assert!(!is_denied(&reply), "{reply}");
    let session = guard.request("GET", "/v1/sessions/s", &Value::Null).1;
    assert_eq!((&session["state"], &session["calls"]["asked"]), (&json!("active"), &json!(1)), "{session}");
    let asked = test.decisions().pop().unwrap();
    assert_eq!((&asked["id"], &asked["verdict"]), (&json!(id), &json!("ask")));
    let leaf = test.last_change();
    assert_eq!((&leaf["what"], &leaf["links"]), (&json!("approve"), &json!([id])));
    assert_eq!((&leaf["detail"]["for"], &leaf["detail"]["note"]), (&json!("once"), &json!("fine")));
    assert_eq!(leaf["detail"]["authority"]["proof"], "tty");
    assert_eq!(test.run(&["approvals", "list"]).stdout, "no call waits for an approval\n");
    let ran = test.run(&["approvals", "approve", &id]);
    assert!(ran.exit == 1 && ran.stderr.contains("waits for an answer"), "{}", ran.stderr);
}

#[test]
fn same_user_a_guarded_agent_cannot_approve_itself() {
    let test = home_with_ask_rule();
    let guard = SocketDaemon::of(&test);
    let (reply, id) = call_while(&guard, "s", "make all", || {
        let id = waiting_call_id(&guard);
        // The test process has called a hook, so it is treated as the agent.
        let path = format!("/v1/approvals/{id}");
        let body = json!({"answer": "approve", "digest": digest(&guard, &id), "proof": {"tty": true}});
        let (status, answer) = guard.request("POST", &path, &body);
        assert_eq!(status, 403, "{answer}");
        let ran = test.run(&["approvals", "approve", &id]);
        assert!(ran.exit == 1 && ran.stderr.contains("a guarded agent"), "{}", ran.stderr);
        let refused = test.last_change();
        assert_eq!((&refused["what"], &refused["detail"]["action"]), (&json!("refused"), &json!("approve")));
        assert_eq!(refused["links"], json!([id]));
        assert_eq!(guard.request("POST", &path, &json!({"answer": "deny", "note": "not today"})).0, 200);
        id
    });
    assert!(is_denied(&reply) && reason(&reply).contains("people make things"), "{reply}");
    assert!(reason(&reply).contains("Denied by ") && reason(&reply).contains(": not today"), "{reply}");
    let leaf = test.last_change();
    assert_eq!((&leaf["what"], &leaf["links"]), (&json!("deny"), &json!([id])));
}

#[test]
fn without_an_answer_the_call_is_denied_and_the_reason_says_how_to_approve() {
    let test = home_with_ask_rule();
    let guard = SocketDaemon::of(&test);
    let payload = codex_payload(&test, "s", "make all").to_string();
    let header =
        format!("TH1 hook codex PreToolUse 01K00000000000000000000000 3000 {}\n\n{payload}", payload.len());
    let mut stream =
        std::os::unix::net::UnixStream::connect(test.home().join("run/tenterhook.sock")).unwrap();
    std::io::Write::write_all(&mut stream, header.as_bytes()).unwrap();
    let began = std::time::Instant::now();
    let mut reply = String::new();
    std::io::Read::read_to_string(&mut stream, &mut reply).unwrap();
    assert_waited(began, std::time::Duration::from_millis(900));
    assert!(reply.contains("TH1 wait\n") && reply.contains("TH1 reply 0 "), "{reply}");
    assert!(
        reply.contains("No user approved this call within") && reply.contains("tenterhook approvals list"),
        "{reply}"
    );
    let leaf = test.last_change();
    assert_eq!(
        (&leaf["what"], &leaf["detail"]["why"]),
        (&json!("approval expired"), &json!("no user answered"))
    );
    assert_eq!(leaf["links"], json!(["01K00000000000000000000000"]));
    drop(guard);
}

/// Codex asks for permission after `PreToolUse`, and Qwen Code asks before it.
#[test]
fn a_call_that_comes_to_two_gates_is_approved_once() {
    let test = home_with_ask_rule();
    let guard = SocketDaemon::of(&test);
    let payload = |event: &str| {
        json!({"session_id": "s", "cwd": test.path("work"), "hook_event_name": event,
            "tool_name": "run_shell_command", "tool_input": {"command": "make all"}})
    };
    let (first, second) = ("permission-request", "pre-tool-use");
    let ask = |event: &str, native: &str| {
        thread::scope(|scope| {
            let reply = scope.spawn(|| guard.hook("qwen", event, &payload(native)));
            let id = waiting_call_id(&guard);
            assert_eq!(test.run_on_terminal(&["approvals", "approve", &id]).exit, 0);
            (reply.join().unwrap(), id)
        })
    };
    let (reply, id) = ask(first, "PermissionRequest");
    assert_eq!(reply["hookSpecificOutput"]["decision"]["behavior"], "allow", "{reply}");
    let reply = guard.hook("qwen", second, &payload("PreToolUse"));
    assert!(!is_denied(&reply), "without waiting: {reply}");
    let leaf = test.last_change();
    assert_eq!((&leaf["what"], &leaf["detail"]["of"]), (&json!("approve"), &json!(id)));
    assert_eq!(leaf["detail"]["authority"]["via"], "same call");

    // A later call with the same arguments is a new call and needs its own approval.
    let (reply, next) = ask(second, "PreToolUse");
    assert!(!is_denied(&reply) && next != id, "{reply}");
    drop(guard);
}

#[test]
fn an_approval_for_the_session_covers_the_same_rule_only_there() {
    let test = home_with_ask_rule();
    let guard = SocketDaemon::of(&test);
    let (reply, first) = call_while(&guard, "s", "make all", || {
        let id = waiting_call_id(&guard);
        assert_eq!(test.run_on_terminal(&["approvals", "approve", &id, "--for", "session"]).exit, 0);
        id
    });
    assert!(!is_denied(&reply), "{reply}");
    assert!(
        !is_denied(&guard.hook("codex", "pre-tool-use", &codex_payload(&test, "s", "make more"))),
        "without waiting"
    );
    let leaf = test.last_change();
    assert_eq!((&leaf["what"], &leaf["detail"]["of"]), (&json!("approve"), &json!(first)));
    assert_eq!(leaf["links"][1], json!(first));
    let (reply, ()) = call_while(&guard, "another", "make all", || {
        let path = format!("/v1/approvals/{}", waiting_call_id(&guard));
        assert_eq!(guard.request("POST", &path, &json!({"answer": "deny"})).0, 200);
    });
    assert!(is_denied(&reply), "{reply}");
    // The exception still applies after a restart of the daemon.
    guard.terminate();
    let guard = SocketDaemon::of(&test);
    assert!(!is_denied(&guard.hook("codex", "pre-tool-use", &codex_payload(&test, "s", "make again"))));
}

#[test]
fn a_permanent_approval_is_an_exception_for_exactly_this_call() {
    let test = home_with_ask_rule();
    let guard = SocketDaemon::of(&test);
    let (reply, id) = call_while(&guard, "s", "make 'a b' x.y", || {
        let id = waiting_call_id(&guard);
        let (status, answer) = guard.request(
            "POST",
            &format!("/v1/approvals/{id}"),
            &json!({"answer": "approve", "digest": digest(&guard, &id), "for": "rule", "proof": {"tty": true}}),
        );
        assert_eq!(status, 403, "the gate is checked before the file: {answer}");
        assert_eq!(std::fs::read_to_string(test.home().join("policy.yaml")).unwrap(), RULES);
        guard.request("POST", &format!("/v1/approvals/{id}"), &json!({"answer": "deny"}));
        id
    });
    assert!(is_denied(&reply), "{reply}");
    let (reply, ()) = call_while(&guard, "s", "make all", || {
        let id = waiting_call_id(&guard);
        let ran = test.run_on_terminal(&["approvals", "approve", &id, "--for", "rule"]);
        assert_eq!(ran.exit, 0, "{}", ran.stderr);
        assert!(ran.stdout.contains("approved permanently by rule `approved-"), "{}", ran.stdout);
    });
    assert!(!is_denied(&reply), "{reply}");
    let policy = std::fs::read_to_string(test.home().join("policy.yaml")).unwrap();
    assert!(policy.starts_with(RULES), "the existing text is kept: {policy}");
    assert!(policy.contains("overrides: [ask-make]") && !policy.contains(&id.to_lowercase()), "{policy}");
    assert_eq!(test.run(&["check"]).exit, 0, "{policy}");
    assert!(
        !is_denied(&guard.hook("codex", "pre-tool-use", &codex_payload(&test, "other", "make all"))),
        "in any session"
    );
    for (command, cwd) in [("make all more", "work"), ("make all", "person")] {
        let mut payload = codex_payload(&test, "s", command);
        payload["cwd"] = json!(test.path(cwd));
        let reply = thread::scope(|scope| {
            let reply = scope.spawn(|| guard.hook("codex", "pre-tool-use", &payload));
            let path = format!("/v1/approvals/{}", waiting_call_id(&guard));
            assert_eq!(guard.request("POST", &path, &json!({"answer": "deny"})).0, 200);
            reply.join().unwrap()
        });
        assert!(is_denied(&reply), "{command} in {cwd}: {reply}");
    }
}

#[test]
fn a_daemon_that_ends_denies_what_waits() {
    let test = home_with_ask_rule();
    let guard = SocketDaemon::of(&test);
    let payload = codex_payload(&test, "s", "make all");
    let socket = test.home().join("run/tenterhook.sock");
    let reply = thread::scope(|scope| {
        let reply = scope.spawn(|| {
            crate::terminal_user::request(&socket, "POST", "/v1/hooks/codex/pre-tool-use", &payload)
        });
        waiting_call_id(&guard);
        guard.terminate();
        reply.join().unwrap().1
    });
    assert!(is_denied(&reply), "{reply}");
    assert_eq!(test.last_change()["detail"]["why"], "the daemon shut down");
}

#[test]
fn subscribers_are_notified_when_a_call_waits_and_when_it_no_longer_does() {
    use std::io::{BufRead, BufReader, Write};
    let test = home_with_ask_rule();
    let guard = SocketDaemon::of(&test);
    let mut stream =
        std::os::unix::net::UnixStream::connect(test.home().join("run/tenterhook.sock")).unwrap();
    stream.write_all(b"GET /v1/approvals/stream HTTP/1.1\r\nHost: tenterhook\r\n\r\n").unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut next = move || -> Value {
        let data = lines.find_map(|line| line.strip_prefix("data: ").map(ToOwned::to_owned));
        serde_json::from_str(&data.unwrap()).unwrap()
    };
    assert_eq!(next(), json!({"pending": []}));
    call_while(&guard, "s", "make all", || {
        let card = next()["pending"][0].take();
        assert_eq!((&card["tool"], &card["wants"]), (&json!("Bash"), &json!("make all")));
        let path = format!("/v1/approvals/{}", card["id"].as_str().unwrap());
        assert_eq!(guard.request("POST", &path, &json!({"answer": "deny"})).0, 200);
    });
    assert_eq!(next(), json!({"pending": []}));
}

#[test]
fn without_a_daemon_calls_that_need_approval_are_denied() {
    let test = home_with_ask_rule();
    let payload = codex_payload(&test, "s", "make all").to_string();
    let ran = test.run_with(&["hook", "codex", "pre-tool-use"], payload.as_bytes());
    assert!(is_denied(&ran.json()), "{}", ran.stdout);
    assert!(reason(&ran.json()).contains("needs the user's approval"), "{}", ran.stdout);
    let ran = test.run(&["approvals", "list"]);
    assert!(ran.exit == 0 && ran.stdout.contains("no daemon is running"), "{}", ran.stdout);
}
