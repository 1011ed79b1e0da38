// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Queries, statistics, exports and proofs.

use tenterhook_ledger::tree::Frontier;
use tenterhook_ledger::{FileFormat, Filter, Hash, LeafKind, LeafProof};

use crate::common::{NOW, TestLedger, key};

fn seqs(test: &TestLedger, filter: &Filter) -> Vec<u64> {
    test.reader().query(filter, 100).unwrap().records.iter().map(|record| record.seq).collect()
}

#[test]
fn leaves_are_found_by_what_they_say_newest_first() {
    let test = TestLedger::filled();
    let some = |text: &str| Some(text.to_owned());
    let all = Filter::default();
    assert_eq!(
        seqs(&test, &Filter { verdict: some("deny"), ..all.clone() }),
        [40, 36, 32, 28, 24, 20, 16, 12, 8, 4]
    );
    assert_eq!(
        seqs(&test, &Filter { rule: some("no-four"), session: some("session-0"), ..all.clone() }),
        [36, 24, 12]
    );
    assert_eq!(seqs(&test, &Filter { verdict: some("none"), ..all.clone() }).len(), 30);
    assert_eq!(seqs(&test, &Filter { kind: Some(LeafKind::Start), ..all.clone() }), [0]);
    assert_eq!(
        seqs(&test, &Filter { from_ms: Some(NOW + 38), until_ms: Some(NOW + 40), ..all.clone() }),
        [39, 38]
    );
    assert_eq!(seqs(&test, &Filter { text: some("ECHO 17"), ..all.clone() }), [17], "in the payload");
    assert_eq!(seqs(&test, &Filter { text: some("toolu_9"), ..all.clone() }), [9], "in the envelope");
    assert_eq!(seqs(&test, &Filter { text: some("100%"), ..all.clone() }), [0u64; 0]);
    assert_eq!(
        seqs(&test, &Filter { text: some("\"command\""), ..all.clone() }),
        [0u64; 0],
        "a quote is escaped as in JSON"
    );
    assert_eq!(
        seqs(&test, &Filter { tool: some("Bash"), harness: some("claude-code"), ..all.clone() }).len(),
        40
    );
    assert_eq!(seqs(&test, &Filter { session: some("x' OR 1=1 --"), ..all }), [0u64; 0]);
}

#[test]
fn pages_follow_one_another_without_a_gap() {
    let test = TestLedger::filled();
    let (mut filter, mut found) = (Filter::default(), Vec::new());
    loop {
        let page = test.reader().query(&filter, 7).unwrap();
        found.extend(page.records.iter().map(|record| record.seq));
        match page.next {
            Some(next) => filter.before = Some(next),
            None => break,
        }
    }
    assert_eq!(found, (0..=40).rev().collect::<Vec<_>>());
    let tail: Vec<u64> =
        test.reader().records_from(38, 100).unwrap().iter().map(|record| record.seq).collect();
    assert_eq!(tail, [38, 39, 40]);
}

#[test]
fn a_ledger_in_numbers() {
    let test = TestLedger::filled();
    let stats = test.reader().stats(&Filter::default()).unwrap();
    let pair = |name: &str, count: u64| (name.to_owned(), count);
    assert_eq!((stats.leaves, stats.sessions, stats.payloads), (41, 3, 40));
    assert_eq!(stats.verdicts, [pair("none", 30), pair("deny", 10)]);
    assert_eq!(stats.rules, [pair("no-four", 10)]);
    assert_eq!(stats.kinds, [pair("decision", 40), pair("start", 1)]);
    assert_eq!(stats.days.iter().map(|day| day.2).sum::<u64>(), 40);
    let denied = test.reader().stats(&Filter { verdict: Some("deny".into()), ..Filter::default() }).unwrap();
    assert_eq!((denied.leaves, denied.first_ms), (10, Some(NOW + 4)));
}

#[test]
fn the_table_for_people_is_safe_to_open() {
    let test = TestLedger::filled();
    let mut table = Vec::new();
    test.reader().export(FileFormat::Csv, &mut table).unwrap();
    let table = String::from_utf8(table).unwrap();
    assert_eq!(table.lines().count(), 42);
    let row = table.lines().nth(5).unwrap();
    assert!(
        row.starts_with("4,01")
            && row.contains(",claude-code,pre-tool,session-1,Bash,deny,no-four,nothing that four divides,"),
        "{row}"
    );
    assert!(!table.contains(",="));
}

#[test]
fn the_tiles_give_the_root_that_was_signed() {
    let test = TestLedger::filled();
    let dir = test.path().join("tiles");
    test.reader().export_tiles(&dir).unwrap();
    let tile = std::fs::read(dir.join("tile/0/000.p/41")).unwrap();
    let bundle = std::fs::read(dir.join("tile/entries/000.p/41")).unwrap();
    let (mut rest, mut tree, mut entries) = (bundle.as_slice(), Frontier::new(), 0);
    while let Some((length, after)) = rest.split_first_chunk::<2>() {
        let (entry, after) = after.split_at(usize::from(u16::from_be_bytes(*length)));
        assert_eq!(tile[entries * 32..(entries + 1) * 32], Hash::of_leaf(entry).0);
        tree.push(Hash::of_leaf(entry), &mut Vec::new());
        (rest, entries) = (after, entries + 1);
    }
    let checkpoint = std::fs::read_to_string(dir.join("checkpoint")).unwrap();
    assert_eq!(checkpoint.lines().nth(2), Some(&*tree.root().to_string()));
}

#[test]
fn the_proof_of_a_leaf_is_a_text_that_needs_nothing_else() {
    let test = TestLedger::filled();
    let text = test.reader().proof(20).unwrap().unwrap().to_string();
    let proof: LeafProof = text.parse().unwrap();
    let signer = key(1);
    let keys = [signer.key()];
    assert_eq!(proof.check(&keys).unwrap().size, 41);
    assert_eq!(proof.to_string(), text);
    let mut other = proof.clone();
    other.leaf = String::from_utf8(other.leaf).unwrap().replace("deny", "allow").into_bytes();
    assert_eq!(
        other.check(&keys).unwrap_err().to_string(),
        "record 20 is not in the tree of 41 records that the checkpoint signs"
    );
    let moved = LeafProof { seq: 21, ..proof.clone() };
    assert!(moved.check(&keys).is_err());
    assert!(
        proof
            .check(&[key(2).key()])
            .unwrap_err()
            .to_string()
            .starts_with("checkpoint: signed by an unknown key")
    );
    for broken in
        ["", "c2sp.org/tlog-proof@v1\n", &text.replace("index 20", "index 020"), &text.replace("extra ", "")]
    {
        assert!(broken.parse::<LeafProof>().is_err(), "{broken}");
    }
    assert!(test.reader().proof(41).unwrap().is_none());
}

#[test]
fn decisions_are_scanned_oldest_first_by_session() {
    let test = TestLedger::filled();
    let reader = test.reader();
    let (mut all, mut of_one) = (Vec::new(), Vec::new());
    let end =
        reader.scan_decisions(0..20, |_, session| session == "session-1", |leaf| all.push(leaf.seq)).unwrap();
    assert_eq!((end, reader.scan_decisions(end..1000, |_, _| false, |_| {}).unwrap()), (20, 41));
    reader
        .scan_session("claude-code", "session-1", |leaf| of_one.push((leaf.seq, leaf.payload.is_some())))
        .unwrap();
    let expected: Vec<_> = seqs(&test, &Filter { session: Some("session-1".into()), ..Filter::default() });
    assert_eq!(of_one, expected.iter().rev().map(|seq| (*seq, true)).collect::<Vec<_>>());
    assert_eq!(all, expected.into_iter().rev().filter(|seq| *seq < 20).collect::<Vec<_>>());
    reader.scan_session("codex", "session-1", |_| panic!("of another harness")).unwrap();
}
