// SPDX-License-Identifier: Apache-2.0 OR MIT

//! File size limits, wrong permissions and a second writer: the caller gets a clear error, and nothing is lost. Tests
//! with disks are in `disk`.

use std::os::unix::fs::PermissionsExt;

use tenterhook_ledger::{Ledger, OpenError, Reader};

use crate::common::{TestLedger, clock, entry, options, record};
use crate::crash;

#[test]
fn a_file_size_limit_is_reported_and_nothing_is_lost() {
    let test = TestLedger::new();
    // A limit on the size of files: writing beyond the limit fails in the same way as on a full disk.
    let wrapper = r#"trap "" XFSZ; ulimit -f 1200; exec "$@""#;
    let command = crash::command(&std::env::current_exe().unwrap(), wrapper);
    let mut child = crash::start(command, &format!("{} 1 durable", test.dir.display()));
    let lines = crash::read_output(&mut child);
    child.wait().unwrap();
    let acked = crash::acked(&lines);
    assert!(acked.len() > 10, "{lines:?}");
    let refused: Vec<_> = lines.iter().filter(|line| line.contains("refused")).collect();
    assert!(refused.iter().all(|line| line.contains("not recorded: ")) && !refused.is_empty(), "{refused:?}");
    let ledger = test.open();
    let reader = test.reader();
    for number in &acked {
        assert!(reader.find(&crate::common::event(*number).id.to_string()).unwrap().is_some());
    }
    let before = reader.size().unwrap();
    record(&ledger, 2_000_000..=2_000_002);
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, before + 3);
}

#[test]
fn a_directory_that_others_can_write_is_refused() {
    let test = TestLedger::filled();
    std::fs::set_permissions(&test.dir, std::fs::Permissions::from_mode(0o770)).unwrap();
    let error = Ledger::open(&test.dir, options()).err().unwrap().to_string();
    assert!(error.ends_with("` is writable by other users: its mode is 770"), "{error}");
}

#[test]
fn a_key_that_others_can_read_is_refused() {
    let test = TestLedger::new();
    let with_own_key = || tenterhook_ledger::LedgerOptions::new(clock);
    Ledger::open(&test.dir, with_own_key()).unwrap().ledger.close().unwrap();
    let key = test.dir.join("key");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let error = Ledger::open(&test.dir, with_own_key()).err().unwrap().to_string();
    assert!(error.ends_with("is readable by other users: its mode is 644, but must be 600"), "{error}");
}

#[test]
fn files_of_the_ledger_are_private() {
    let test = TestLedger::new();
    let _ledger = test.open();
    for name in ["ledger.db", "ledger.db-wal", "lock", "redaction.key"] {
        let mode = std::fs::metadata(test.dir.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{name}");
    }
    assert_eq!(std::fs::metadata(&test.dir).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_second_writer_gets_the_process_id_of_the_first() {
    let test = TestLedger::new();
    let first = test.open();
    let error = Ledger::open(&test.dir, options()).err().unwrap();
    assert!(matches!(error, OpenError::Locked { pid: Some(pid) } if pid == std::process::id()), "{error}");
    first.append(entry(1)).unwrap();
    drop(first);
    assert_eq!(test.open().append(entry(2)).unwrap().seq(), 2, "the last handle releases the lock");
}

#[test]
fn a_newer_store_is_left_alone() {
    let test = TestLedger::filled();
    test.database().execute_batch("PRAGMA user_version = 99").unwrap();
    let error = Ledger::open(&test.dir, options()).err().unwrap().to_string();
    assert_eq!(error, "the store has format 99, but this program supports formats up to 6");
}

#[test]
fn a_missing_ledger_and_an_invalid_database_are_different_errors() {
    let test = TestLedger::new();
    let error = Reader::open(&test.dir).unwrap_err().to_string();
    assert_eq!(error, format!("no ledger in `{}`", test.dir.display()));
    std::fs::create_dir(&test.dir).unwrap();
    std::fs::write(test.dir.join("ledger.db"), "x".repeat(5000)).unwrap();
    assert_eq!(
        Reader::open(&test.dir).unwrap_err().to_string(),
        "the store is damaged: file is not a database"
    );
}
