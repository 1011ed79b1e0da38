// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Retention: the daemon removes old records, by limits that a user authorized.

use serde_json::{Value, json};
use tenterhook_event::{EventId, Timestamp};
use tenterhook_home::call_meta::now_ms;
use tenterhook_ledger::{Ledger, LedgerEntry, LedgerOptions};

use crate::context::TestContext;
use crate::terminal_user::{SocketDaemon, until};

const DAY_MS: u64 = 86_400_000;
const OLD_RECORDS: u64 = 300;

/// A state directory in use, with records that are 100 days old.
fn used_home() -> TestContext {
    let test = TestContext::new();
    let ledger = Ledger::open(&test.home().join("ledger"), LedgerOptions::new(|| now_ms() - 100 * DAY_MS));
    let ledger = ledger.unwrap().ledger;
    for number in 0..OLD_RECORDS {
        let ts = Timestamp::from_unix_ms(now_ms() - 100 * DAY_MS);
        let id = EventId::from_parts(ts.unix_ms(), u128::from(number));
        let detail = json!({"number": number});
        let entry = LedgerEntry::change(id, ts, "old change", "dev", detail, &|_| Vec::new());
        ledger.append(entry.seal(ledger.sealing()).unwrap()).unwrap();
    }
    ledger.close().unwrap();
    test
}

fn hook(guard: &SocketDaemon<'_>) {
    let payload = serde_json::from_str(&guard.test.bash("true")).unwrap();
    guard.hook("claude-code", "PreToolUse", &payload);
}

/// Records of a kind, newest first; pruned ones are absent.
fn records(test: &TestContext, kind: &str) -> Vec<Value> {
    let found = test.run(&["ledger", "query", "--kind", kind, "--json"]).json();
    found["leaves"].as_array().unwrap().iter().map(|record| record["leaf"].clone()).collect()
}

fn last_change(test: &TestContext) -> Value {
    records(test, "change").into_iter().find(|change| change["what"] != "generation").unwrap()
}

fn pruned(test: &TestContext) -> u64 {
    test.run(&["ledger", "stats", "--json"]).json()["pruned"].as_u64().unwrap()
}

fn retention(guard: &SocketDaemon<'_>) -> Value {
    guard.request("GET", "/v1/ledger/retention", &json!({})).1
}

#[test]
fn old_records_are_removed_once_the_user_authorized_it_and_the_ledger_verifies() {
    let test = used_home();
    let before = test.path("checkpoint");
    let ran = test.run(&["ledger", "checkpoint", "--output", before.to_str().unwrap()]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let guard = SocketDaemon::of(&test);
    hook(&guard);
    let shown = test.run(&["ledger", "retention"]);
    assert_eq!((shown.exit, shown.stdout.as_str()), (0, "all records are kept\n"));

    let ran = test.run_on_terminal(&["ledger", "retention", "set", "--max-age", "90d", "--max-size", "2GB"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    let said = "✓ records older than 90d, and the oldest beyond 2GB of content are removed by the daemon\n";
    assert!(ran.stdout.starts_with(said), "{}", ran.stdout);
    let change = last_change(&test);
    assert_eq!(
        (&change["what"], &change["detail"]["to"], &change["detail"]["authority"]["proof"]),
        (&json!("ledger retention"), &json!("max_age 90d, max_size 2GB"), &json!("tty"))
    );
    let settings = std::fs::read_to_string(test.home().join("tenterhook.yaml")).unwrap();
    assert_eq!(settings, "ledger:\n  retention: {max_age: 90d, max_size: 2GB}\n");

    let run = until("the records are removed", || {
        Some(retention(&guard)["last_run"].clone()).filter(|run| run["removed"] == OLD_RECORDS)
    });
    assert_eq!(run["error"], Value::Null, "{run}");
    assert_eq!(pruned(&test), OLD_RECORDS);
    let ran = test.run(&["ledger", "verify", "--since", before.to_str().unwrap()]);
    assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    let removals = records(&test, "prune");
    assert_eq!(removals.len(), 2, "one for each batch");
    assert_eq!(removals[0]["reason"], "retention: max_age 90d, max_size 2GB");
    assert_eq!(records(&test, "decision").len(), 1, "recent records stay");

    let ran = test.run(&["ledger", "retention", "off"]);
    assert_eq!((ran.exit, ran.stdout.lines().next()), (0, Some("✓ all records are kept")), "{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(test.home().join("tenterhook.yaml")).unwrap(), "ledger:\n");
    assert_eq!(last_change(&test)["detail"]["to"], "keep everything");
}

#[test]
fn a_guarded_agent_may_lengthen_retention_and_not_shorten_it() {
    let test = used_home();
    for with_daemon in [false, true] {
        let guard = with_daemon.then(|| SocketDaemon::of(&test));
        match &guard {
            Some(guard) => hook(guard),
            None => drop(test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("ls").as_bytes())),
        }
        let ran = test.run(&["ledger", "retention", "set", "--max-age", "1d"]);
        assert_eq!(ran.exit, 1, "{with_daemon}: {}", ran.stdout);
        let refused = last_change(&test);
        assert_eq!(
            (&refused["what"], &refused["detail"]["action"]),
            (&json!("refused"), &json!("ledger retention"))
        );
        if let Some(guard) = &guard {
            let lie = json!({"max_age": "1d", "proof": {"tty": true}});
            assert_eq!(guard.request("PUT", "/v1/ledger/retention", &lie).0, 403);
            let bad = guard.request("PUT", "/v1/ledger/retention", &json!({"max_age": "1h"}));
            assert_eq!(bad.0, 400, "{}", bad.1);
            assert_eq!(guard.request("PUT", "/v1/ledger/retention", &json!({})).0, 200, "everything is kept");
        }
        assert!(!test.home().join("retention.json").exists() || with_daemon);
    }
    assert_eq!(pruned(&test), 0);
}

#[test]
fn a_shorter_value_in_the_file_is_reported_and_not_applied() {
    let test = used_home();
    let ran = test.run_on_terminal(&["ledger", "retention", "set", "--max-age", "365d"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    test.write("home/tenterhook.yaml", "ledger:\n  retention: {max_age: 1d}\n");
    let guard = SocketDaemon::of(&test);
    let status = until("the limits are applied", || {
        Some(retention(&guard)).filter(|status| status["last_run"]["removed"] == 0)
    });
    assert_eq!(
        (&status["configured"]["max_age"], &status["authorized"]["max_age"], &status["applied"]["max_age"]),
        (&json!("1d"), &json!("365d"), &json!("365d"))
    );
    let message = "`max_age 1d` is not applied: shorter than what was authorized (max_age 365d)";
    assert!(status["problem"].as_str().unwrap().contains(message), "{status}");
    for command in ["status", "doctor", "check"] {
        let ran = test.run(&[command]);
        assert!((ran.stdout + &ran.stderr).contains(message), "{command}");
    }
    let log = std::fs::read_to_string(test.path("serve.log")).unwrap();
    assert!(log.contains("retention: the setting is not applied"), "{log}");
    assert_eq!(pruned(&test), 0);

    // The limit stays the same, but is authorized now.
    let ran = test.run_on_terminal(&["ledger", "retention", "set", "--max-age", "1d"]);
    assert_eq!(ran.exit, 0, "{}", ran.stderr);
    until("the records are removed", || (pruned(&test) == OLD_RECORDS).then_some(()));
    assert_eq!(retention(&guard)["problem"], Value::Null);
}

#[test]
fn a_bad_value_is_refused_by_the_command_and_keeps_everything_in_the_file() {
    let test = used_home();
    for (args, message) in [
        (["--max-age", "90"], "invalid age `90`: use days or weeks"),
        (["--max-age", "0d"], "`0d` is too short: records are kept for at least `1d`"),
        (["--max-size", "1MB"], "`1MB` is too small: the smallest size is `100MB`"),
    ] {
        let ran = test.run(&["ledger", "retention", "set", args[0], args[1]]);
        assert_eq!(ran.exit, 2);
        assert!(ran.stderr.contains(message), "{}", ran.stderr);
    }
    test.write("home/tenterhook.yaml", "ledger: {retention: {max_age: 90}}\n");
    let ran = test.run(&["check"]);
    assert!((ran.stdout + &ran.stderr).contains("tenterhook.yaml:1:31: ledger setting `retention`"));
    let ran = test.run_on_terminal(&["ledger", "retention", "set", "--max-age", "90d"]);
    assert_eq!(ran.exit, 2, "a map in braces is not edited");
    assert!(ran.stderr.contains("write it yourself and repeat the command"), "{}", ran.stderr);
}
