// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An approval applies to the call that the user saw, not to a call that replaced it.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::terminal_user::{SocketDaemon, until};

const RULES: &str = "version: 1\nrules:\n  - {id: ask-make, match: {shell: {program: make}}, verdict: ask, reason: people make things}\n";
/// Two ids with the same suffix. This is possible because the caller chooses the ids.
const SHOWN_ID: &str = "01K0000000000000000000AAAA";
const OTHER_ID: &str = "01K1111111111111111111AAAA";

/// Sends a call that waits, as the shim does. Closing the stream cancels the call.
fn send_call(test: &TestContext, id: &str, command: &str) -> UnixStream {
    let payload = json!({
        "session_id": "s", "turn_id": "t", "cwd": test.path("work"), "hook_event_name": "PreToolUse",
        "model": "m", "permission_mode": "default", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": "u-1",
    })
    .to_string();
    let mut stream = UnixStream::connect(test.home().join("run/tenterhook.sock")).unwrap();
    stream.set_read_timeout(Some(crate::terminal_user::HANG_TIMEOUT)).unwrap();
    let head = format!("TH1 hook codex PreToolUse {id} 50000 {}\n\n", payload.len());
    stream.write_all((head + &payload).as_bytes()).unwrap();
    stream
}

fn pending_approvals(guard: &SocketDaemon<'_>) -> Vec<Value> {
    guard.request("GET", "/v1/approvals", &Value::Null).1["pending"].as_array().unwrap().clone()
}

/// Waits until the call with this command is the only pending one, and returns its approval.
fn only_pending(guard: &SocketDaemon<'_>, wants: &str) -> Value {
    until(wants, || {
        let cards = pending_approvals(guard);
        cards.first().filter(|card| cards.len() == 1 && card["wants"] == wants).cloned()
    })
}

fn read_reply(mut stream: UnixStream) -> String {
    let mut reply = String::new();
    stream.read_to_string(&mut reply).unwrap();
    reply
}

#[test]
fn a_call_that_takes_the_place_of_the_shown_one_is_not_approved_by_its_suffix() {
    let test = TestContext::new();
    test.write("home/policy.yaml", RULES);
    let guard = SocketDaemon::of(&test);
    let shown = std::cell::RefCell::new(Some(send_call(&test, SHOWN_ID, "make plan")));
    let swapped = std::cell::RefCell::new(None);
    only_pending(&guard, "make plan");
    let ran = test.run_on_terminal_answering(&["approvals", "approve", "AAAA"], |asked| {
        drop(shown.take());
        until("the shown call is gone", || pending_approvals(&guard).is_empty().then_some(()));
        swapped.replace(Some(send_call(&test, OTHER_ID, "make apply")));
        only_pending(&guard, "make apply");
        asked
    });
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stderr.contains("make plan"), "the shown call: {}", ran.stderr);
    assert!(ran.stderr.contains(&format!("no call `{SHOWN_ID}` waits")), "{}", ran.stderr);
    only_pending(&guard, "make apply");
    assert_eq!(
        guard.request("POST", &format!("/v1/approvals/{OTHER_ID}"), &json!({"answer": "deny"})).0,
        200
    );
    let reply = read_reply(swapped.take().unwrap());
    assert!(reply.contains("\"deny\"") && !reply.contains("\"allow\""), "{reply}");
    assert!(!test.records().iter().any(|leaf| leaf["what"] == "approve"), "nothing was approved");
}

#[test]
fn another_call_under_the_same_id_does_not_wait_at_all() {
    let test = TestContext::new();
    test.write("home/policy.yaml", RULES);
    let guard = SocketDaemon::of(&test);
    let first = send_call(&test, SHOWN_ID, "make plan");
    only_pending(&guard, "make plan");
    drop(first);
    until("the call is cancelled", || pending_approvals(&guard).is_empty().then_some(()));
    let reply = read_reply(send_call(&test, SHOWN_ID, "make apply"));
    assert!(reply.contains("\"deny\"") && reply.contains("was already used"), "{reply}");
}

#[test]
fn an_approval_over_the_api_names_the_full_id_and_the_digest_of_what_was_shown() {
    let test = TestContext::new();
    test.write("home/policy.yaml", RULES);
    let guard = SocketDaemon::of(&test);
    let first = send_call(&test, SHOWN_ID, "make plan");
    let stale = only_pending(&guard, "make plan")["digest"].as_str().unwrap().to_owned();
    assert_eq!(stale.len(), 64);
    drop(first);
    until("the call is cancelled", || pending_approvals(&guard).is_empty().then_some(()));
    let second = send_call(&test, OTHER_ID, "make apply");
    let now = only_pending(&guard, "make apply")["digest"].as_str().unwrap().to_owned();
    let answer = |id: &str, digest: Option<&str>| {
        let body = json!({"answer": "approve", "digest": digest, "proof": {"tty": true}});
        guard.request("POST", &format!("/v1/approvals/{id}"), &body).0
    };
    assert_eq!(answer("AAAA", Some(&stale)), 409, "the shown call is not the waiting one");
    assert_eq!(answer(OTHER_ID, Some(&stale)), 409);
    assert_eq!(answer("AAAA", None), 400, "the suffix of an id proves nothing: the sender chose it");
    assert_eq!(answer(OTHER_ID, None), 400);
    assert_eq!(answer("AAAA", Some(&now)), 400, "the suffix of an id is for terminals only");
    assert_eq!(answer(OTHER_ID, Some(&now)), 403, "correct id and digest, from the agent itself");
    let denied = json!({"answer": "deny", "digest": stale});
    assert_eq!(
        guard.request("POST", "/v1/approvals/AAAA", &denied).0,
        409,
        "a given digest is always compared"
    );
    assert_eq!(
        guard.request("POST", "/v1/approvals/AAAA", &json!({"answer": "deny"})).0,
        200,
        "a denial needs neither"
    );
    assert!(read_reply(second).contains("\"deny\""));
}

#[test]
fn the_shown_call_is_approved_and_the_record_names_its_digest() {
    let test = TestContext::new();
    test.write("home/policy.yaml", RULES);
    let guard = SocketDaemon::of(&test);
    let call = send_call(&test, SHOWN_ID, "make plan");
    let digest = only_pending(&guard, "make plan")["digest"].clone();
    let ran = test.run_on_terminal(&["approvals", "approve", "AAAA"]);
    assert_eq!((ran.exit, ran.stdout.as_str()), (0, "✓ approved\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains("\"command\": \"make plan\""), "all arguments are shown: {}", ran.stderr);
    assert!(!read_reply(call).contains("\"deny\""));
    assert_eq!(test.last_change()["detail"]["digest"], digest);
}
