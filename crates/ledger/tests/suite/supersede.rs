// SPDX-License-Identifier: Apache-2.0 OR MIT

//! An event that was decided twice: what was delivered counts.

use tenterhook_event::Outcome;
use tenterhook_ledger::{Appended, Filter, Sealed};

use crate::common::{Test, decided, entry, event, outcome};

/// The ledger has a deny; whoever asked had given up and let it pass.
fn decided_twice(test: &Test) -> (u64, u64) {
    let ledger = test.open();
    let undelivered = ledger.append(entry(4)).unwrap().seq();
    let line = decided(event(4), &Outcome::default()).seal(ledger.sealing()).unwrap().to_spool().unwrap();
    let spooled = || Sealed::from_spool(&line).unwrap();
    assert_eq!(ledger.append(spooled()), Ok(Appended::AlreadyThere { seq: undelivered }));
    let seq = ledger.append(spooled().superseding().unwrap()).unwrap().seq();
    let again = ledger.append(spooled().superseding().unwrap()).unwrap();
    assert_eq!(again, Appended::AlreadyThere { seq }, "the same file, taken in once more after a crash");
    assert!(spooled().superseding().unwrap().superseding().is_none());
    ledger.close().unwrap();
    (undelivered, seq)
}

#[test]
fn the_delivered_decision_is_a_leaf_of_its_own_that_names_the_other() {
    let test = Test::new();
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
fn what_nobody_heard_is_not_counted() {
    let test = Test::new();
    decided_twice(&test);
    let stats = test.reader().stats(&Filter::default()).unwrap();
    assert_eq!((stats.leaves, stats.undelivered), (3, 1));
    assert_eq!(stats.verdicts, [("none".to_owned(), 1)]);
    assert_eq!(outcome(4).decision.as_str(), "deny");
}

#[test]
fn a_decision_cannot_be_hidden_by_filing_it_as_undelivered() {
    let test = Test::filled();
    test.database().execute_batch("INSERT INTO undelivered (seq, by) VALUES (17, 18)").unwrap();
    let id = event(17).id;
    assert_eq!(
        test.complaint(),
        format!("leaf 18: it is filed under what it supersedes `{id}`, but says `nothing`")
    );
    let test = Test::new();
    let (_, seq) = decided_twice(&test);
    test.database().execute_batch("DELETE FROM undelivered").unwrap();
    let id = event(4).id;
    let complaint = format!("leaf {seq}: it is filed under what it supersedes `nothing`, but says `{id}`");
    assert_eq!(test.complaint(), complaint);
}
