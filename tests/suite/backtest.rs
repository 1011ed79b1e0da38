// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `policy backtest`: evaluates other rules on recorded events.

use serde_json::{Value, json};

use crate::context::TestContext;
use crate::terminal_user::SocketDaemon;

const NO_CURL: &str = "\
version: 1
rules:
  - id: no-curl
    match: {shell: {program: curl}}
    verdict: deny
    reason: not here
";

fn record_calls(test: &TestContext, commands: &[&str]) {
    for command in commands {
        let ran = test.run_with(&["hook", "claude-code", "PreToolUse"], test.bash(command).as_bytes());
        assert_eq!(ran.exit, 0, "{}{}", ran.stdout, ran.stderr);
    }
}

#[test]
fn a_backtest_shows_what_a_policy_would_change_and_changes_nothing() {
    let test = TestContext::new();
    record_calls(&test, &["ls", "curl https://example.com", "rm -rf ~/", "echo curl"]);
    let before = test.records().len();
    test.write("work/new.yaml", NO_CURL);
    let answer = test.run(&["policy", "backtest", "new.yaml", "--json"]);
    assert_eq!(answer.exit, 1, "{}", answer.stderr);
    let answer = answer.json();
    assert_eq!((&answer["replayed"], &answer["same"]), (&json!(4), &json!(3)), "{answer}");
    let difference = &answer["differences"][0];
    assert_eq!(
        (&difference["what"], &difference["was"], &difference["now"], &difference["now_by"]),
        (&json!("Bash curl https://example.com"), &json!("none"), &json!("deny"), &json!("no-curl"))
    );
    assert_eq!(answer["by_rule"]["no-curl"], json!({"stricter": 1, "looser": 0}));
    assert_eq!(test.records().len(), before);
    let text = test.run(&["policy", "backtest", "new.yaml"]).stdout;
    assert!(
        text.contains("no-curl: 1 stricter") && text.contains("1 would be decided differently"),
        "{text}"
    );
}

#[test]
fn a_removed_rule_shows_as_a_difference() {
    let test = TestContext::new();
    test.write("home/policy.yaml", NO_CURL);
    record_calls(&test, &["curl https://example.com"]);
    test.write("work/new.yaml", "version: 1\nrules: []\n");
    let answer = test.run(&["policy", "backtest", "new.yaml", "--json"]).json();
    assert_eq!(answer["by_rule"]["no-curl"], json!({"stricter": 0, "looser": 1}), "{answer}");
    let same = test.run(&["policy", "backtest", "../home/policy.yaml"]);
    assert_eq!(same.exit, 0, "{}", same.stdout);
    assert!(same.stdout.contains("no decision would differ"), "{}", same.stdout);
}

#[test]
fn earlier_events_of_a_session_count() {
    let test = TestContext::new();
    record_calls(&test, &["make a", "make b", "make c"]);
    let limited = "    limit: {count: 2, window: 1h}\n";
    test.write("work/new.yaml", &(NO_CURL.replace("curl", "make") + limited));
    let answer = test.run(&["policy", "backtest", "new.yaml", "--json"]).json();
    assert_eq!(answer["differences"].as_array().unwrap().len(), 1, "{answer}");
    assert_eq!(answer["differences"][0]["what"], "Bash make c");
}

#[test]
fn events_that_cannot_be_replayed_are_counted() {
    let test = TestContext::new();
    record_calls(&test, &["curl https://example.com", "ls"]);
    // Reading the decisions also imports the spool.
    assert_eq!(test.decisions().len(), 2);
    let reader = tenterhook_ledger::Reader::open(&test.home().join("ledger")).unwrap();
    let first =
        reader.records_from(0, 10).unwrap().into_iter().find(|record| record.payload.is_some()).unwrap().seq;
    drop(reader);
    let options = tenterhook_ledger::LedgerOptions::new(|| 0);
    let ledger = tenterhook_ledger::Ledger::open(&test.home().join("ledger"), options).unwrap().ledger;
    ledger.erase(first, first, "test", "to see", &|_| Vec::new()).unwrap();
    ledger.close().unwrap();
    test.write("work/new.yaml", NO_CURL);
    let answer = test.run(&["policy", "backtest", "new.yaml", "--json"]).json();
    assert_eq!(answer["left_out"], json!({"the payload was erased": 1}), "{answer}");
    assert_eq!(answer["replayed"], 1);
}

#[test]
fn an_unusable_file_is_reported() {
    let test = TestContext::new();
    record_calls(&test, &["ls"]);
    test.write("work/bad.yaml", &NO_CURL.replace("deny", "dney"));
    let ran = test.run(&["policy", "backtest", "bad.yaml"]);
    assert_eq!(ran.exit, 2);
    assert!(ran.stderr.contains("bad.yaml:5:14"), "{}", ran.stderr);
    assert_eq!(test.run(&["policy", "backtest", "none.yaml"]).exit, 2);
}

#[test]
fn the_api_returns_the_same() {
    let test = TestContext::new();
    record_calls(
        &test,
        &["ls", "curl https://example.com", "rm -rf ~/", "echo curl", "curl -s https://example.org"],
    );
    test.write("work/new.yaml", NO_CURL);
    let typed = test.run(&["policy", "backtest", "new.yaml", "--json"]).json();
    let guard = SocketDaemon::of(&test);
    let strip = |mut answer: Value| {
        assert!(answer["took_ms"].take().is_u64(), "{answer}");
        answer
    };
    let (status, asked) = guard.request("POST", "/v1/policy/backtest", &json!({"text": NO_CURL}));
    assert_eq!((status, strip(asked)), (200, strip(typed.clone())));
    let beside = test.run(&["policy", "backtest", "new.yaml", "--json"]);
    assert_eq!((beside.exit, strip(beside.json())), (1, strip(typed)), "the same while a daemon runs");
    let none =
        guard.request("POST", "/v1/policy/backtest", &json!({"text": NO_CURL, "since": "2999-01-01"})).1;
    assert_eq!((&none["replayed"], &none["by_rule"]), (&json!(0), &json!({})));
    let (status, broken) =
        guard.request("POST", "/v1/policy/backtest", &json!({"text": NO_CURL.replace("deny", "dney")}));
    assert_eq!((status, &broken["problems"][0]["line"]), (422, &json!(5)), "{broken}");
    let (status, when) =
        guard.request("POST", "/v1/policy/backtest", &json!({"text": NO_CURL, "since": "soon"}));
    assert_eq!((status, when["error"]["message"].as_str().unwrap().contains("15m")), (400, true), "{when}");
}
