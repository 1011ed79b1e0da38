// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An event that was decided twice: only the delivered decision is counted.

use tenterhook_event::Outcome;
use tenterhook_ledger::{Appended, Filter, SealedEntry};

use crate::common::{TestLedger, decided, entry, event, outcome};

/// The ledger has a deny, but the hook timed out and allowed the call.
fn decided_twice(test: &TestLedger) -> (u64, u64) {
    let ledger = test.open();
    let undelivered = ledger.append(entry(4)).unwrap().seq();
    let line = decided(event(4), &Outcome::default()).seal(ledger.sealing()).unwrap().to_spool().unwrap();
    let spooled = || SealedEntry::from_spool(&line).unwrap();
    assert_eq!(ledger.append(spooled()), Ok(Appended::AlreadyThere { seq: undelivered }));
    let seq = ledger.append(spooled().into_superseding().unwrap()).unwrap().seq();
    let again = ledger.append(spooled().into_superseding().unwrap()).unwrap();
    assert_eq!(again, Appended::AlreadyThere { seq }, "the same file is imported again after a crash");
    assert!(spooled().into_superseding().unwrap().into_superseding().is_none());
    ledger.close().unwrap();
    (undelivered, seq)
}

#[test]
fn the_delivered_decision_is_a_leaf_of_its_own_that_names_the_other() {
    let test = TestLedger::new();
    let (undelivered, seq) = decided_twice(&test);
    let reader = test.reader();
    let [old, new] = [undelivered, seq].map(|seq| reader.get(seq).unwrap().unwrap());
    assert_eq!((old.undelivered, new.undelivered), (true, false));
    let leaf: serde_json::Value = serde_json::from_slice(&new.bytes.unwrap()).unwrap();
    let id = event(4).id.to_string();
    assert_eq!(leaf["detail"]["supersedes"], id);
    assert_eq!(leaf["links"], serde_json::json!([id]));
    assert_eq!((&leaf["origin"], &leaf["verdict"]), (&"spool".into(), &"none".into()));
    assert_ne!(leaf["id"], id);
    test.verify().unwrap();
}

#[test]
fn undelivered_decisions_are_not_counted() {
    let test = TestLedger::new();
    decided_twice(&test);
    let stats = test.reader().stats(&Filter::default()).unwrap();
    assert_eq!((stats.leaves, stats.undelivered), (3, 1));
    assert_eq!(stats.verdicts, [("none".to_owned(), 1)]);
    assert_eq!(outcome(4).decision.as_str(), "deny");
}

#[test]
fn a_decision_cannot_be_hidden_by_marking_it_as_undelivered() {
    let test = TestLedger::filled();
    test.database().execute_batch("INSERT INTO undelivered (seq, by) VALUES (17, 18)").unwrap();
    let id = event(17).id;
    assert_eq!(
        test.complaint(),
        format!("record 18: indexed under superseded event `{id}`, but its envelope has `nothing`")
    );
    let test = TestLedger::new();
    let (_, seq) = decided_twice(&test);
    test.database().execute_batch("DELETE FROM undelivered").unwrap();
    let id = event(4).id;
    let complaint =
        format!("record {seq}: indexed under superseded event `nothing`, but its envelope has `{id}`");
    assert_eq!(test.complaint(), complaint);
}
