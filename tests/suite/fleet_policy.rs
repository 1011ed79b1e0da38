// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The signed policy of a fleet on a machine.

use serde_json::{Value, json};
use tenterhook_fleet_bundle::StaleBehaviour;

use crate::context::TestContext;
use crate::fleet_machine::{BundleSpec, FLEET_RULES, bundle_request, join_fleet};
use crate::terminal_user::{SocketDaemon, until};

fn machine() -> TestContext {
    let test = TestContext::new();
    join_fleet(&test);
    test
}

fn accept(guard: &SocketDaemon<'_>, spec: &BundleSpec<'_>) -> Value {
    let (status, answer) = guard.request("POST", "/v1/fleet/policy", &spec.request());
    assert_eq!(status, 200, "{answer}");
    answer
}

fn verdict(test: &TestContext, command: &str) -> Value {
    test.run(&["policy", "explain", "--json", "--shell", command]).json()["verdict"].clone()
}

fn changes(test: &TestContext, what: &str) -> Vec<Value> {
    let records = test.records().into_iter();
    records.filter(|leaf| leaf["kind"] == "change" && leaf["what"] == what).collect()
}

fn policy_version(guard: &SocketDaemon<'_>) -> Value {
    guard.request("GET", "/v1/fleet/policy", &Value::Null).1["bundle"]["version"].clone()
}

#[test]
fn a_bundle_is_in_force_at_once_in_the_daemon_and_without_it() {
    let test = machine();
    let guard = SocketDaemon::of(&test);
    assert_eq!(guard.request("GET", "/v1/fleet/policy", &Value::Null).1["bundle"], Value::Null);
    assert_eq!(verdict(&test, "deploy now"), "none");
    let answer = accept(&guard, &BundleSpec::default());
    assert_eq!((&answer["bundle"]["version"], &answer["replaces"]), (&json!(1), &Value::Null));
    let payload = serde_json::from_str(&test.bash("deploy now")).unwrap();
    let reply = guard.hook("claude-code", "pre-tool-use", &payload);
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny", "{reply}");
    let deciding = test.decisions().pop().unwrap();
    assert!(deciding.to_string().contains("org/deploy"), "{deciding}");
    for args in [&["check"][..], &["status"], &["rules", "list"], &["rules", "list", "--active"]] {
        let shown = test.run(args).stdout;
        assert!(shown.contains("fleet `acme` version 1, commit 0123abc"), "{args:?}: {shown}");
    }
    assert!(test.run(&["rules", "list", "--active"]).stdout.contains("fleet@1/rules/base.yaml"));
    assert!(test.run(&["rules", "programs", "list"]).stdout.contains("acme-purge"));
    assert_eq!(test.run(&["check", "--json"]).json()["fleet"]["version"], 1);
    assert_eq!(test.run(&["status", "--json"]).json()["fleet_policy"]["version"], 1);
    let recorded = changes(&test, "fleet policy accepted");
    assert_eq!(recorded.len(), 1);
    assert_eq!(recorded[0]["detail"]["signed_by"], json!(["ann", "bob"]));
    accept(&guard, &BundleSpec::default());
    assert_eq!(changes(&test, "fleet policy accepted").len(), 1, "it was in force before");
    let second = FLEET_RULES.replace("program: deploy}", "program: [deploy, release]}");
    accept(&guard, &BundleSpec { version: 2, rules: &second, signed_by: &["ann"], ..BundleSpec::default() });
    let payload = serde_json::from_str(&test.bash("release now")).unwrap();
    let reply = guard.hook("claude-code", "pre-tool-use", &payload);
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny", "it is in force at once: {reply}");
    guard.terminate();
    assert_eq!(verdict(&test, "release now"), "deny", "without a daemon");
    let ran = test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("release now").as_bytes());
    assert!((ran.stdout + &ran.stderr).contains("deployments run in the pipeline"));
}

#[test]
fn a_bundle_with_a_lower_version_or_with_wrong_missing_or_too_few_signatures_is_refused_and_recorded() {
    let test = machine();
    let guard = SocketDaemon::of(&test);
    accept(&guard, &BundleSpec { version: 3, ..BundleSpec::default() });
    let weaker = "version: 1\nrules:\n  - {id: org/any, match: {shell: {program: x}}, verdict: allow}\n";
    let altered = {
        let mut bytes = BundleSpec { version: 4, ..BundleSpec::default() }.bytes();
        let at = bytes.windows(4).position(|part| part == b"acme").unwrap();
        bytes[at] ^= 1;
        bytes
    };
    let mut refused = Vec::new();
    for (bytes, status, kind) in [
        (BundleSpec { version: 2, ..BundleSpec::default() }.bytes(), 409, "version"),
        (BundleSpec { version: 4, signed_by: &[], ..BundleSpec::default() }.bytes(), 422, "signature"),
        (
            BundleSpec { version: 4, signed_by: &["ann"], rules: weaker, ..BundleSpec::default() }.bytes(),
            422,
            "signature",
        ),
        (BundleSpec { version: 4, not_after: 1_000, ..BundleSpec::default() }.bytes(), 422, "expired"),
        (
            BundleSpec { version: 4, rules: "version: 1\nrules: [{id: 7}]", ..BundleSpec::default() }.bytes(),
            422,
            "invalid",
        ),
        (b"not a bundle".to_vec(), 422, "invalid"),
    ] {
        let (answered, error) = guard.request("POST", "/v1/fleet/policy", &bundle_request(&bytes));
        assert_eq!(answered, status, "{error}");
        refused.push(kind);
        let recorded = changes(&test, "fleet policy refused");
        let kinds: Vec<_> = recorded.iter().map(|leaf| leaf["detail"]["kind"].as_str().unwrap()).collect();
        assert_eq!(kinds, refused);
        assert_eq!(policy_version(&guard), 3);
    }
    assert_ne!(guard.request("POST", "/v1/fleet/policy", &bundle_request(&altered)).0, 200);
    assert_eq!(verdict(&test, "deploy now"), "deny", "version 3 stays in force");
    // The same change with enough signatures.
    accept(&guard, &BundleSpec { version: 4, rules: weaker, ..BundleSpec::default() });
    let weakening = changes(&test, "fleet policy accepted").pop().unwrap()["detail"]["weakening"].to_string();
    assert!(weakening.contains("rule `org/deploy` is removed"), "{weakening}");
    assert_eq!(verdict(&test, "deploy now"), "none");
}

#[test]
fn a_bundle_that_was_edited_on_the_disk_is_refused_and_the_one_before_it_stays_in_force() {
    let test = machine();
    let guard = SocketDaemon::of(&test);
    accept(&guard, &BundleSpec::default());
    accept(&guard, &BundleSpec { version: 2, ..BundleSpec::default() });
    // A validly signed bundle that the daemon did not accept.
    let lax = "version: 1\nrules: []\n";
    let other = BundleSpec { version: 9, rules: lax, ..BundleSpec::default() }.bytes();
    std::fs::write(test.home().join("fleet/bundle/current"), other).unwrap();
    until("the change is noticed", || (!changes(&test, "fleet policy refused").is_empty()).then_some(()));
    assert_eq!(policy_version(&guard), 1);
    let recorded = changes(&test, "fleet policy refused");
    assert_eq!(
        (&recorded[0]["detail"]["kind"], &recorded[0]["detail"]["in_force"]),
        (&json!("stored"), &json!(1))
    );
    for args in [&["check"][..], &["status"]] {
        let shown = test.run(args).stdout;
        assert!(shown.contains("THE ORGANISATION'S POLICY IS REFUSED"), "{args:?}: {shown}");
    }
    assert_eq!(verdict(&test, "deploy now"), "deny");
    // The fleet sends version 2 again.
    accept(&guard, &BundleSpec { version: 2, ..BundleSpec::default() });
    assert_eq!(policy_version(&guard), 2);
    assert_eq!(test.run(&["check"]).exit, 0);
}

#[test]
fn a_daemon_keeps_its_policy_if_every_file_of_it_is_removed() {
    let test = machine();
    let guard = SocketDaemon::of(&test);
    accept(&guard, &BundleSpec { when_stale: StaleBehaviour::Ask, ..BundleSpec::default() });
    std::fs::remove_file(test.home().join("fleet/bundle/current")).unwrap();
    until("the loss is recorded", || (!changes(&test, "fleet policy refused").is_empty()).then_some(()));
    let decide = |command: &str| {
        let payload = serde_json::from_str(&test.bash(command)).unwrap();
        guard.hook("claude-code", "pre-tool-use", &payload)["hookSpecificOutput"]["permissionDecision"]
            .clone()
    };
    assert_eq!((decide("deploy now"), decide("ls")), (json!("deny"), Value::Null));
    assert_eq!(verdict(&test, "ls"), "ask", "without the daemon, the lost policy asks");
    accept(&guard, &BundleSpec { when_stale: StaleBehaviour::Ask, ..BundleSpec::default() });
    assert_eq!(verdict(&test, "deploy now"), "deny", "the same bundle repairs it");
    assert_eq!(verdict(&test, "ls"), "none");
}

#[test]
fn a_planted_or_removed_membership_is_recorded_and_gains_nothing() {
    let test = machine();
    let guard = SocketDaemon::of(&test);
    accept(&guard, &BundleSpec::default());
    let enrolment = test.home().join("fleet/enrolment.json");
    let text = std::fs::read_to_string(&enrolment).unwrap();
    std::fs::write(&enrolment, text.replace("acme", "evil")).unwrap();
    until("the change is recorded", || (!changes(&test, "fleet policy refused").is_empty()).then_some(()));
    assert_eq!(verdict(&test, "deploy now"), "deny");
    assert_eq!(policy_version(&guard), 1);
    std::fs::remove_dir_all(test.home().join("fleet")).unwrap();
    until("the end is recorded", || (!changes(&test, "fleet policy ended").is_empty()).then_some(()));
}

#[test]
fn a_bundle_that_cannot_be_recorded_is_not_put_in_force() {
    let test = machine();
    let guard = SocketDaemon::of(&test);
    accept(&guard, &BundleSpec::default());
    let ledger = rusqlite::Connection::open(test.home().join("ledger/ledger.db")).unwrap();
    ledger.execute_batch("begin exclusive").unwrap();
    let second = BundleSpec { version: 2, ..BundleSpec::default() };
    let (status, answer) = guard.request("POST", "/v1/fleet/policy", &second.request());
    assert!(status >= 500, "{status} {answer}");
    assert_eq!(policy_version(&guard), 1);
    ledger.execute_batch("rollback").unwrap();
    until("the bundle is accepted", || {
        (guard.request("POST", "/v1/fleet/policy", &second.request()).0 == 200).then_some(())
    });
    assert_eq!(policy_version(&guard), 2);
}

#[test]
fn a_stale_policy_asks_or_denies_as_it_says_without_a_reload() {
    let test = machine();
    let guard = SocketDaemon::of(&test);
    let soon = tenterhook_home::call_meta::now_ms() + 10_000;
    let (version, when_stale) = (1, StaleBehaviour::Deny);
    accept(&guard, &BundleSpec { version, when_stale, not_after: soon, ..BundleSpec::default() });
    let payload = serde_json::from_str(&test.bash("ls")).unwrap();
    let decide = || {
        guard.hook("claude-code", "pre-tool-use", &payload)["hookSpecificOutput"]["permissionDecision"]
            .clone()
    };
    assert_ne!(decide(), "deny");
    until("the policy is stale", || (decide() == "deny").then_some(()));
    assert!(test.run(&["status"]).stdout.contains("STALE SINCE"));
    guard.terminate();
    assert_eq!(verdict(&test, "ls"), "deny", "without a daemon");
}

#[test]
fn a_candidate_is_replayed_and_only_counts_are_returned() {
    let test = machine();
    let guard = SocketDaemon::of(&test);
    accept(&guard, &BundleSpec::default());
    for number in 0..20 {
        let command = if number < 5 { format!("publish {number}") } else { format!("echo {number}") };
        let payload = serde_json::from_str(&test.bash(&command)).unwrap();
        guard.hook("claude-code", "pre-tool-use", &payload);
    }
    let stricter = format!(
        "{FLEET_RULES}  - {{id: org/publish, match: {{shell: {{program: publish}}}}, verdict: deny}}\n"
    );
    let candidate = BundleSpec { version: 2, rules: &stricter, signed_by: &["ann"], ..BundleSpec::default() };
    let (status, counts) = guard.request("POST", "/v1/fleet/policy/backtest", &candidate.request());
    assert_eq!(status, 200, "{counts}");
    assert_eq!((&counts["version"], &counts["calls"]), (&json!(2), &json!(20)));
    assert_eq!((&counts["denied_before"], &counts["denied_after"]), (&json!(0), &json!(5)));
    assert_eq!(counts["newly_denied"], 5);
    assert!(counts.as_object().unwrap().values().all(Value::is_u64), "{counts}");
    assert_eq!(policy_version(&guard), 1, "nothing is changed");
    let unsigned = BundleSpec { version: 2, signed_by: &[], ..BundleSpec::default() };
    assert_eq!(guard.request("POST", "/v1/fleet/policy/backtest", &unsigned.request()).0, 422);
}

#[test]
fn a_machine_outside_a_fleet_accepts_no_bundle() {
    let test = TestContext::new();
    let guard = SocketDaemon::of(&test);
    let (status, answer) = guard.request("POST", "/v1/fleet/policy", &BundleSpec::default().request());
    assert_eq!(status, 409, "{answer}");
    assert_eq!(guard.request("GET", "/v1/fleet/policy", &Value::Null).1["enrolled"], false);
}

#[test]
fn the_guarded_agent_may_not_touch_the_membership_or_the_policy() {
    let test = TestContext::new();
    for (command, expected) in [
        ("rm -r ~/.local/state/tenterhook/fleet/bundle", "deny"),
        ("rm ~/.local/state/tenterhook/fleet/enrolment.json", "deny"),
        ("cp older ~/.local/state/tenterhook/fleet/bundle/current", "deny"),
        ("echo '{}' > ~/.local/state/tenterhook/fleet/bundle/accepted.json", "deny"),
        ("tenterhook fleet leave", "deny"),
        ("tenterhook-fleet leave", "deny"),
        ("tenterhook fleet approve 01J", "deny"),
        ("tenterhook fleet status", "none"),
        ("cat ~/.local/state/tenterhook/fleet/bundle/accepted.json", "none"),
    ] {
        let ran = test.run(&["rules", "judge", "--shell", command, "--json"]);
        let judged = ran.json();
        assert_eq!(judged["verdict"], expected, "{command}: {judged}{}", ran.stderr);
    }
}
