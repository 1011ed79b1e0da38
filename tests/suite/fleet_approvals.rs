// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Answers to approvals that an approver signed on another machine.

use std::thread;

use serde_json::{Value, json};
use tenterhook_fleet_protocol::{AnswerDecision, SignedAnswer};

use crate::context::TestContext;
use crate::fleet_machine::{BundleSpec, join_fleet, machine_id, sign_answer, sign_answer_as};
use crate::terminal_user::{SocketDaemon, until};

fn machine(spec: &BundleSpec<'_>, test: &TestContext) {
    join_fleet(test);
    let guard = SocketDaemon::of(test);
    let (status, answer) = guard.request("POST", "/v1/fleet/policy", &spec.request());
    assert_eq!(status, 200, "{answer}");
    guard.terminate();
}

/// Sends a call that waits, and returns the reply that the agent gets. Runs `meanwhile` with the waiting approval.
fn call_while<T>(guard: &SocketDaemon<'_>, command: &str, meanwhile: impl FnOnce(&Value) -> T) -> (Value, T) {
    let payload = json!({
        "session_id": "s", "turn_id": "t", "cwd": guard.test.path("work"), "hook_event_name": "PreToolUse",
        "model": "m", "permission_mode": "default", "tool_name": "Bash",
        "tool_input": {"command": command}, "tool_use_id": "u-1",
    });
    thread::scope(|scope| {
        let reply = scope.spawn(|| guard.hook("codex", "pre-tool-use", &payload));
        let approval = until("a call waits", || {
            let listed = guard.request("GET", "/v1/approvals", &Value::Null).1;
            listed["pending"].get(0).cloned()
        });
        let done = meanwhile(&approval);
        (reply.join().unwrap(), done)
    })
}

fn send(guard: &SocketDaemon<'_>, answer: &SignedAnswer) -> (u16, Value) {
    let path = format!("/v1/approvals/{}/signed", answer.approval);
    guard.request("POST", &path, &serde_json::to_value(answer).unwrap())
}

fn deny_locally(guard: &SocketDaemon<'_>, approval: &Value) {
    let path = format!("/v1/approvals/{}", approval["id"].as_str().unwrap());
    assert_eq!(guard.request("POST", &path, &json!({"answer": "deny"})).0, 200);
}

fn is_denied(reply: &Value) -> bool {
    reply["hookSpecificOutput"]["permissionDecision"] == "deny"
}

fn last_refusal(test: &TestContext) -> String {
    let change = test.last_change();
    assert_eq!((&change["what"], &change["detail"]["action"]), (&json!("refused"), &json!("approve")));
    assert_eq!(change["detail"]["authority"]["via"], "fleet");
    change["detail"]["why"].as_str().unwrap().to_owned()
}

#[test]
fn an_approver_on_another_machine_approves_or_denies_one_call() {
    let test = TestContext::new();
    machine(&BundleSpec::default(), &test);
    let guard = SocketDaemon::of(&test);
    let (reply, answer) = call_while(&guard, "make all", |approval| {
        let answer = sign_answer(machine_id(7), approval, AnswerDecision::Allow, 300);
        let (status, done) = send(&guard, &answer);
        assert_eq!(
            (status, &done["answer"], &done["for"]),
            (200, &json!("approve"), &json!("once")),
            "{done}"
        );
        answer
    });
    assert!(!is_denied(&reply), "{reply}");
    let recorded = test.last_change();
    assert_eq!((&recorded["what"], &recorded["links"]), (&json!("approve"), &json!([answer.approval])));
    let authority = &recorded["detail"]["authority"];
    assert_eq!((&authority["via"], &authority["approver"]), (&json!("fleet"), &json!("olga")));
    assert_eq!((&authority["proof"], &authority["policy"]), (&json!("signature"), &json!(1)));
    // The answer is not valid for the next call, although it does the same.
    let (reply, ()) = call_while(&guard, "make all", |approval| {
        let (status, refused) = send(&guard, &answer);
        assert_eq!(status, 404, "{refused}");
        assert!(last_refusal(&test).contains("no call with this id"));
        let path = format!("/v1/approvals/{}/signed", approval["id"].as_str().unwrap());
        let (status, refused) = guard.request("POST", &path, &serde_json::to_value(&answer).unwrap());
        assert_eq!(status, 403, "{refused}");
        assert!(last_refusal(&test).contains("for another approval"));
        let denial = sign_answer(machine_id(7), approval, AnswerDecision::Deny, 300);
        assert_eq!(send(&guard, &denial).0, 200);
    });
    assert!(is_denied(&reply) && reply.to_string().contains("Denied by olga (fleet)"), "{reply}");
}

#[test]
fn altered_expired_and_foreign_answers_are_refused_and_recorded() {
    let test = TestContext::new();
    machine(&BundleSpec::default(), &test);
    let guard = SocketDaemon::of(&test);
    let (reply, ()) = call_while(&guard, "make all", |approval| {
        let own = || machine_id(7);
        let denial = sign_answer(own(), approval, AnswerDecision::Deny, 300);
        let allow = AnswerDecision::Allow;
        let mut other_call = approval.clone();
        other_call["args"]["command"] = json!("make harmless");
        for (answer, why) in [
            (SignedAnswer { decision: allow, ..denial.clone() }, "signature of `olga` is not valid"),
            (
                SignedAnswer { not_after: denial.not_after + 60, ..denial.clone() },
                "signature of `olga` is not valid",
            ),
            (sign_answer(machine_id(9), approval, allow, 300), "for another machine"),
            (sign_answer(own(), &other_call, allow, 300), "for another call"),
            (sign_answer(own(), approval, allow, 0), "has expired"),
            (sign_answer(own(), approval, allow, 90_000), "has expired"),
            (sign_answer_as(("mallory", 66), own(), approval, allow, 300), "`mallory` is not an approver"),
            (sign_answer_as(("olga", 66), own(), approval, allow, 300), "signature of `olga` is not valid"),
            // A signer of policy is not an approver.
            (sign_answer_as(("ann", 1), own(), approval, allow, 300), "`ann` is not an approver"),
        ] {
            if why == "has expired" && answer.not_after < denial.not_after {
                thread::sleep(std::time::Duration::from_millis(1_100));
            }
            let (status, refused) = send(&guard, &answer);
            assert_eq!(status, 403, "{why}: {refused}");
            assert!(refused["error"]["message"].as_str().unwrap().contains(why), "{why}: {refused}");
            assert!(last_refusal(&test).contains(why), "{why}");
        }
        deny_locally(&guard, approval);
    });
    assert!(is_denied(&reply), "{reply}");
}

#[test]
fn an_answer_is_used_once_even_if_the_same_call_asks_again_under_the_same_id() {
    let test = TestContext::new();
    machine(&BundleSpec::default(), &test);
    let guard = SocketDaemon::of(&test);
    let (reply, answer) = call_while(&guard, "make all", |approval| {
        let answer = sign_answer(machine_id(7), approval, AnswerDecision::Allow, 300);
        assert_eq!(send(&guard, &answer).0, 200);
        answer
    });
    assert!(!is_denied(&reply));
    let used = std::fs::read_to_string(test.home().join("fleet/answers.json")).unwrap();
    assert!(used.contains(&answer.approval) && used.contains(&answer.digest), "{used}");
    // What the file remembers is refused, also after a restart.
    guard.terminate();
    let guard = SocketDaemon::of(&test);
    let (reply, ()) = call_while(&guard, "make all", |approval| {
        let again = sign_answer(machine_id(7), approval, AnswerDecision::Allow, 300);
        let key = format!("{} {}", again.approval, again.digest);
        test.write("home/fleet/answers.json", &json!({"v": 1, "used": {key: again.not_after}}).to_string());
        let (status, refused) = send(&guard, &again);
        assert_eq!(status, 403, "{refused}");
        assert!(last_refusal(&test).contains("was used already"));
        test.write("home/fleet/answers.json", "{");
        let (status, refused) = send(&guard, &again);
        assert_eq!(status, 403, "a damaged file opens nothing: {refused}");
        deny_locally(&guard, approval);
    });
    assert!(is_denied(&reply), "{reply}");
}

#[test]
fn a_signature_replaces_a_code_only_if_the_bundle_says_so() {
    let test = TestContext::new();
    machine(&BundleSpec::default(), &test);
    test.enroll();
    let guard = SocketDaemon::of(&test);
    let (reply, ()) = call_while(&guard, "make all", |approval| {
        let answer = sign_answer(machine_id(7), approval, AnswerDecision::Allow, 300);
        let (status, refused) = send(&guard, &answer);
        assert_eq!(status, 403, "{refused}");
        assert!(last_refusal(&test).contains("need a code"));
        assert_eq!(send(&guard, &sign_answer(machine_id(7), approval, AnswerDecision::Deny, 300)).0, 200);
    });
    assert!(is_denied(&reply));
    let second = BundleSpec { version: 2, replaces_code: true, ..BundleSpec::default() };
    assert_eq!(guard.request("POST", "/v1/fleet/policy", &second.request()).0, 200);
    let (reply, ()) = call_while(&guard, "make all", |approval| {
        let answer = sign_answer(machine_id(7), approval, AnswerDecision::Allow, 300);
        let (status, done) = send(&guard, &answer);
        assert_eq!(status, 200, "{done}");
    });
    assert!(!is_denied(&reply), "{reply}");
}

#[test]
fn without_a_policy_in_force_no_answer_is_accepted() {
    let test = TestContext::new();
    test.write(
        "home/policy.yaml",
        "version: 1\nrules:\n  - {id: a, match: {shell: {program: make}}, verdict: ask}\n",
    );
    let guard = SocketDaemon::of(&test);
    let (reply, ()) = call_while(&guard, "make all", |approval| {
        let answer = sign_answer(machine_id(7), approval, AnswerDecision::Allow, 300);
        let (status, refused) = send(&guard, &answer);
        assert_eq!(status, 403, "{refused}");
        assert!(last_refusal(&test).contains("no policy of a fleet is in force"));
        deny_locally(&guard, approval);
    });
    assert!(is_denied(&reply), "{reply}");
}
