// SPDX-License-Identifier: Apache-2.0 OR MIT

//! When an append is told to be done: by whom it is heard, and what it would survive by then.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use tenterhook_ledger::{
    Appended, BusyCallers, DiskUse, Durability, Ledger, Options, Queued, Reader, SignError, Signer,
    VerifierKey,
};
use tenterhook_test_support::wait_until;

use crate::common::{Test, entry, event, key, options};

fn open(test: &Test, durability: Durability) -> Ledger {
    let mut options = options();
    options.durability = durability;
    options.queue = 8;
    Ledger::open(&test.dir, options).unwrap().ledger
}

#[test]
fn whoever_hears_of_a_leaf_finds_it() {
    for durability in [Durability::Durable, Durability::Relaxed] {
        let test = Test::new();
        let ledger = open(&test, durability);
        let (tell, told) = channel();
        for number in 1..=8 {
            let (tell, dir) = (tell.clone(), test.dir.clone());
            let id = event(number).id.to_string();
            let done = move |result: Result<Appended, _>| {
                // Another connection sees only what was committed.
                let found = Reader::open(&dir).unwrap().find(&id).unwrap();
                tell.send((number, result.unwrap().seq(), found)).unwrap();
            };
            ledger.append(Queued::new(entry(number), done)).unwrap();
        }
        // A relaxed ledger says first that it is one.
        let first = u64::from(durability == Durability::Relaxed);
        for (number, seq, found) in told.iter().take(8) {
            assert_eq!(seq, first + number);
            let at_once = durability == Durability::Durable;
            assert!(found == Some(seq) || (found.is_none() && !at_once), "{durability:?}: {found:?}");
        }
        // The place that was told is the place it has.
        ledger.close().unwrap();
        for number in 1..=8 {
            assert_eq!(test.reader().find(&event(number).id.to_string()).unwrap(), Some(first + number));
        }
    }
}

#[test]
fn submitting_does_not_wait_and_what_is_not_taken_comes_back() {
    let test = Test::new();
    let ledger = open(&test, Durability::Durable);
    let (hold, held) = channel::<()>();
    let (busy, is_busy) = channel();
    // Whoever hears of the first leaf keeps the ledger's thread busy.
    let done = move |_: Result<_, _>| {
        busy.send(()).unwrap();
        assert!(held.recv().is_err());
    };
    ledger.append(Queued::new(entry(1), done)).unwrap();
    is_busy.recv().unwrap();
    let seal = |number| Box::new(entry(number).seal(ledger.sealing()).unwrap());
    for number in 2..=9 {
        assert!(ledger.append(Queued::new(seal(number), |_| ())).is_ok());
    }
    let back = ledger.append(Queued::new(seal(10), |_| panic!("it was not taken"))).unwrap_err();
    drop(hold);
    assert_eq!(ledger.append(*back.0).unwrap(), Appended::New { seq: 10 });
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 11);
}

#[test]
fn a_caller_who_finds_the_writer_free_needs_no_thread() {
    let test = Test::new();
    let ledger = open(&test, Durability::Durable);
    let (hold, held) = channel::<()>();
    let (busy, is_busy) = channel();
    let done = move |_: Result<_, _>| {
        busy.send(()).unwrap();
        assert!(held.recv().is_err());
    };
    ledger.append(Queued::new(entry(1), done)).unwrap();
    is_busy.recv().unwrap();
    // The ledger's thread tells somebody and has no time, but the writer is free again.
    assert_eq!(ledger.append(entry(2)).unwrap(), Appended::New { seq: 2 });
    drop(hold);
}

#[test]
fn what_is_due_by_the_clock_comes_after_an_append_of_ones_own_as_well() {
    let test = Test::new();
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
    let test = Test::new();
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
    let test = Test::new();
    let mut options = crate::common::options();
    options.journal_idle = Duration::from_millis(50);
    let ledger = Ledger::open(&test.dir, options).unwrap().ledger;
    ledger.append(entry(1)).unwrap();
    assert!(DiskUse::of(&test.dir).journal > 0);
    let deadline = Instant::now() + Duration::from_secs(20);
    while DiskUse::of(&test.dir).journal > 0 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(5));
    }
    let copy = Test::new();
    std::fs::create_dir(&copy.dir).unwrap();
    std::fs::copy(test.dir.join("ledger.db"), copy.dir.join("ledger.db")).unwrap();
    assert_eq!(copy.verify().unwrap().size, 2, "the ledger is still open");
    drop(ledger);
}

#[test]
fn an_idle_ledger_empties_a_long_journal_and_waits_for_no_reader() {
    let test = Test::new();
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
        while DiskUse::of(&test.dir).journal > 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        DiskUse::of(&test.dir).journal == 0
    };
    append(1..=30);
    assert!(DiskUse::of(&test.dir).journal > 2 << 20, "3 MB were recorded");
    assert!(emptied(Duration::from_secs(20)), "{:?}", DiskUse::of(&test.dir));
    assert!(DiskUse::of(&test.dir).total > 2 << 20, "they are in the database");

    // A reader keeps the journal from being emptied. Appends do not wait for it.
    let reading = rusqlite::Connection::open(test.dir.join("ledger.db")).unwrap();
    append(31..=60);
    reading.execute_batch("BEGIN; SELECT count(*) FROM leaves").unwrap();
    assert!(!emptied(Duration::from_secs(2)));
    // Would wait for as long as the reader reads.
    append(61..=61);
    drop(reading);
    assert!(emptied(Duration::from_secs(20)), "{:?}", DiskUse::of(&test.dir));
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 62);
}

/// Signs, and counts: every commit is signed.
struct Counting(Arc<dyn Signer>, AtomicUsize);

impl Signer for Counting {
    fn key(&self) -> &VerifierKey {
        self.0.key()
    }

    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.sign(message)
    }
}

/// A ledger that several entries came to at once, and what counts its commits.
struct Crowd {
    ledger: Ledger,
    signer: Arc<Counting>,
    tell: Sender<Appended>,
    told: Receiver<Appended>,
}

impl Crowd {
    fn new(test: &Test, mut options: Options) -> Self {
        let signer = Arc::new(Counting(key(1), AtomicUsize::new(0)));
        options.key = Some(Arc::clone(&signer) as Arc<dyn Signer>);
        let ledger = Ledger::open(&test.dir, options).unwrap().ledger;
        let (tell, told) = channel();
        let crowd = Self { ledger, signer, tell, told };
        // The first is committed at once, and the ledger's thread kept, so that two come together.
        let ((busy, is_busy), (hold, held)) = (channel(), channel::<()>());
        let done = move |_: Result<_, _>| {
            busy.send(()).unwrap();
            assert!(held.recv().is_err());
        };
        crowd.ledger.append(Queued::new(entry(1), done)).unwrap();
        is_busy.recv().unwrap();
        crowd.submit(2);
        crowd.submit(3);
        drop(hold);
        crowd
    }

    fn submit(&self, number: u64) {
        let tell = self.tell.clone();
        let done = move |result: Result<_, _>| tell.send(result.unwrap()).unwrap();
        self.ledger.append(Queued::new(entry(number), done)).unwrap();
    }

    fn wait_for(&self, count: usize) {
        assert_eq!(self.told.iter().take(count).count(), count);
    }

    fn commits(&self) -> usize {
        self.signer.1.load(Ordering::Relaxed)
    }
}

#[test]
fn where_several_came_at_once_the_next_wait_for_each_other_a_moment() {
    let test = Test::new();
    let mut patient = options();
    // A fifth of it is how long each waits for the next.
    patient.batch.gather = Duration::from_secs(2);
    let crowd = Crowd::new(&test, patient);
    crowd.wait_for(2);
    let before = crowd.commits();
    crowd.submit(4);
    std::thread::sleep(Duration::from_millis(40));
    crowd.submit(5);
    crowd.wait_for(2);
    assert_eq!(crowd.commits(), before + 1, "they share a commit");
    crowd.ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 6);
}

#[test]
fn entries_wait_for_each_other_while_a_caller_works_and_not_a_moment_longer() {
    let test = Test::new();
    let callers = Arc::new(BusyCallers::new(2));
    let mut patient = options();
    // Only callers that run out of work end the wait.
    patient.batch.gather = Duration::from_hours(1);
    patient.callers = Some(Arc::clone(&callers));
    let crowd = Crowd::new(&test, patient);
    crowd.wait_for(2);
    let before = crowd.commits();
    for number in 4..14 {
        crowd.submit(number);
    }
    callers.end_work();
    assert!(crowd.told.recv_timeout(Duration::from_millis(50)).is_err(), "one caller still works");
    callers.end_work();
    crowd.wait_for(10);
    assert_eq!(crowd.commits(), before + 1, "ten entries share a commit");
    crowd.submit(14);
    crowd.wait_for(1);
    callers.begin_work();
    for number in 15..15 + 24 {
        crowd.submit(number);
    }
    crowd.wait_for(24);
    assert!(crowd.commits() <= before + 4, "so many are enough for a commit");
    crowd.ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 39);
}
