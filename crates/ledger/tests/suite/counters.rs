// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Counters and text filters of full blocks. They agree with a scan of all records, even after removals.
//! Damage to them is found and repaired.

use tenterhook_event::{EventId, Timestamp};
use tenterhook_ledger::{Filter, LeafKind, Ledger, Reader, SealedEntry, Stats};

use crate::common::{NOW, TestLedger, decided, event, find_secrets, options, outcome, record};

const HOUR_MS: u64 = 3_600_000;

/// A ledger with 700 decisions from ten hours: two full blocks and a part of a third. Their times are not in order.
fn busy() -> TestLedger {
    let test = TestLedger::new();
    let ledger = test.open();
    for number in 1..=700 {
        let mut event = event(number);
        event.ts = Timestamp::from_unix_ms(NOW + number * 7919 % 700 * HOUR_MS / 70);
        ["claude-code", "codex", ""][usize::try_from(number % 3).unwrap()].clone_into(&mut event.source);
        if let Some(tool) = &mut event.tool {
            tool.name = format!("Tool{}", number % 60);
        }
        ledger.append(decided(event, &outcome(number))).unwrap();
    }
    ledger.close().unwrap();
    test
}

fn filters() -> Vec<Filter> {
    let some = |text: &str| Some(text.to_owned());
    let all = Filter::default();
    vec![
        all.clone(),
        Filter { harness: some("codex"), ..all.clone() },
        Filter { harness: some(""), ..all.clone() },
        Filter { tool: some("Tool7"), verdict: some("none"), ..all.clone() },
        Filter { rule: some("no-four"), ..all.clone() },
        Filter { kind: Some(LeafKind::Decision), from_ms: Some(NOW + HOUR_MS), ..all.clone() },
        Filter { from_ms: Some(NOW + 1234), until_ms: Some(NOW + 5 * HOUR_MS + 99), ..all.clone() },
        Filter { from_ms: Some(NOW + 10), until_ms: Some(NOW + HOUR_MS / 2), ..all.clone() },
        Filter { until_ms: Some(NOW + 3 * HOUR_MS), verdict: some("deny"), ..all.clone() },
        Filter { session: some("session-1"), ..all.clone() },
        Filter { session: some("session-9"), ..all.clone() },
        Filter { text: some("ECHO 17"), ..all.clone() },
        Filter { text: some("echo"), from_ms: Some(NOW + 4 * HOUR_MS), ..all.clone() },
        Filter { text: some("8\""), harness: some("codex"), ..all.clone() },
        Filter { text: some("no such text"), ..all },
    ]
}

/// Reads the store as if it had no counters and filters.
fn scanned<T>(test: &TestLedger, read: impl Fn(&Reader) -> T) -> T {
    test.database().execute_batch("PRAGMA user_version = 5").unwrap();
    let found = read(&test.reader());
    test.database().execute_batch("PRAGMA user_version = 6").unwrap();
    found
}

fn assert_same_as_scan(test: &TestLedger) -> Stats {
    for filter in filters() {
        let stats = |reader: &Reader| reader.stats(&filter).unwrap();
        assert_eq!(stats(&test.reader()), scanned(test, stats), "{filter:?}");
        let found = |reader: &Reader| reader.query(&filter, 20).unwrap();
        assert_eq!(found(&test.reader()), scanned(test, found), "{filter:?}");
    }
    test.verify().unwrap();
    test.reader().stats(&Filter::default()).unwrap()
}

#[test]
fn counters_say_what_a_scan_says() {
    let stats = assert_same_as_scan(&busy());
    assert_eq!((stats.leaves, stats.sessions, stats.payloads), (701, 3, 700));
    assert_eq!((stats.first_ms, stats.last_ms), (Some(NOW), Some(NOW + 699 * HOUR_MS / 70)));
    assert_eq!(stats.tools.len(), 50);
    assert_eq!(stats.verdicts, [("none".to_owned(), 525), ("deny".to_owned(), 175)]);
}

#[test]
fn erasing_pruning_and_superseding_keep_the_counters_right() {
    let test = busy();
    let ledger = test.open();
    ledger.erase(100, 600, "dev", "they asked", &find_secrets).unwrap();
    let erased = assert_same_as_scan(&test);
    assert_eq!((erased.payloads, erased.erased), (199, 501));
    let text = Filter { text: Some("echo 17".into()), ..Filter::default() };
    let seqs = |filter: &Filter| {
        let found = test.reader().query(filter, 100).unwrap();
        found.records.iter().map(|record| record.seq).collect::<Vec<_>>()
    };
    assert_eq!(seqs(&text), [17], "170 to 179 are erased");
    ledger.prune(300, "dev", "older than a year", &find_secrets).unwrap();
    let pruned = assert_same_as_scan(&test);
    assert_eq!((pruned.leaves, pruned.pruned, pruned.erased), (703, 300, 300));
    let names = "SELECT count(*) FROM counters WHERE session <> 0 AND hour IN (SELECT hour FROM counters WHERE pruned > 0)
        AND records = 0";
    let left: u32 = test.database().query_row(names, [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0, "a counter without a record names nothing");
    // The first record is in a full block. The second is in the last block, which has no counters yet.
    for number in [400, 699] {
        let mut event = event(number);
        event.id = EventId::from_parts(NOW + number, u128::from(number));
        let entry = decided(event, &outcome(1)).seal(ledger.sealing()).unwrap();
        let spooled = SealedEntry::from_spool(&entry.to_spool().unwrap()).unwrap();
        ledger.append(spooled.into_superseding().unwrap()).unwrap();
    }
    assert_eq!(assert_same_as_scan(&test).undelivered, 2);
    record(&ledger, 701..=900);
    assert_eq!(assert_same_as_scan(&test).undelivered, 2);
}

#[test]
fn damaged_counters_and_filters_are_named_and_written_again() {
    let damage = [
        ("UPDATE counters SET records = records + 1 WHERE tool = 'Tool7'", "counters"),
        ("UPDATE counters SET payload_bytes = 0", "counters"),
        ("UPDATE counters SET verdict = 'allow' WHERE verdict = 'deny' AND tool = 'Tool4'", "counters"),
        ("DELETE FROM counters WHERE session = 'session-2'", "counters"),
        ("INSERT INTO counters VALUES (1, 'x', 0, 'decision', 0, 0, 0, 0, 0, 0, 0, 0, 0)", "counters"),
        ("UPDATE text_filters SET bits = zeroblob(16384) WHERE block = 1", "text"),
        ("DELETE FROM text_filters WHERE block = 0", "text"),
        ("INSERT INTO text_filters VALUES (7, x'00')", "filed"),
        ("DELETE FROM filed WHERE value = 'session-1'", "session"),
    ];
    let expected = [
        ("counters", "the counters of `ledger stats` do not match the records"),
        ("text", "index entry for text is missing or incomplete"),
        ("filed", "the index has an entry without a record"),
        ("session", "index entry for session `session-1` is missing or incomplete"),
    ];
    let test = busy();
    for (sql, what) in damage {
        assert!(test.database().execute(sql, []).unwrap() > 0, "{sql}");
        let problem = test.verify().unwrap_err();
        let (_, message) = expected.iter().find(|(name, _)| *name == what).unwrap();
        assert!(problem.to_string().ends_with(message), "{sql}: {problem}");
        assert!(problem.defect.is_index());
        let ledger = test.open();
        ledger.rebuild_index("dev").unwrap();
        ledger.close().unwrap();
        assert_same_as_scan(&test);
    }
}

#[test]
fn a_store_of_format_5_gets_counters_and_filters() {
    let test = busy();
    let before = assert_same_as_scan(&test);
    test.database()
        .execute_batch("DROP TABLE counters; DROP TABLE text_filters; PRAGMA user_version = 5")
        .unwrap();
    test.verify().unwrap();
    assert_eq!(test.reader().stats(&Filter::default()).unwrap(), before);
    let opened = Ledger::open(&test.dir, options()).unwrap();
    assert_eq!(opened.recovered, ["migrated the store from format 5 to format 6"]);
    opened.ledger.close().unwrap();
    assert_eq!(assert_same_as_scan(&test), before);
}

#[test]
fn a_block_that_several_runs_fill_has_its_filter() {
    let test = TestLedger::new();
    for numbers in [1..=100, 101..=200, 201..=300] {
        let ledger = test.open();
        record(&ledger, numbers);
        ledger.close().unwrap();
    }
    test.verify().unwrap();
    let text = Filter { text: Some("echo 42".into()), ..Filter::default() };
    assert_eq!(test.reader().query(&text, 9).unwrap().records.len(), 1);
}
