// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `ledger verify` detects changes to the ledger and reports what was changed.

use rusqlite::Connection;

use crate::context::TestContext;

/// A ledger of six records: start, generation, four decisions; the third is a denial.
fn home_with_records() -> TestContext {
    let test = TestContext::new();
    for command in ["ls", "rm -rf /", "pwd", "date"] {
        test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash(command).as_bytes());
        // Each decision gets its own checkpoint.
        test.run(&["ledger", "checkpoint"]);
    }
    assert_eq!(test.records().len(), 6);
    assert_eq!(test.run(&["ledger", "verify"]).exit, 0);
    test
}

/// Runs SQL on the store without the program, and returns the output of `verify`.
fn verify_after_sql(test: &TestContext, sql: &str) -> String {
    Connection::open(test.home().join("ledger/ledger.db")).unwrap().execute_batch(sql).unwrap();
    let ran = test.run(&["ledger", "verify"]);
    assert_eq!(ran.exit, 1, "{sql}: {}{}", ran.stdout, ran.stderr);
    ran.stdout.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_changed_verdict_is_found() {
    let sql = "UPDATE leaves SET bytes = CAST(replace(CAST(bytes AS TEXT), '\"verdict\":\"deny\"', '\"verdict\":\"none\"') AS BLOB) WHERE seq = 3";
    insta::assert_snapshot!(verify_after_sql(&home_with_records(), sql), @"✗ record 3: content does not match its hash");
}

#[test]
fn a_verdict_changed_only_in_the_index_is_found() {
    let sql = "UPDATE leaves SET verdict = 'none' WHERE seq = 3";
    insta::assert_snapshot!(verify_after_sql(&home_with_records(), sql), @"✗ record 3: indexed under verdict `none`, but its envelope has `deny`");
}

#[test]
fn changed_counters_are_found_and_rebuilt() {
    let test = home_with_records();
    // Counters exist for full blocks of 256 records.
    let options = tenterhook_ledger::LedgerOptions::new(tenterhook_home::call_meta::now_ms);
    let ledger = tenterhook_ledger::Ledger::open(&test.home().join("ledger"), options).unwrap().ledger;
    for _ in 0..300 {
        let door = tenterhook_home::call_meta::mint().unwrap();
        let detail = serde_json::Value::Null;
        let entry =
            tenterhook_ledger::LedgerEntry::change(door.id, door.ts, "test", "dev", detail, &|_| Vec::new());
        ledger.append(entry).unwrap();
    }
    ledger.close().unwrap();
    assert_eq!(test.run(&["ledger", "stats", "--json"]).json()["verdicts"]["deny"], 1);
    let sql = "UPDATE counters SET records = records + 5 WHERE verdict = 'deny'";
    insta::assert_snapshot!(verify_after_sql(&test, sql), @"✗ the counters of `ledger stats` do not match the records");
    assert_eq!(test.run(&["ledger", "stats", "--json"]).json()["verdicts"]["deny"], 6);
    let repaired = test.run(&["ledger", "verify", "--repair"]);
    assert_eq!(repaired.exit, 0, "{}{}", repaired.stdout, repaired.stderr);
    assert!(repaired.stderr.contains("repaired: the counters"), "{}", repaired.stderr);
    assert_eq!(test.run(&["ledger", "stats", "--json"]).json()["verdicts"]["deny"], 1);
    assert_eq!(test.records().last().unwrap()["what"], "ledger index rebuilt");
    assert_eq!(test.run(&["ledger", "verify"]).exit, 0);
    // Damage to a record is not repaired.
    verify_after_sql(&test, "UPDATE leaves SET verdict = 'none' WHERE seq = 3");
    assert_eq!(test.run(&["ledger", "verify", "--repair"]).exit, 1);
}

#[test]
fn a_changed_command_is_found() {
    let sql = "UPDATE leaves SET payload = CAST('{\"args\":{\"command\":\"ls\"}}' AS BLOB) WHERE seq = 3";
    insta::assert_snapshot!(verify_after_sql(&home_with_records(), sql), @"✗ record 3: payload does not match its commitment");
}

#[test]
fn a_payload_erased_without_a_record_is_found() {
    let sql = "UPDATE leaves SET payload = NULL, salt = NULL, erased = 1 WHERE seq = 3";
    insta::assert_snapshot!(verify_after_sql(&home_with_records(), sql), @"✗ record 3: payload was removed without an `erase` record");
}

#[test]
fn a_deleted_record_is_found() {
    insta::assert_snapshot!(verify_after_sql(&home_with_records(), "DELETE FROM leaves WHERE seq = 3"), @"✗ record 3: missing");
}

#[test]
fn a_deleted_last_record_is_found() {
    insta::assert_snapshot!(verify_after_sql(&home_with_records(), "DELETE FROM leaves WHERE seq = 5"), @"✗ record 5: missing: 6 records were signed, 5 are present");
}

#[test]
fn a_deleted_last_record_with_its_checkpoint_is_found() {
    let sql = "DELETE FROM leaves WHERE seq = 5; DELETE FROM checkpoints WHERE size = 6";
    // The checkpoint file next to the store still contains the checkpoint.
    insta::assert_snapshot!(verify_after_sql(&home_with_records(), sql), @"✗ older than the reference checkpoint: 5 < 6 records");
}

#[test]
fn a_rollback_is_found_with_a_later_checkpoint() {
    let test = home_with_records();
    let held = test.path("held");
    test.run(&["ledger", "checkpoint", "--output", held.to_str().unwrap()]);
    let sql = "DELETE FROM leaves WHERE seq >= 4; DELETE FROM checkpoints WHERE size > 4; UPDATE leaves SET head = zeroblob(64)";
    std::fs::remove_file(test.home().join("ledger/checkpoint")).unwrap();
    insta::assert_snapshot!(verify_after_sql(&test, sql), @"✗ record 3: the signature of the last commit was removed from its row");
    // This value of `heads_from` occurs in stores that were created with an older format.
    let sql = "UPDATE meta SET value = '4' WHERE name = 'heads_from'";
    Connection::open(test.home().join("ledger/ledger.db")).unwrap().execute_batch(sql).unwrap();
    assert_eq!(test.run(&["ledger", "verify"]).exit, 0, "an older state of the ledger is consistent");
    let ran = test.run(&["ledger", "verify", "--since", held.to_str().unwrap()]);
    assert_eq!(ran.exit, 1);
    insta::assert_snapshot!(ran.stdout.lines().next().unwrap(), @"✗ older than the reference checkpoint: 4 < 6 records");
}

#[test]
fn an_unexpected_key_is_found() {
    let (test, other) = (home_with_records(), home_with_records());
    let key = other.home().join("ledger/key.pub");
    let ran = test.run(&["ledger", "verify", "--key", key.to_str().unwrap()]);
    assert_eq!(ran.exit, 1);
    assert!(ran.stdout.contains("✗ ") && ran.stdout.contains("key"), "{}", ran.stdout);
    let own = test.home().join("ledger/key.pub");
    let ran = test.run(&["ledger", "verify", "--key", own.to_str().unwrap()]);
    assert_eq!(ran.exit, 0);
    assert!(!ran.stdout.contains("was believed"), "{}", ran.stdout);
}

#[test]
fn an_export_verifies_by_itself_and_an_edited_one_does_not() {
    let test = home_with_records();
    let path = test.path("out.jsonl");
    let file = path.to_str().unwrap();
    assert_eq!(test.run(&["ledger", "export", "--output", file]).exit, 0);
    assert_eq!(test.run(&["--home", "/nonexistent", "ledger", "verify", "--file", file]).exit, 0);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("\"verdict\":\"deny\"", "\"verdict\":\"none\"", 1)).unwrap();
    let ran = test.run(&["ledger", "verify", "--file", file]);
    assert_eq!(ran.exit, 1);
    insta::assert_snapshot!(ran.stdout.lines().next().unwrap(), @"✗ record 3: content does not match its hash");
    let json = test.run(&["ledger", "verify", "--file", file, "--json"]);
    assert_eq!((json.exit, json.json()["leaf"].clone()), (1, serde_json::json!(3)));
    let lines: Vec<_> = text.lines().collect();
    std::fs::write(&path, lines[..lines.len() - 2].join("\n")).unwrap();
    assert_eq!(test.run(&["ledger", "verify", "--file", file]).exit, 1, "its end was cut off");
}
