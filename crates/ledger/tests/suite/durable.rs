// SPDX-License-Identifier: Apache-2.0 OR MIT

//! When an append is acknowledged: which thread commits it, and which failures it survives from then on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use tenterhook_ledger::{
    Appended, BusyCallers, DiskUse, Durability, Ledger, LedgerOptions, QueuedEntry, Reader, SignError,
    Signer, VerifierKey,
};
use tenterhook_test_support::wait_until;

use crate::common::{TestLedger, entry, event, key, options};

fn open(test: &TestLedger, durability: Durability) -> Ledger {
    let mut options = options();
    options.durability = durability;
    options.queue = 8;
    Ledger::open(&test.dir, options).unwrap().ledger
}

#[test]
fn an_acknowledged_leaf_can_be_found() {
    for durability in [Durability::Durable, Durability::Relaxed] {
        let test = TestLedger::new();
        let ledger = open(&test, durability);
        let (sender, results) = channel();
        for number in 1..=8 {
            let (sender, dir) = (sender.clone(), test.dir.clone());
            let id = event(number).id.to_string();
            let done = move |result: Result<Appended, _>| {
                // Another connection sees only what was committed.
                let found = Reader::open(&dir).unwrap().find(&id).unwrap();
                sender.send((number, result.unwrap().seq(), found)).unwrap();
            };
            ledger.append(QueuedEntry::new(entry(number), done)).unwrap();
        }
        // A relaxed ledger records its settings first.
        let first = u64::from(durability == Durability::Relaxed);
        for (number, seq, found) in results.iter().take(8) {
            assert_eq!(seq, first + number);
            let at_once = durability == Durability::Durable;
            assert!(found == Some(seq) || (found.is_none() && !at_once), "{durability:?}: {found:?}");
        }
        // Each leaf has the number that was acknowledged.
        ledger.close().unwrap();
        for number in 1..=8 {
            assert_eq!(test.reader().find(&event(number).id.to_string()).unwrap(), Some(first + number));
        }
    }
}

#[test]
fn queueing_does_not_wait_and_an_entry_that_does_not_fit_is_returned() {
    let test = TestLedger::new();
    let ledger = open(&test, Durability::Durable);
    let (hold, held) = channel::<()>();
    let (busy, is_busy) = channel();
    // The callback of the first leaf keeps the ledger's thread busy.
    let done = move |_: Result<_, _>| {
        busy.send(()).unwrap();
        assert!(held.recv().is_err());
    };
    ledger.append(QueuedEntry::new(entry(1), done)).unwrap();
    is_busy.recv().unwrap();
    let seal = |number| Box::new(entry(number).seal(ledger.sealing()).unwrap());
    for number in 2..=9 {
        assert!(ledger.append(QueuedEntry::new(seal(number), |_| ())).is_ok());
    }
    let back = ledger.append(QueuedEntry::new(seal(10), |_| panic!("it was not queued"))).unwrap_err();
    drop(hold);
    assert_eq!(ledger.append(*back.0).unwrap(), Appended::New { seq: 10 });
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 11);
}

#[test]
fn a_caller_who_finds_the_writer_free_needs_no_thread() {
    let test = TestLedger::new();
    let ledger = open(&test, Durability::Durable);
    let (hold, held) = channel::<()>();
    let (busy, is_busy) = channel();
    let done = move |_: Result<_, _>| {
        busy.send(()).unwrap();
        assert!(held.recv().is_err());
    };
    ledger.append(QueuedEntry::new(entry(1), done)).unwrap();
    is_busy.recv().unwrap();
    // The ledger's thread runs a callback, but the writer is free again.
    assert_eq!(ledger.append(entry(2)).unwrap(), Appended::New { seq: 2 });
    drop(hold);
}

#[test]
fn a_checkpoint_that_is_due_is_signed_also_after_an_inline_append() {
    let test = TestLedger::new();
    let mut soon = options();
    soon.checkpoint_every.age = Duration::from_millis(20);
    let ledger = Ledger::open(&test.dir, soon).unwrap().ledger;
    for number in 1..=3 {
        assert_eq!(ledger.append(entry(number)).unwrap(), Appended::New { seq: number });
        let reader = test.reader();
        wait_until("a checkpoint is signed", || {
            (reader.checkpoint().unwrap().unwrap().0 == number + 1).then_some(())
        });
    }
}

#[test]
fn the_journal_is_moved_into_the_database_while_leaves_are_recorded() {
    let test = TestLedger::new();
    let ledger = open(&test, Durability::Relaxed);
    let length = |name: &str| std::fs::metadata(test.dir.join(name)).map_or(0, |file| file.len());
    let before = length("ledger.db");
    let mut large = event(1);
    large.tool.as_mut().unwrap().args = serde_json::json!({"command": "x".repeat(100_000)});
    let mut longest = 0;
    for number in 1..=400 {
        large.id = event(number).id;
        ledger.append(crate::common::decided(large.clone(), &crate::common::outcome(1))).unwrap();
        longest = longest.max(length("ledger.db-wal"));
    }
    assert!(length("ledger.db") > before + (20 << 20), "40 MB were recorded");
    assert!(longest < 72 << 20, "the journal had {longest} bytes");
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 402);
}

#[test]
fn the_database_file_of_an_idle_ledger_is_whole() {
    let test = TestLedger::new();
    let mut options = crate::common::options();
    options.journal_idle = Duration::from_millis(50);
    let ledger = Ledger::open(&test.dir, options).unwrap().ledger;
    ledger.append(entry(1)).unwrap();
    assert!(DiskUse::measure(&test.dir).journal > 0);
    let deadline = Instant::now() + Duration::from_secs(20);
    while DiskUse::measure(&test.dir).journal > 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    let copy = TestLedger::new();
    std::fs::create_dir(&copy.dir).unwrap();
    std::fs::copy(test.dir.join("ledger.db"), copy.dir.join("ledger.db")).unwrap();
    assert_eq!(copy.verify().unwrap().size, 2, "the ledger is still open");
    drop(ledger);
}

#[test]
fn an_idle_ledger_empties_a_long_journal_and_waits_for_no_reader() {
    let test = TestLedger::new();
    let mut options = crate::common::options();
    options.journal_idle = Duration::from_millis(50);
    let ledger = Ledger::open(&test.dir, options).unwrap().ledger;
    let mut large = event(1);
    large.tool.as_mut().unwrap().args = serde_json::json!({"command": "x".repeat(100_000)});
    let mut append = |numbers: std::ops::RangeInclusive<u64>| {
        for number in numbers {
            large.id = event(number).id;
            ledger.append(crate::common::decided(large.clone(), &crate::common::outcome(1))).unwrap();
        }
    };
    let emptied = |within: Duration| {
        let deadline = Instant::now() + within;
        while DiskUse::measure(&test.dir).journal > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        DiskUse::measure(&test.dir).journal == 0
    };
    append(1..=30);
    assert!(DiskUse::measure(&test.dir).journal > 2 << 20, "3 MB were recorded");
    assert!(emptied(Duration::from_secs(20)), "{:?}", DiskUse::measure(&test.dir));
    assert!(DiskUse::measure(&test.dir).total > 2 << 20, "they are in the database");

    // A reader keeps the journal from being emptied. Appends do not wait for it.
    let reading = rusqlite::Connection::open(test.dir.join("ledger.db")).unwrap();
    append(31..=60);
    reading.execute_batch("BEGIN; SELECT count(*) FROM leaves").unwrap();
    assert!(!emptied(Duration::from_secs(2)));
    // If appends waited for the reader, this append would block until the reader ends.
    append(61..=61);
    drop(reading);
    assert!(emptied(Duration::from_secs(20)), "{:?}", DiskUse::measure(&test.dir));
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 62);
}

/// Counts signatures: every commit has one.
struct CountingSigner(Arc<dyn Signer>, AtomicUsize);

impl Signer for CountingSigner {
    fn key(&self) -> &VerifierKey {
        self.0.key()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.sign(message)
    }
}

/// A ledger whose last commit was shared, with a counter of its commits.
struct SharedLedger {
    ledger: Ledger,
    signer: Arc<CountingSigner>,
    sender: Sender<Appended>,
    results: Receiver<Appended>,
}

impl SharedLedger {
    fn new(test: &TestLedger, mut options: LedgerOptions) -> Self {
        let signer = Arc::new(CountingSigner(key(1), AtomicUsize::new(0)));
        options.key = Some(Arc::clone(&signer) as Arc<dyn Signer>);
        let ledger = Ledger::open(&test.dir, options).unwrap().ledger;
        let (sender, results) = channel();
        let shared = Self { ledger, signer, sender, results };
        // The first entry is committed alone. Its callback blocks the thread, so that the next two share a commit.
        let ((busy, is_busy), (hold, held)) = (channel(), channel::<()>());
        let done = move |_: Result<_, _>| {
            busy.send(()).unwrap();
            assert!(held.recv().is_err());
        };
        shared.ledger.append(QueuedEntry::new(entry(1), done)).unwrap();
        is_busy.recv().unwrap();
        shared.submit(2);
        shared.submit(3);
        drop(hold);
        shared
    }

    fn submit(&self, number: u64) {
        let sender = self.sender.clone();
        let done = move |result: Result<_, _>| sender.send(result.unwrap()).unwrap();
        self.ledger.append(QueuedEntry::new(entry(number), done)).unwrap();
    }

    fn wait_for(&self, count: usize) {
        assert_eq!(self.results.iter().take(count).count(), count);
    }

    fn commits(&self) -> usize {
        self.signer.1.load(Ordering::Relaxed)
    }
}

#[test]
fn after_a_shared_commit_entries_wait_briefly_for_each_other() {
    let test = TestLedger::new();
    let mut options_with_wait = options();
    // Each entry waits a fifth of this time for the next one.
    options_with_wait.batch.gather = Duration::from_secs(2);
    let shared = SharedLedger::new(&test, options_with_wait);
    shared.wait_for(2);
    let before = shared.commits();
    shared.submit(4);
    std::thread::sleep(Duration::from_millis(40));
    shared.submit(5);
    shared.wait_for(2);
    assert_eq!(shared.commits(), before + 1, "they share a commit");
    shared.ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 6);
}

#[test]
fn entries_wait_for_each_other_while_a_caller_works_and_not_a_moment_longer() {
    let test = TestLedger::new();
    let callers = Arc::new(BusyCallers::new(2));
    let mut options_with_wait = options();
    // The gather time is too long to end during the test. The wait ends only because callers run out of work.
    options_with_wait.batch.gather = Duration::from_hours(1);
    options_with_wait.callers = Some(Arc::clone(&callers));
    let shared = SharedLedger::new(&test, options_with_wait);
    shared.wait_for(2);
    let before = shared.commits();
    for number in 4..14 {
        shared.submit(number);
    }
    callers.end_work();
    assert!(shared.results.recv_timeout(Duration::from_millis(50)).is_err(), "one caller still works");
    callers.end_work();
    shared.wait_for(10);
    assert_eq!(shared.commits(), before + 1, "ten entries share a commit");
    shared.submit(14);
    shared.wait_for(1);
    callers.begin_work();
    for number in 15..15 + 24 {
        shared.submit(number);
    }
    // If the writer took the first few entries before the others were there, the others are too few, and wait until the
    // caller runs out of work.
    callers.end_work();
    shared.wait_for(24);
    assert!(shared.commits() <= before + 4, "24 entries share few commits");
    shared.ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 39);
}
