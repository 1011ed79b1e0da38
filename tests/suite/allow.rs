// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `tenterhook allow`: a call that a rule stopped may run.

use std::collections::BTreeSet;
use std::thread;

use serde_json::{Value, json};
use tenterhook_event::EventId;

use crate::context::{CommandOutput, TestContext};
use crate::terminal_user::SocketDaemon;

const RULES: &str = "# mine\nversion: 1\nrules:\n  - {id: no-make, match: {shell: {program: make}}, verdict: deny, reason: people make things}\n  - {id: ask-cp, match: {shell: {program: cp}}, verdict: ask, reason: people copy things}\n";

fn home_with_rules() -> TestContext {
    let test = TestContext::new();
    test.write("home/policy.yaml", RULES);
    test
}

/// Sends a call through the hook program and returns the verdict that the agent gets.
fn call(test: &TestContext, payload: &str) -> String {
    let reply = test.run_with(&["hook", "claude-code", "pre-tool-use"], payload.as_bytes());
    assert_eq!(reply.exit, 0, "{}", reply.stderr);
    verdict(&serde_json::from_str(&reply.stdout).unwrap_or_default())
}

fn verdict(reply: &Value) -> String {
    reply["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("none").to_owned()
}

fn bash(test: &TestContext, command: &str) -> String {
    call(test, &test.bash(command))
}

fn allow(test: &TestContext, args: &[&str]) -> CommandOutput {
    let ran = test.run_on_terminal(&[&["allow"], args].concat());
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    assert!(ran.stdout.contains("This weakens your protection."), "{}", ran.stdout);
    ran
}

/// Short name of the latest decision.
fn latest_name(test: &TestContext) -> String {
    let id: EventId = test.decisions().pop().unwrap()["id"].as_str().unwrap().parse().unwrap();
    id.short_name()
}

fn allowed_once_and_then_stopped_again(test: &TestContext) {
    assert_eq!(bash(test, "make all"), "deny");
    let ran = allow(test, &["last"]);
    assert!(ran.stderr.contains("make all") && ran.stderr.contains("people make things"), "{}", ran.stderr);
    let leaf = test.last_change();
    assert_eq!((&leaf["what"], &leaf["detail"]["for"]), (&json!("allow"), &json!("once")));
    assert_eq!(
        (&leaf["detail"]["rules"], &leaf["detail"]["authority"]["proof"]),
        (&json!(["no-make"]), &json!("tty"))
    );

    assert_eq!(bash(test, "make more"), "deny", "another call");
    assert_eq!(bash(test, "make all"), "allow");
    let decided = test.decisions().pop().unwrap();
    assert_eq!(
        (&decided["verdict"], &decided["facts"]["allowed"]["of"]),
        (&json!("allow"), &leaf["detail"]["of"])
    );
    assert_eq!(bash(test, "make all"), "deny", "only once");
    // A repeated call may have another description.
    allow(test, &[&latest_name(test)]);
    let described = test.bash("make all").replace("\"command\":", "\"description\":\"Builds\",\"command\":");
    assert_eq!(call(test, &described), "allow");
}

#[test]
fn a_denied_call_is_allowed_once_without_a_daemon() {
    allowed_once_and_then_stopped_again(&home_with_rules());
}

#[test]
fn a_denied_call_is_allowed_once_with_a_daemon() {
    let test = home_with_rules();
    let guard = SocketDaemon::of(&test);
    allowed_once_and_then_stopped_again(&test);
    drop(guard);
}

/// An allowance that the daemon's call used up is used up for calls without the daemon too.
#[test]
fn an_allowance_survives_the_daemon_and_is_used_once_by_both() {
    let test = home_with_rules();
    let guard = SocketDaemon::of(&test);
    assert_eq!(bash(&test, "make all"), "deny");
    allow(&test, &["last"]);
    guard.terminate();
    assert_eq!(bash(&test, "make all"), "allow", "without a daemon");
    let guard = SocketDaemon::of(&test);
    assert_eq!(bash(&test, "make all"), "deny");
    drop(guard);
}

#[test]
fn of_many_calls_at_the_same_time_one_is_allowed() {
    for has_daemon in [false, true] {
        let test = home_with_rules();
        let guard = has_daemon.then(|| SocketDaemon::of(&test));
        assert_eq!(bash(&test, "make all"), "deny");
        allow(&test, &["last", "--once"]);
        let verdicts: Vec<String> = thread::scope(|scope| {
            let calls: Vec<_> = (0..6).map(|_| scope.spawn(|| bash(&test, "make all"))).collect();
            calls.into_iter().map(|call| call.join().unwrap()).collect()
        });
        let allowed = verdicts.iter().filter(|verdict| *verdict == "allow").count();
        assert_eq!(allowed, 1, "daemon {has_daemon}: {verdicts:?}");
        drop(guard);
    }
}

#[test]
fn a_session_may_repeat_what_the_rule_stopped() {
    let test = home_with_rules();
    assert_eq!(bash(&test, "make all"), "deny");
    allow(&test, &["last", "--session"]);
    assert_eq!(bash(&test, "make all"), "allow", "the call that the user saw");
    for another in ["make more", "make all && ./send-report"] {
        assert_eq!(bash(&test, another), "none", "the harness asks about the rest: {another}");
    }
    assert_eq!(bash(&test, "cp a b"), "ask", "another rule");
    let elsewhere = test.bash("make all").replace("s-1", "s-2");
    assert_eq!(call(&test, &elsewhere), "deny", "another session");
}

#[test]
fn a_call_is_allowed_in_its_directory_from_now_on() {
    let test = home_with_rules();
    assert_eq!(bash(&test, "make all"), "deny");
    let ran = allow(&test, &["last", "--here"]);
    assert!(ran.stdout.contains("allowed here: rule `allow-shell-"), "{}", ran.stdout);
    let policy = std::fs::read_to_string(test.home().join("policy.yaml")).unwrap();
    assert!(policy.starts_with(RULES) && policy.contains("no-make"), "{policy}");
    for _ in 0..2 {
        assert_eq!(bash(&test, "make all"), "allow");
    }
    assert_eq!(bash(&test, "make more"), "deny");
    let elsewhere = test.bash("make all").replace("/work\"", "/person\"");
    assert_eq!(call(&test, &elsewhere), "deny", "another directory");
}

#[test]
fn the_rule_that_stopped_a_call_is_turned_off() {
    let test = home_with_rules();
    assert_eq!(bash(&test, "make all"), "deny");
    let ran = allow(&test, &["last", "--rule"]);
    assert!(ran.stdout.contains("rule `no-make` turned off"), "{}", ran.stdout);
    assert_eq!(bash(&test, "make more"), "none");
    assert_eq!(test.run(&["rules", "enable", "no-make"]).exit, 0);
    assert_eq!(bash(&test, "make more"), "deny");
}

#[test]
fn same_user_a_guarded_agent_cannot_allow_its_own_call() {
    for has_daemon in [false, true] {
        let test = home_with_rules();
        let guard = SocketDaemon::of(&test);
        // The test process has called a hook, so it is treated as the agent.
        guard.hook("claude-code", "pre-tool-use", &serde_json::from_str(&test.bash("make all")).unwrap());
        let guard = if has_daemon {
            Some(guard)
        } else {
            guard.terminate();
            None
        };
        for scope in ["--once", "--session", "--here", "--rule"] {
            let ran = test.run(&["allow", "last", scope]);
            assert!(ran.exit == 1 && ran.stderr.contains("a guarded agent"), "{scope}: {}", ran.stderr);
            let refused = test.last_change();
            assert_eq!(
                (&refused["what"], &refused["detail"]["action"]),
                (&json!("refused"), &json!("allow"))
            );
        }
        assert_eq!(bash(&test, "make all"), "deny");
        assert_eq!(std::fs::read_to_string(test.home().join("policy.yaml")).unwrap(), RULES);
        assert!(!test.home().join("allowances.json").exists() && !test.home().join("packs.yaml").exists());
        drop(guard);
    }
}

#[test]
fn rules_that_protect_tenterhook_cannot_be_overruled() {
    let test = home_with_rules();
    assert_eq!(bash(&test, "tenterhook allow last"), "deny", "the agent may not run the command either");
    for scope in ["--once", "--session", "--here", "--rule"] {
        let ran = test.run_on_terminal(&["allow", "last", scope]);
        assert!(ran.exit == 1 && ran.stderr.contains("is locked and allows no exception"), "{}", ran.stderr);
    }
    assert_eq!(bash(&test, "tenterhook allow last"), "deny");
}

#[test]
fn an_allowance_does_not_cover_a_locked_rule_that_was_added_later() {
    let test = home_with_rules();
    assert_eq!(bash(&test, "make all"), "deny");
    allow(&test, &["last"]);
    test.write_system(
        "version: 1\nrules:\n  - {id: ours, locked: true, match: {shell: {program: make}}, verdict: ask}\n",
    );
    assert_eq!(bash(&test, "make all"), "deny");
    std::fs::remove_file(test.path("system/policy.yaml")).unwrap();
    assert_eq!(bash(&test, "make all"), "allow", "it was not used up");
}

#[test]
fn calls_that_cannot_be_allowed_are_refused_with_the_reason() {
    let test = home_with_rules();
    let error = |args: &[&str]| {
        let ran = test.run(&[&["allow"], args].concat());
        assert_ne!(ran.exit, 0, "{}", ran.stdout);
        ran.stderr
    };
    assert!(error(&["last"]).contains("nothing was recorded yet"));
    assert_eq!(bash(&test, "ls"), "none");
    assert!(error(&["last"]).contains("no call was stopped yet"));
    assert!(error(&["0"]).contains("not a decision"));
    assert!(error(&["x9x9x"]).contains("no call `x9x9x` in the ledger"));
    let number = test.run(&["ledger", "query", "--json"]).json()["leaves"][0]["seq"].to_string();
    assert!(error(&[&number]).contains("was not stopped"));
    // The record of a secret cannot be compared with a later call.
    assert_eq!(bash(&test, &format!("make TOKEN=ghp_{}", "a1B2c3D4e5F6".repeat(3))), "deny");
    assert!(error(&["last"]).contains("contains a secret"));
    assert!(error(&["last", "--here"]).contains("contains a secret"));
    test.write(
        "home/tenterhook.yaml",
        "hooks:\n  - {id: mine, on: pre-tool, command: 'echo no >&2; exit 2'}\n",
    );
    assert_eq!(bash(&test, "ls"), "deny");
    assert!(error(&["last"]).contains("hook `mine` stopped"));
}

/// The model must not be able to quote a name, because a user might then allow a call that they have not seen.
#[test]
fn short_names_are_shown_to_users_and_never_to_the_model() {
    for has_daemon in [false, true] {
        let test = home_with_rules();
        let guard = has_daemon.then(|| SocketDaemon::of(&test));
        let mut replies = String::new();
        let mut names = BTreeSet::new();
        for command in ["make all", "cp a b"] {
            let ran = test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash(command).as_bytes());
            replies += &(ran.stdout + &ran.stderr);
            names.insert(latest_name(&test));
        }
        // Codex has no prompt of its own; without a daemon the call is denied at once.
        if !has_daemon {
            let ran = test.run_with(&["hook", "codex", "pre-tool-use"], test.bash("cp a b").as_bytes());
            replies += &(ran.stdout + &ran.stderr);
            names.insert(latest_name(&test));
        }
        assert!(replies.contains("people make things") && names.len() >= 2, "{replies}");
        let listed = test.run(&["ledger", "query"]).stdout;
        for name in &names {
            assert!(listed.contains(name.as_str()), "{name} is not in\n{listed}");
            assert!(!replies.contains(name.as_str()), "{name} is in\n{replies}");
        }
        let last = test.run(&["ledger", "show", &latest_name(&test)]).stdout;
        assert!(last.contains(&latest_name(&test)), "{last}");
        drop(guard);
    }
}

#[test]
fn a_call_that_waits_is_approved_by_its_short_name() {
    let test = home_with_rules();
    let guard = SocketDaemon::of(&test);
    let payload: Value = serde_json::from_str(&test.bash("cp a b")).unwrap();
    let reply = thread::scope(|scope| {
        let reply = scope.spawn(|| guard.hook("codex", "pre-tool-use", &payload));
        let card = crate::terminal_user::until("a call waits", || {
            let mut answer = guard.request("GET", "/v1/approvals", &Value::Null).1;
            answer["pending"].get_mut(0).map(Value::take)
        });
        let name = card["name"].as_str().unwrap();
        assert!(test.run(&["approvals", "list"]).stdout.starts_with(name));
        assert_eq!(test.run(&["approvals", "show", name, "--json"]).json()["id"], card["id"]);
        let ran = test.run_on_terminal(&["allow", name]);
        assert_eq!(
            (ran.exit, ran.stdout.as_str()),
            (0, "✓ the waiting call was approved\n"),
            "{}",
            ran.stderr
        );
        reply.join().unwrap()
    });
    assert_ne!(verdict(&reply), "deny", "{reply}");
    // Codex has no prompt, so a repeated call does not wait if it was allowed after the fact.
    drop(guard);
    let ran = test.run_with(&["hook", "codex", "pre-tool-use"], test.bash("cp a b").as_bytes());
    assert_eq!(verdict(&ran.json()), "deny");
    allow(&test, &["last"]);
    let ran = test.run_with(&["hook", "codex", "pre-tool-use"], test.bash("cp a b").as_bytes());
    assert_ne!(verdict(&serde_json::from_str(&ran.stdout).unwrap_or_default()), "deny", "{}", ran.stdout);
}

#[test]
fn a_call_that_is_only_evaluated_uses_up_no_allowance() {
    let test = home_with_rules();
    assert_eq!(bash(&test, "make all"), "deny");
    allow(&test, &["last"]);
    let payload = test.bash("make all");
    let ran = test.run_with(&["hook", "--try", "claude-code", "pre-tool-use"], payload.as_bytes());
    assert_eq!(verdict(&ran.json()), "deny", "{}", ran.stdout);
    assert_eq!(bash(&test, "make all"), "allow");
}
