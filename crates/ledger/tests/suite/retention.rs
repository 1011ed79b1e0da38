// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Retention: records above a limit are pruned in batches while other callers write, and the ledger still verifies.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::json;
use tenterhook_event::ToolCall;
use tenterhook_ledger::{Expectations, FileFormat, Filter, Ledger, PruneBatch, export};

use crate::common::{TestLedger, decided, entry, event, find_secrets, options, outcome, record};

const RECORDS: u64 = 700;
/// The last record to prune: in the middle of a block.
const LAST: u64 = 599;

/// Prunes everything up to `LAST`, and calls `between` after each batch.
fn prune_in_batches(
    test: &TestLedger,
    ledger: &Ledger,
    mut between: impl FnMut(PruneBatch),
) -> Vec<PruneBatch> {
    let (mut from, mut batches) = (0, Vec::new());
    while let Some(batch) = test.reader().next_prune_batch(from, LAST).unwrap() {
        ledger.prune_batch(batch, "dev", "retention: max_age 90d", &find_secrets).unwrap();
        from = batch.to + 1;
        batches.push(batch);
        between(batch);
    }
    batches
}

/// Asserts that the tree, the proofs, the index and the counters are correct, and that the log extends the
/// checkpoint `before`.
fn assert_whole(test: &TestLedger, before: &str, pruned: u64) {
    let verified = test.verify_with(Expectations { key: None, since: Some(before.to_owned()) }).unwrap();
    assert_eq!(verified.pruned, pruned, "the start stays");
    let mut file = Vec::new();
    test.reader().export(FileFormat::Jsonl, &mut file).unwrap();
    assert_eq!(
        export::verify(file.as_slice(), Expectations::default(), &mut |_, _| ()).unwrap().pruned,
        pruned
    );
}

#[test]
fn records_are_pruned_in_batches_beside_other_writers_and_the_ledger_verifies() {
    let test = TestLedger::new();
    let ledger = test.open();
    record(&ledger, 1..=RECORDS);
    let before = ledger.checkpoint().unwrap();
    let mut number = RECORDS;
    let batches = prune_in_batches(&test, &ledger, |_| {
        number += 1;
        ledger.append(entry(number)).unwrap();
    });
    let ranges: Vec<_> = batches.iter().map(|batch| (batch.from, batch.to, batch.records)).collect();
    assert_eq!(ranges, [(1, 256, 256), (257, 512, 256), (513, LAST, 87)]);
    ledger.close().unwrap();
    assert_whole(&test, &before, LAST);
    let reader = test.reader();
    assert_eq!(reader.stats(&Filter::default()).unwrap().pruned, LAST);
    let found = reader.query(&Filter { rule: Some("no-four".into()), ..Filter::default() }, 1000).unwrap();
    assert_eq!(found.records.len(), 26, "four divides 26 of 600 to 700 and none of 701 to 703");
    let prunings: Vec<_> = reader.records_from(RECORDS + 1, 10).unwrap();
    let prunings = prunings.iter().filter_map(|record| record.envelope()?.ok());
    let prunings = prunings.filter_map(|leaf| Some((leaf.from?, leaf.to?, leaf.reason?.into_owned())));
    let recorded: Vec<_> = prunings.collect();
    assert_eq!(recorded.len(), 3, "each batch has its record: {recorded:?}");
    assert_eq!(recorded[1], (257, 512, "retention: max_age 90d".to_owned()));
    assert_eq!(reader.next_prune_batch(0, LAST).unwrap(), None, "nothing is pruned twice");
}

#[test]
fn a_limit_of_size_removes_the_oldest_and_keeps_what_fits() {
    let test = TestLedger::new();
    let ledger = test.open();
    record(&ledger, 1..=RECORDS);
    let content = |from: u64| test.reader().content_bytes(from..u64::MAX).unwrap();
    let beyond = |max, target| test.reader().last_beyond_bytes(max, target).unwrap();
    let all = content(0);
    assert_eq!(beyond(all, all / 2), None, "a smaller target removes nothing by itself");
    assert_eq!(beyond(all - 1, all - 1), Some(1), "the start is not counted");
    let (limit, target) = (all / 2, all / 3);
    let last = beyond(limit, target).unwrap();
    assert!(content(last + 1) <= target && content(last) > target);
    let mut from = 0;
    while let Some(batch) = test.reader().next_prune_batch(from, last).unwrap() {
        ledger.prune_batch(batch, "dev", "retention: max_size", &find_secrets).unwrap();
        from = batch.to + 1;
    }
    assert!(content(0) <= target, "records about pruning do not count");
    assert_eq!(beyond(limit, target), None);
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().pruned, last);
}

#[test]
fn a_batch_is_limited_by_bytes_and_one_large_record_is_a_batch() {
    let test = TestLedger::new();
    let ledger = test.open();
    record(&ledger, 1..=3);
    for number in [4, 5] {
        let mut event = event(number);
        event.tool = Some(ToolCall::new("Write", json!({"content": "x".repeat(900_000)})));
        ledger.append(decided(event, &outcome(number))).unwrap();
    }
    record(&ledger, 6..=9);
    let mut ranges = Vec::new();
    let mut from = 0;
    while let Some(batch) = test.reader().next_prune_batch(from, 9).unwrap() {
        ledger.prune_batch(batch, "dev", "r", &find_secrets).unwrap();
        ranges.push((batch.from, batch.to));
        from = batch.to + 1;
    }
    assert_eq!(ranges, [(1, 3), (4, 4), (5, 5), (6, 9)]);
    let used = test.reader().used_bytes().unwrap();
    assert!(used < 500_000, "pages of removed payloads are free again: {used}");
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().pruned, 9);
}

/// Not a test: the process that is killed while it prunes.
#[test]
#[ignore = "the test below starts it"]
fn child() {
    let mut dir = String::new();
    std::io::stdin().read_line(&mut dir).unwrap();
    let ledger = Ledger::open(dir.trim().as_ref(), options()).unwrap().ledger;
    let reader = tenterhook_ledger::Reader::open(dir.trim().as_ref()).unwrap();
    // Prunes one record at a time, so that there are many points at which the process can be killed.
    for seq in 1..=LAST {
        if let Some(batch) = reader.next_prune_batch(seq, seq).unwrap() {
            ledger.prune_batch(batch, "dev", "retention: max_age 90d", &find_secrets).unwrap();
            writeln!(std::io::stdout(), "pruned {seq}").unwrap();
        }
    }
}

#[test]
fn a_crash_between_batches_leaves_a_whole_ledger_and_the_next_run_goes_on() {
    let test = TestLedger::new();
    let ledger = test.open();
    record(&ledger, 1..=RECORDS);
    let before = ledger.checkpoint().unwrap();
    ledger.close().unwrap();
    for lines in [1, 3, 7, 20] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "retention::child", "--ignored", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        writeln!(child.stdin.take().unwrap(), "{}", test.dir.display()).unwrap();
        let output = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let pruned = output.filter_map(|line| line.rsplit_once("pruned ")?.1.trim().parse::<u64>().ok());
        let pruned: Vec<_> = pruned.take(lines).collect();
        child.kill().unwrap();
        child.wait().unwrap();
        let reader = test.reader();
        for seq in &pruned {
            assert_eq!(reader.get(*seq).unwrap().unwrap().bytes, None, "reported, so it is gone");
        }
        test.open().close().unwrap();
        let count = reader.stats(&Filter::default()).unwrap().pruned;
        assert!(count >= *pruned.last().unwrap());
        assert_whole(&test, &before, count);
    }
    let ledger = test.open();
    prune_in_batches(&test, &ledger, |_| ());
    ledger.close().unwrap();
    assert_whole(&test, &before, LAST);
}
