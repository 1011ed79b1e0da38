// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Torn and short writes: the disk has only a part of what was written.

use std::path::Path;

use tenterhook_ledger::{Expectations, Ledger};

use crate::common::{TestLedger, options, record};
use crate::crash::{self, RandomNumbers};

const PAGE: usize = 8192;

/// Returns a ledger in the state before a power cut: it is open, and only the journal contains the last leaves.
fn interrupted() -> (TestLedger, Ledger) {
    let test = TestLedger::new();
    let ledger = test.open();
    record(&ledger, 1..=20);
    ledger.close().unwrap();
    let ledger = test.open();
    record(&ledger, 21..=60);
    (test, ledger)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir(to).unwrap();
    std::fs::set_permissions(to, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    // The journal's index (`-shm`) is in memory and would be lost, so it is not copied.
    for name in ["ledger.db", "ledger.db-wal", "checkpoint", "redaction.key", "lock"] {
        std::fs::copy(from.join(name), to.join(name)).unwrap();
    }
}

/// Opens the copy, records more entries and verifies it.
fn reopen_and_record(dir: &Path, what: &str) {
    let opened = Ledger::open(dir, options()).unwrap_or_else(|error| panic!("{what}: {error}"));
    assert!(
        opened.recovered.iter().any(|line| line.contains("did not end cleanly")),
        "{what}: {:?}",
        opened.recovered
    );
    record(&opened.ledger, 1001..=1003);
    opened.ledger.close().unwrap();
    let reader = tenterhook_ledger::Reader::open(dir).unwrap();
    let verified = reader
        .verify(Expectations::default(), &mut |_, _| ())
        .unwrap_or_else(|problem| panic!("{what}: {problem}"));
    assert!(verified.size >= 21 + 3, "{what}: all leaves that were signed and synced before are present");
}

#[test]
fn a_journal_cut_anywhere_leaves_a_log_that_verifies() {
    let (test, _ledger) = interrupted();
    let length = std::fs::metadata(test.dir.join("ledger.db-wal")).unwrap().len();
    let (mut random, rounds) = (RandomNumbers::new(), crash::rounds(20));
    for round in 0..rounds {
        let dir = test.path().join(format!("cut-{round}"));
        copy(&test.dir, &dir);
        let file = std::fs::OpenOptions::new().write(true).open(dir.join("ledger.db-wal")).unwrap();
        // The first cuts are evenly spread, the later ones are random.
        let kept =
            if round < 20 { (length - 1) * round / 20 + round * 7 } else { random.below(length - 1) } + 1;
        file.set_len(kept.min(length)).unwrap();
        reopen_and_record(&dir, &format!("cut at {kept} of {length}"));
        std::fs::remove_dir_all(&dir).unwrap();
        crash::progress("short write", round + 1, rounds, "");
    }
}

#[test]
fn a_journal_with_a_torn_write_leaves_a_log_that_verifies() {
    let (test, _ledger) = interrupted();
    let journal = std::fs::read(test.dir.join("ledger.db-wal")).unwrap();
    let (mut random, rounds) = (RandomNumbers::new(), crash::rounds(20));
    let length = u64::try_from(journal.len()).unwrap() - 32;
    for round in 0..rounds {
        let dir = test.path().join(format!("torn-{round}"));
        copy(&test.dir, &dir);
        let mut torn = journal.clone();
        let at = if round < 20 { length * round / 20 + round * 13 } else { random.below(length) };
        let at = 32 + usize::try_from(at).unwrap();
        let end = (at + 512).min(torn.len());
        torn[at..end].fill(0xA5);
        std::fs::write(dir.join("ledger.db-wal"), torn).unwrap();
        reopen_and_record(&dir, &format!("torn at {at}"));
        std::fs::remove_dir_all(&dir).unwrap();
        crash::progress("torn write", round + 1, rounds, "");
    }
}

#[test]
fn a_corrupt_page_is_reported() {
    let test = TestLedger::filled();
    let good = std::fs::read(test.dir.join("ledger.db")).unwrap();
    let pages = good.len() / PAGE;
    for page in 0..pages {
        let mut bad = good.clone();
        bad[page * PAGE..(page + 1) * PAGE].fill(0x5A);
        std::fs::write(test.dir.join("ledger.db"), bad).unwrap();
        let opened = Ledger::open(&test.dir, options());
        let message = match opened {
            Err(error) => error.to_string(),
            Ok(opened) => {
                let appended = opened.ledger.append(crate::common::entry(500));
                // The append succeeds if the damaged page does not belong to the last records.
                drop(opened);
                match (appended, test.reader().verify(Expectations::default(), &mut |_, _| ())) {
                    (Err(error), _) => error.to_string(),
                    (Ok(_), Err(problem)) => problem.to_string(),
                    (Ok(_), Ok(_)) => index_only(&test, page),
                }
            }
        };
        let named = [
            "damaged",
            "malformed",
            "cannot be read",
            "cannot read",
            "record ",
            "records ",
            "file is not a database",
        ];
        assert!(named.iter().any(|word| message.contains(word)), "page {page}: {message}");
    }
}

/// The damaged page belongs to an index: all leaves are readable, and only SQLite's own check finds the damage.
fn index_only(test: &TestLedger, page: usize) -> String {
    let check: String = test.database().query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_ne!(check, "ok", "page {page}");
    format!("damaged index: {check}")
}
