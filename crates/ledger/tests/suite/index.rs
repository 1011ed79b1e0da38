// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The block index, with 256 leaves per block: queries use it, and edits of it are detected.

use tenterhook_ledger::{Appended, Filter, LeafKind};

use crate::common::{NOW, TestLedger, entry, event, record};

/// A closed ledger of 601 leaves: two full blocks, and 89 leaves that are not indexed yet.
fn filled() -> TestLedger {
    let test = TestLedger::new();
    let ledger = test.open();
    record(&ledger, 1..=600);
    ledger.close().unwrap();
    test
}

fn seqs(test: &TestLedger, filter: &Filter, limit: u64) -> Vec<u64> {
    test.reader().query(filter, limit).unwrap().records.iter().map(|record| record.seq).collect()
}

fn expected(fits: impl Fn(u64) -> bool) -> Vec<u64> {
    (1..=600).rev().filter(|number| fits(*number)).collect()
}

#[test]
fn indexed_and_other_leaves_are_found_alike() {
    let test = filled();
    let some = |text: &str| Some(text.to_owned());
    let all = Filter::default();
    let session = Filter { session: some("session-1"), ..all.clone() };
    assert_eq!(seqs(&test, &session, 1000), expected(|number| number % 3 == 1));
    let denied = Filter { verdict: some("deny"), session: some("session-0"), ..all.clone() };
    assert_eq!(seqs(&test, &denied, 1000), expected(|number| number % 12 == 0));
    let when = Filter { from_ms: Some(NOW + 250), until_ms: Some(NOW + 260), ..all.clone() };
    assert_eq!(seqs(&test, &when, 1000), expected(|number| (250..260).contains(&number)));
    assert_eq!(seqs(&test, &Filter { kind: Some(LeafKind::Start), ..all.clone() }, 10), [0]);
    assert_eq!(seqs(&test, &Filter { rule: some("no-five"), ..all.clone() }, 10), [0u64; 0]);
    assert_eq!(test.reader().stats(&session).unwrap().leaves, 200);
    assert_eq!(test.reader().stats(&when).unwrap().leaves, 10);
    assert_eq!(test.reader().stats(&all).unwrap().leaves, 601);
    for number in [1, 255, 256, 511, 512, 600] {
        assert_eq!(test.reader().find(&event(number).id.to_string()).unwrap(), Some(number));
    }
    assert_eq!(test.reader().find(&event(601).id.to_string()).unwrap(), None);
}

#[test]
fn pages_go_from_block_to_block_without_a_gap() {
    let test = filled();
    let (mut filter, mut found) =
        (Filter { session: Some("session-2".into()), ..Filter::default() }, Vec::new());
    loop {
        let page = test.reader().query(&filter, 37).unwrap();
        found.extend(page.records.iter().map(|record| record.seq));
        match page.next {
            Some(next) => filter.before = Some(next),
            None => break,
        }
    }
    assert_eq!(found, expected(|number| number % 3 == 2));
}

#[test]
fn nothing_is_recorded_twice_wherever_it_is() {
    let test = filled();
    let ledger = test.open();
    for number in [1, 255, 256, 511, 512, 600] {
        assert_eq!(ledger.append(entry(number)).unwrap(), Appended::AlreadyThere { seq: number });
    }
    // A new event whose id sorts between ids that are already indexed.
    let mut late = event(300);
    late.id = tenterhook_event::EventId::from_parts(NOW + 300, 1);
    let late = crate::common::decided(late, &crate::common::outcome(300));
    assert_eq!(ledger.append(late.clone()).unwrap(), Appended::New { seq: 601 });
    record(&ledger, 700..=1000);
    assert_eq!(ledger.append(late).unwrap(), Appended::AlreadyThere { seq: 601 });
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 903);
}

#[test]
fn the_index_is_verified() {
    let complaint = |sql: &str| {
        let test = filled();
        test.verify().unwrap();
        assert!(test.database().execute(sql, []).unwrap() > 0, "{sql}");
        test.complaint()
    };
    let gone = "records 256 to 511: index entry for session `session-1` is missing or incomplete";
    assert_eq!(complaint("DELETE FROM filed WHERE value = 'session-1' AND block = 1"), gone);
    assert_eq!(complaint("UPDATE filed SET block = 9 WHERE value = 'session-1' AND block = 1"), gone);
    assert_eq!(
        complaint("UPDATE blocks SET last_ts = 0 WHERE block = 0"),
        "records 0 to 255: index entry for time is missing or incomplete"
    );
    let id = "record 300: index entry for id is missing or incomplete";
    assert_eq!(complaint("DELETE FROM ids WHERE seq = 300"), id);
    assert_eq!(complaint("UPDATE ids SET seq = 301 WHERE seq = 300"), id);
    let more = "the index has an entry without a record";
    assert_eq!(complaint("INSERT INTO ids VALUES ('x', 7)"), more);
    assert_eq!(complaint("INSERT INTO filed VALUES ('session', 'x', 1)"), more);
    assert_eq!(complaint("INSERT INTO blocks VALUES (2, 0, 1)"), more);
}

#[test]
fn pruned_leaves_are_removed_from_the_index() {
    let test = filled();
    let ledger = test.open();
    ledger.prune(300, "dev", "older than a year", &crate::common::find_secrets).unwrap();
    ledger.append(entry(601)).unwrap();
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().pruned, 300);
    let sql = "SELECT count(*) FROM filed WHERE field = 'session' AND block = 0";
    let left: u32 = test.database().query_row(sql, [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0, "the index does not reveal the sessions");
    let session = Filter { session: Some("session-1".into()), ..Filter::default() };
    assert_eq!(seqs(&test, &session, 1000).last(), Some(&301));
}
