// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rules of a state directory, from the harness's payload to its reply.

use serde_json::{Value, json};

use crate::context::TestContext;

const HOOK: &[&str] = &["hook", "claude-code", "pre-tool-use"];

fn home_with_rules(rules: &str) -> TestContext {
    let test = TestContext::new();
    let policy = test.write("home/policy.yaml", &format!("version: 1\nrules:\n{rules}"));
    let checked = test.run(&["check", policy.to_str().unwrap(), "--json"]);
    assert_eq!(checked.json()["problems"], json!([]));
    test
}

/// The part of the reply that contains the decision; `null` if there is none.
fn decide(test: &TestContext, command: &str) -> Value {
    let ran = test.run_with(HOOK, test.bash(command).as_bytes());
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    if ran.stdout.is_empty() { Value::Null } else { ran.json()["hookSpecificOutput"].take() }
}

#[test]
fn a_rewritten_command_runs_and_is_judged_again() {
    let test = home_with_rules(
        "  - {id: wrap, match: {shell: {program: npm}}, verdict: allow, rewrite: {command: 'timeout 9 bash -c {command}'}}
  - {id: bad-wrap, match: {shell: {program: yarn}}, verdict: allow, rewrite: {command: 'sudo bash -c {command}'}}
  - {id: no-sudo, match: {shell: {program: sudo}}, verdict: deny, reason: not as root}
",
    );
    let reply = decide(&test, "npm test");
    assert_eq!(reply["permissionDecision"], "allow");
    assert_eq!(reply["updatedInput"], json!({"command": "timeout 9 bash -c 'npm test'"}));
    let reply = decide(&test, "yarn test");
    assert_eq!(reply["permissionDecision"], "deny", "{reply}");
    assert_eq!(reply["permissionDecisionReason"], "not as root");
}

#[test]
fn labels_and_limits_last_from_call_to_call() {
    let test = home_with_rules(
        "  - {id: mark, match: {shell: {program: cat, reads: notes.txt}}, verdict: none, label: read-notes}
  - {id: stop, match: {label: read-notes, shell: {program: curl}}, verdict: deny, reason: not after the notes}
  - {id: often, match: {shell: {program: ls}}, verdict: ask, limit: {count: 1, window: 1h}}
",
    );
    assert_eq!(decide(&test, "curl x.org"), Value::Null);
    decide(&test, "cat notes.txt");
    assert_eq!(decide(&test, "curl x.org")["permissionDecisionReason"], "not after the notes");
    assert_eq!(decide(&test, "ls"), Value::Null);
    assert_eq!(decide(&test, "ls")["permissionDecision"], "ask");
    let explained = test.run(&["explain", "--command", "curl x.org", "--json"]);
    assert!(explained.stdout.contains("no label of the session is one of `read-notes`"), "another session");
}

#[test]
fn a_home_without_stateful_rules_stores_no_state() {
    let test = TestContext::new();
    decide(&test, "ls");
    assert!(!test.home().join("sessions").exists());
}

#[test]
fn overridden_and_expired_rules_are_in_the_record() {
    let test = home_with_rules(
        "  - {id: no, match: {shell: {program: make}}, verdict: deny}
  - {id: old, match: {shell: {program: make}}, verdict: deny, expires: 2020-01-01}
  - {id: but, match: {shell: {program: make, words: [test]}}, verdict: allow, overrides: no}
",
    );
    assert_eq!(decide(&test, "make test")["permissionDecision"], "allow");
    let leaf = test.decisions().remove(0);
    let steps: Vec<_> =
        leaf["trace"].as_array().unwrap().iter().map(|step| (&step["by"], &step["status"])).collect();
    assert_eq!(
        json!(steps),
        json!([["rule:no", "overridden"], ["rule:old", "expired"], ["rule:but", "matched"]])
    );
    let checked = test.run(&["check"]);
    assert!(checked.stdout.contains("it expired on 2020-01-01"), "{}", checked.stdout);
}
