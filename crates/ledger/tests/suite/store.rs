// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Appending, reopening, and the guarantees of the store.

use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::json;
use tenterhook_event::{EventId, Timestamp};
use tenterhook_ledger::checkpoint::Checkpoint;
use tenterhook_ledger::{
    AppendError, Appended, Durability, Envelope, LeafKind, LeafOrigin, Ledger, LedgerEntry, PayloadStorage,
    QueuedEntry, SealedEntry,
};
use tenterhook_test_support::wait_until;

use crate::common::{NOW, TestLedger, decided, entry, event, key, options, outcome, record};

#[test]
fn a_leaf_comes_back_as_it_was_recorded() {
    let test = TestLedger::new();
    let ledger = test.open();
    assert_eq!(ledger.append(entry(4)).unwrap(), Appended::New { seq: 1 });
    let stored = test.reader().get(1).unwrap().unwrap();
    let leaf = stored.envelope().unwrap().unwrap();
    assert_eq!((leaf.v, leaf.seq, leaf.kind, leaf.origin), (1, 1, LeafKind::Decision, LeafOrigin::Hook));
    assert_eq!((leaf.id.as_ref(), leaf.ts.as_ref()), (&*event(4).id.to_string(), "2026-11-15T08:00:00.004Z"));
    assert_eq!(leaf.verdict.as_deref(), Some("deny"));
    assert_eq!(leaf.reason.as_deref(), Some("nothing that four divides"));
    assert_eq!((leaf.policy_rule_id.as_deref(), leaf.nudge.as_deref()), (Some("no-four"), Some("try five")));
    let payload = stored.payload.clone().unwrap();
    assert_eq!(payload.bytes.unwrap(), br#"{"args":{"command":"echo 4"}}"#);
    assert_eq!(leaf.payload.unwrap().stored, PayloadStorage::Whole);
}

#[test]
fn the_same_event_is_recorded_once() {
    let test = TestLedger::new();
    let ledger = test.open();
    assert_eq!(ledger.append(entry(1)).unwrap(), Appended::New { seq: 1 });
    assert_eq!(ledger.append(entry(2)).unwrap(), Appended::New { seq: 2 });
    assert_eq!(ledger.append(entry(1)).unwrap(), Appended::AlreadyThere { seq: 1 });
    let (sender, results) = channel();
    for number in [3, 3, 4, 3] {
        let sender = sender.clone();
        ledger
            .append(QueuedEntry::new(entry(number), move |result| {
                sender.send(result.unwrap().seq()).unwrap();
            }))
            .unwrap();
    }
    assert_eq!(results.iter().take(4).collect::<Vec<_>>(), [3, 3, 4, 3]);
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 5);
}

#[test]
fn many_threads_get_a_leaf_each() {
    let test = TestLedger::new();
    let ledger = test.open();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let ledger = ledger.clone();
            scope.spawn(move || {
                (0..25).for_each(|number| assert!(ledger.append(entry(1 + thread * 25 + number)).is_ok()));
            });
        }
    });
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 201);
}

#[test]
fn a_queue_that_is_full_pushes_back() {
    let test = TestLedger::new();
    let mut options = options();
    options.queue = 2;
    let ledger = Ledger::open(&test.dir, options).unwrap().ledger;
    let (hold, held) = channel::<()>();
    // The callback of the first leaf keeps the ledger's thread busy.
    ledger.append(QueuedEntry::new(entry(1), move |_| assert!(held.recv().is_err()))).unwrap();
    std::thread::sleep(Duration::from_millis(100));
    let taken: Vec<_> =
        (2..=6).map(|number| ledger.append(QueuedEntry::new(entry(number), |_| ())).is_ok()).collect();
    assert_eq!(taken, [true, true, false, false, false]);
    drop(hold);
    assert!(ledger.append(entry(7)).is_ok());
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 5);
}

#[test]
fn appending_to_a_closed_ledger_is_an_error() {
    let test = TestLedger::new();
    let ledger = test.open();
    let other = ledger.clone();
    ledger.close().unwrap();
    assert_eq!(other.append(entry(1)), Err(AppendError::Closed));
    let (sender, results) = channel();
    other.append(QueuedEntry::new(entry(1), move |result| sender.send(result).unwrap())).unwrap();
    assert_eq!(results.recv().unwrap(), Err(AppendError::Closed));
}

#[test]
fn closing_signs_everything_and_reopening_needs_no_recovery() {
    let test = TestLedger::filled();
    let opened = Ledger::open(&test.dir, options()).unwrap();
    assert_eq!(opened.recovered, [""; 0]);
    record(&opened.ledger, 41..=50);
    opened.ledger.close().unwrap();
    let verified = test.verify().unwrap();
    assert_eq!((verified.size, verified.unpublished, verified.on_first_use), (51, 0, false));
    let file = std::fs::read_to_string(test.dir.join("checkpoint")).unwrap();
    assert_eq!(test.reader().checkpoint().unwrap().unwrap(), (51, file));
}

#[test]
fn every_commit_is_signed_long_before_a_checkpoint_goes_out() {
    let test = TestLedger::new();
    let ledger = test.open();
    for number in 1..=5 {
        ledger.append(entry(number)).unwrap();
        let verified = test.verify().unwrap();
        assert_eq!((verified.size, verified.unpublished, verified.checkpoints), (number + 1, number, 1));
        let (head, note) = Checkpoint::parse(&test.reader().head().unwrap().unwrap()).unwrap();
        assert_eq!((head.size, head.root), (number + 1, verified.root));
        assert_eq!(note.check(&[key(1).key()]).unwrap(), key(1).key());
    }
    ledger.append(entry(3)).unwrap();
    assert_eq!(test.verify().unwrap().size, 6, "a known event changes nothing");
}

#[test]
fn a_checkpoint_is_signed_after_a_number_of_leaves_and_after_a_time() {
    let test = TestLedger::new();
    let mut many = options();
    many.checkpoint_every.leaves = 10;
    let ledger = Ledger::open(&test.dir, many).unwrap().ledger;
    record(&ledger, 1..=25);
    ledger.close().unwrap();
    let mut soon = options();
    soon.checkpoint_every.age = Duration::from_millis(20);
    let ledger = Ledger::open(&test.dir, soon).unwrap().ledger;
    record(&ledger, 26..=26);
    let reader = test.reader();
    let signed = || reader.checkpoint().unwrap().unwrap().0;
    wait_until("a checkpoint is signed", || (signed() == 27).then_some(()));
    drop(ledger);
}

#[test]
fn relaxed_leaves_are_there_for_readers_a_moment_later_and_verify() {
    let test = TestLedger::new();
    let mut relaxed = options();
    relaxed.durability = Durability::Relaxed;
    let ledger = Ledger::open(&test.dir, relaxed).unwrap().ledger;
    record(&ledger, 1..=100);
    // The records are the start, the settings and 100 decisions.
    wait_until("all records are integrated", || (test.reader().size().unwrap() == 102).then_some(()));
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().unpublished, 0);
}

#[test]
fn an_outdated_checkpoint_file_is_replaced_and_reported() {
    let test = TestLedger::filled();
    std::fs::remove_file(test.dir.join("checkpoint")).unwrap();
    let opened = Ledger::open(&test.dir, options()).unwrap();
    assert_eq!(opened.recovered, ["wrote the checkpoint of 41 records to the outdated file `checkpoint`"]);
}

#[test]
fn a_payload_that_is_too_large_is_recorded_by_its_hash_and_never_cut() {
    let test = TestLedger::new();
    let mut small = options();
    small.max_payload = 1000;
    let ledger = Ledger::open(&test.dir, small).unwrap().ledger;
    let mut large = event(1);
    large.tool.as_mut().unwrap().args = json!({"command": "x".repeat(1_200_000)});
    ledger.append(decided(large, &outcome(1))).unwrap();
    record(&ledger, 2..=3);
    ledger.close().unwrap();
    let stored = test.reader().get(2).unwrap().unwrap();
    let mark = stored.envelope().unwrap().unwrap().payload.unwrap();
    assert_eq!((mark.stored, mark.bytes), (PayloadStorage::Hash, 1_200_023));
    assert_eq!(stored.payload.unwrap().bytes, None);
    assert_eq!(test.verify().unwrap().size, 5);
}

#[test]
fn an_envelope_is_limited_in_size_and_marks_what_was_cut() {
    let test = TestLedger::new();
    let ledger = test.open();
    let mut wild = event(4);
    let long = "\u{1}\"é".repeat(100_000);
    wild.cwd = Some(long.clone());
    wild.project = Some(long.clone());
    wild.harness_session_id = Some(long.clone());
    wild.source = long.clone();
    wild.agent.model = Some(long.clone());
    let mut outcome = outcome(4);
    outcome.reasons[0].value = long.clone();
    outcome.nudges[0].value = long.clone();
    let step = tenterhook_event::TraceEntry {
        by: tenterhook_event::Origin::rule("r"),
        status: tenterhook_event::TraceStatus::Matched,
        decision: tenterhook_event::Decision::Deny,
        took_us: 1,
        note: Some(long.clone()),
    };
    outcome.trace = vec![step; 1000];
    let facts = json!({"links": {"a": long, "ratio": 0.5}});
    ledger.append(decided(wild, &outcome).with_facts(facts, &|_| Vec::new())).unwrap();
    ledger.close().unwrap();
    let bytes = test.reader().get(1).unwrap().unwrap().bytes.unwrap();
    assert!(bytes.len() <= tenterhook_ledger::MAX_ENVELOPE_BYTES, "{}", bytes.len());
    let leaf = Envelope::parse(&bytes).unwrap();
    assert!(leaf.reason.unwrap().contains("[[cut:"));
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.contains(r#"{"cut":98"#) && text.contains(r#""facts":{"cut":"#), "{text}");
    assert_eq!(test.verify().unwrap().size, 2);
}

#[test]
fn a_change_is_a_leaf_and_a_fraction_becomes_a_text() {
    let test = TestLedger::new();
    let ledger = test.open();
    let change = LedgerEntry::change(
        EventId::from_parts(NOW, 7),
        Timestamp::from_unix_ms(NOW),
        "mode",
        "dev",
        json!({"to": "monitor", "share": 0.5}),
        &crate::common::find_secrets,
    );
    ledger.append(change.with_origin(LeafOrigin::Cli)).unwrap();
    let bytes = test.reader().get(1).unwrap().unwrap().bytes.unwrap();
    let text = String::from_utf8(bytes).unwrap();
    assert!(
        text.contains(r#""kind":"change""#)
            && text.contains(r#""what":"mode","who":"dev","detail":{"share":"0.5","to":"monitor"}"#),
        "{text}"
    );
}

#[test]
fn a_spooled_entry_keeps_its_time_and_has_the_origin_spool() {
    let test = TestLedger::new();
    let ledger = test.open();
    let line = entry(4).seal(ledger.sealing()).unwrap().to_spool().unwrap();
    let entry = SealedEntry::from_spool(&line).unwrap();
    ledger.append(entry.clone()).unwrap();
    assert_eq!(ledger.append(entry).unwrap(), Appended::AlreadyThere { seq: 1 });
    ledger.close().unwrap();
    let stored = test.reader().get(1).unwrap().unwrap();
    let leaf = stored.envelope().unwrap().unwrap();
    assert_eq!((leaf.origin, leaf.ts.as_ref()), (LeafOrigin::Spool, "2026-11-15T08:00:00.004Z"));
    assert_eq!(leaf.verdict.as_deref(), Some("deny"));
    test.verify().unwrap();
    for (from, to) in [
        ("echo 4", "echo 5"),
        ("\"spool\":1", "\"spool\":2"),
        ("\\\"verdict\\\"", "\\\"seq\\\":9,\\\"verdict\\\""),
        ("decision\",\"id", "rotate\",\"id"),
    ] {
        assert!(line.contains(from), "{from} in {line}");
        assert!(SealedEntry::from_spool(&line.replacen(from, to, 1)).is_err(), "{from}");
    }
}
