// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A hook that runs without a daemon opens the ledger to record one leaf.

use tenterhook_ledger::{Appended, Ledger, LedgerEntry, LedgerOptions, OpenedLedger, SealedEntry};

use crate::common::{TestLedger, clock, entry, key};

fn open(test: &TestLedger) -> OpenedLedger {
    Ledger::open(&test.dir, LedgerOptions { key: Some(key(1)), ..LedgerOptions::brief(clock) }).unwrap()
}

fn journal(test: &TestLedger) -> u64 {
    std::fs::metadata(test.dir.join("ledger.db-wal")).map_or(0, |journal| journal.len())
}

#[test]
fn a_leaf_is_signed_by_the_commit_that_records_it() {
    let test = TestLedger::new();
    let opened = open(&test);
    opened.ledger.append(entry(1)).unwrap();
    let (size, note) = test.reader().checkpoint().unwrap().unwrap();
    assert_eq!((size, test.reader().size().unwrap()), (2, 2));
    assert_eq!(std::fs::read_to_string(test.dir.join("checkpoint")).unwrap(), note);
}

#[test]
fn the_next_writer_finds_everything_in_order() {
    let test = TestLedger::new();
    for number in 1..=20 {
        let opened = open(&test);
        assert_eq!(opened.recovered, [""; 0], "{number}");
        assert_eq!(opened.ledger.append(entry(number)).unwrap(), Appended::New { seq: number });
        opened.ledger.close().unwrap();
        assert!(journal(&test) > 0, "a short journal is left to the next writer");
        assert_eq!(test.verify().unwrap().unpublished, 0);
    }
    assert_eq!(test.open().append(entry(7)).unwrap(), Appended::AlreadyThere { seq: 7 });
    assert_eq!(journal(&test), 0, "a longer-lived writer truncates the journal");
    assert_eq!(test.verify().unwrap().size, 21);
}

#[test]
fn the_length_of_the_journal_is_bounded() {
    let test = TestLedger::new();
    let mut longest = 0;
    for number in 1..=200 {
        let opened = open(&test);
        opened.ledger.append(entry(number)).unwrap();
        opened.ledger.close().unwrap();
        longest = longest.max(journal(&test));
    }
    assert!((100_000..1_200_000).contains(&longest), "{longest}");
    assert_eq!(test.verify().unwrap().size, 201);
}

#[test]
fn several_entries_share_a_commit_and_a_signature() {
    let test = TestLedger::new();
    let ledger = open(&test).ledger;
    let seal = |entry: LedgerEntry| -> SealedEntry { entry.seal(ledger.sealing()).unwrap() };
    let entries = vec![seal(entry(1)), seal(entry(2)), seal(entry(1)), seal(entry(3))];
    let new = |seq| Appended::New { seq };
    let appended = ledger.append(entries).unwrap();
    assert_eq!(appended, [new(1), new(2), Appended::AlreadyThere { seq: 1 }, new(3)]);
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().checkpoints, 2, "one of the start, one of all four");
}

#[test]
fn entries_can_be_submitted_even_so() {
    let test = TestLedger::new();
    let ledger = open(&test).ledger;
    crate::common::record(&ledger, 1..=10);
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 11);
}
