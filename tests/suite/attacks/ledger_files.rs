// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Forged or swapped ledger files are refused and reported.

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;
use tenterhook_guard::LedgerHandle;
use tenterhook_home::Home;
use tenterhook_ledger::{Durability, Ledger, LedgerOptions, Reader};

use super::hostile_files::{ledger_dir, limited_command};
use crate::context::TestContext;

/// A state directory whose ledger contains decisions and checkpoints. One of the decisions is a denial.
fn home_with_records() -> TestContext {
    let test = TestContext::new();
    for command in ["ls", "rm -rf /", "pwd", "date"] {
        test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash(command).as_bytes());
        test.run(&["ledger", "checkpoint"]);
    }
    assert_eq!(test.run(&["ledger", "verify"]).exit, 0);
    test
}

fn edit(test: &TestContext, sql: &str) {
    Connection::open(ledger_dir(test).join("ledger.db")).unwrap().execute_batch(sql).unwrap();
}

/// Problems that `verify` reports.
fn verify_problems(test: &TestContext) -> String {
    let ran = test.run_command(limited_command(test, &["ledger", "verify"]), b"");
    assert_eq!(ran.exit, 1, "{}{}", ran.stdout, ran.stderr);
    ran.stdout.lines().next().unwrap_or_default().to_owned()
}

/// Forges a line of the pending file from a spooled denial: a daemon's record that allowed another event.
fn forged_line(test: &TestContext) -> String {
    test.run_with(&["hook", "claude-code", "pre-tool-use"], test.bash("rm -rf /").as_bytes());
    let files = std::fs::read_dir(test.home().join("spool")).unwrap();
    let text = files
        .filter_map(|file| std::fs::read_to_string(file.unwrap().path()).ok())
        .find(|text| text.contains("\"kind\":\"decision\""))
        .unwrap();
    let line = text.lines().next().unwrap();
    let id = line.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap();
    let line = line.replace(id, "01ARZ3NDEKTSV4RRFFQ69G5FAV").replace("\\\"deny\\\"", "\\\"allow\\\"");
    assert!(line.contains("allow"), "{line}");
    format!("daemon {line}\n")
}

fn refusals(test: &TestContext) -> Vec<Value> {
    test.records().into_iter().filter(|leaf| leaf["what"] == "pending-refused").collect()
}

#[test]
fn a_forged_line_in_the_pending_file_is_refused_and_recorded() {
    for relaxed in [false, true] {
        let test = TestContext::new();
        if relaxed {
            test.write("home/tenterhook.yaml", "ledger: {durability: relaxed}\n");
        }
        let forged = forged_line(&test);
        test.run(&["ledger", "checkpoint"]);
        let before = test.decisions().len();
        let seal = "A".repeat(43) + "=";
        std::fs::write(ledger_dir(&test).join("ledger.pending"), format!("{forged}{seal} {forged}")).unwrap();
        assert_eq!(test.run(&["ledger", "checkpoint"]).exit, 0);
        assert_eq!(test.decisions().len(), before, "relaxed: {relaxed}");
        let told = refusals(&test);
        assert_eq!(told.len(), 1, "{told:?}");
        assert_eq!(
            (&told[0]["detail"]["lines"], &told[0]["detail"]["file"]),
            (&2.into(), &"ledger.pending".into())
        );
        let kept = std::fs::read_to_string(ledger_dir(&test).join("ledger.pending.refused")).unwrap();
        assert!(kept.contains("allow"), "the evidence is kept");
        test.run(&["ledger", "checkpoint"]);
        assert_eq!(refusals(&test).len(), 1, "reported once");
        assert_eq!(test.run(&["ledger", "verify"]).exit, 0);
    }
}

#[test]
fn lines_left_by_a_killed_relaxed_daemon_are_imported() {
    let test = TestContext::new();
    test.write("home/tenterhook.yaml", "ledger: {durability: relaxed}\n");
    let dir = ledger_dir(&test);
    let home = Home::in_dir(test.home());
    let options = LedgerOptions { durability: Durability::Relaxed, ..LedgerOptions::new(|| 1) };
    let ledger = Ledger::open(&dir, options).unwrap().ledger;
    let ts = tenterhook_event::Timestamp::from_unix_ms(1);
    let id = tenterhook_event::EventId::from_parts(1, 7);
    let entry = tenterhook_ledger::LedgerEntry::change(id, ts, "mode", "dev", Value::Null, &|_| Vec::new());
    ledger.append(entry).unwrap();
    // The state after `kill -9`: the pending line exists, but its record does not. The line is copied before `drop`
    // writes the record.
    let lines = std::fs::read(dir.join("ledger.pending")).unwrap();
    drop(ledger);
    assert!(!lines.is_empty(), "sequenced only");
    edit_out_last(&dir, &lines);
    let reader = LedgerHandle::of(&home).reader().unwrap();
    assert!(reader.find(&id.to_string()).unwrap().is_some());
}

/// Writes pending lines of the same ledger back and checks that opening the ledger recovers their records. Lines of
/// another ledger could not be used, because they have another seal.
fn edit_out_last(dir: &Path, lines: &[u8]) {
    std::fs::write(dir.join("ledger.pending"), lines).unwrap();
    let opened =
        Ledger::open(dir, LedgerOptions { durability: Durability::Relaxed, ..LedgerOptions::new(|| 1) })
            .unwrap();
    assert!(
        opened.recovered.iter().any(|what| what.contains("that the last run had only sequenced")),
        "{:?}",
        opened.recovered
    );
}

#[test]
fn removed_checkpoints_are_found() {
    let test = home_with_records();
    edit(&test, "DELETE FROM checkpoints");
    assert_eq!(
        verify_problems(&test),
        "✗ all checkpoints were removed: the ledger signs one with its first record"
    );
    let test = home_with_records();
    edit(&test, "DELETE FROM checkpoints WHERE size > 1");
    assert!(verify_problems(&test).ends_with("was published, but is not in the store"));
}

#[test]
fn removing_older_checkpoints_has_no_effect() {
    let test = home_with_records();
    let before = test.records();
    edit(&test, "DELETE FROM checkpoints WHERE size < (SELECT max(size) FROM checkpoints)");
    // Each later checkpoint and the head are signatures over all earlier records.
    assert_eq!(test.run(&["ledger", "verify"]).exit, 0);
    assert_eq!(test.records(), before);
    edit(&test, "DELETE FROM leaves WHERE seq = 3");
    assert_eq!(verify_problems(&test), "✗ record 3: missing");
}

#[test]
fn key_files_of_another_ledger_are_found() {
    let other = home_with_records();
    for names in [&["key", "key.pub"][..], &["key.pub"], &["key"]] {
        let test = home_with_records();
        for name in names {
            std::fs::copy(ledger_dir(&other).join(name), ledger_dir(&test).join(name)).unwrap();
        }
        assert!(verify_problems(&test).contains("has a key of another log"), "{names:?}");
    }
    // The ledger also refuses to sign a checkpoint with the foreign key.
    let test = home_with_records();
    std::fs::copy(ledger_dir(&other).join("key"), ledger_dir(&test).join("key")).unwrap();
    let ran = test.run(&["ledger", "checkpoint"]);
    assert!(ran.exit != 0 && ran.stderr.contains("wrong key `"), "{}", ran.stderr);
}

#[test]
fn removed_heads_are_found() {
    for sql in [
        "UPDATE leaves SET head = NULL",
        "UPDATE leaves SET head = NULL WHERE seq = (SELECT max(seq) FROM leaves)",
        "UPDATE leaves SET head = zeroblob(64)",
    ] {
        let test = home_with_records();
        edit(&test, sql);
        assert!(
            verify_problems(&test).ends_with("the signature of the last commit was removed from its row"),
            "{sql}"
        );
    }
}

#[test]
fn a_zeroed_page_is_found_or_was_unused() {
    let test = home_with_records();
    let path = ledger_dir(&test).join("ledger.db");
    // All data is in the database file, because a journal would repair the damage.
    edit(&test, "PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = delete");
    let whole = std::fs::read(&path).unwrap();
    let pragma = |name: &str| {
        let connection = Connection::open(&path).unwrap();
        let value = connection.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, i64>(0)).unwrap();
        usize::try_from(value).unwrap()
    };
    let (page, free) = (pragma("page_size"), pragma("freelist_count"));
    let leaves = |test: &TestContext| {
        Reader::open(&ledger_dir(test)).and_then(|reader| reader.records_from(0, 1000)).ok()
    };
    let before = leaves(&test).unwrap();
    let zero = |place: usize, length: usize| {
        let mut file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.seek(SeekFrom::Start(place as u64)).unwrap();
        file.write_all(&vec![0; length]).unwrap();
    };
    // Whole pages and halves of pages are overwritten, because the end of a page may be unused.
    let mut unfound = Vec::new();
    for length in [page, page / 2] {
        for place in (0..whole.len()).step_by(length) {
            std::fs::write(&path, &whole).unwrap();
            zero(place, length);
            let ran = test.run_command(limited_command(&test, &["ledger", "verify"]), b"");
            assert!([0, 1, 2].contains(&ran.exit), "byte {place}: {} {}", ran.exit, ran.stderr);
            if ran.exit == 0 {
                assert_eq!(leaves(&test).as_ref(), Some(&before), "byte {place}");
                unfound.push((place, length));
            }
        }
    }
    // SQLite overwrites free pages before it reads them.
    let pages = unfound.iter().filter(|(_, length)| *length == page).count();
    assert!(pages <= free && free < whole.len() / page, "{unfound:?}, {free} free");
    std::fs::write(&path, &whole).unwrap();
    for (place, length) in unfound {
        zero(place, length);
    }
    for number in 0..40 {
        let input = test.bash(&format!("ls {number}"));
        test.run_with(&["hook", "claude-code", "pre-tool-use"], input.as_bytes());
    }
    assert_eq!(test.decisions().len(), 44);
    assert_eq!(test.run(&["ledger", "verify"]).exit, 0, "the ledger continues there");
}
