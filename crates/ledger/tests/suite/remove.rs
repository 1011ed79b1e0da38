// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Erasing and pruning: content is removed, a leaf records it, and the ledger verifies.

use tenterhook_ledger::{Expectations, FileFormat, Filter, Hash, export};

use crate::common::{TestLedger, entry, event, find_secrets, record};

#[test]
fn an_erased_payload_is_gone_from_every_file_and_the_log_verifies() {
    let test = TestLedger::new();
    let ledger = test.open();
    record(&ledger, 1..=30);
    let mark = b"echo 17\"".as_slice();
    let files = || {
        ["ledger.db", "ledger.db-wal"].iter().any(|name| {
            let bytes = std::fs::read(test.dir.join(name)).unwrap_or_default();
            bytes.windows(mark.len()).any(|window| window == mark)
        })
    };
    assert!(files());
    let salt = test.reader().get(17).unwrap().unwrap().payload.unwrap().salt;
    assert!(salt.is_some());
    assert_eq!(ledger.erase(17, 17, "dev", "asked for by the customer", &find_secrets).unwrap().seq(), 31);
    assert!(!files(), "neither in the database nor in its journal");
    ledger.close().unwrap();
    let verified = test.verify().unwrap();
    assert_eq!((verified.size, verified.erased, verified.pruned), (32, 1, 0));
    let payload = test.reader().get(17).unwrap().unwrap().payload.unwrap();
    assert_eq!((payload.salt, payload.bytes), (None, None));
    let stored = test.reader().get(31).unwrap().unwrap();
    let leaf = stored.envelope().unwrap().unwrap();
    assert_eq!((leaf.from, leaf.to, leaf.who.as_deref()), (Some(17), Some(17), Some("dev")));
    assert_eq!(leaf.reason.as_deref(), Some("asked for by the customer"));
}

#[test]
fn pruned_leaves_are_gone_and_every_proof_still_holds() {
    let test = TestLedger::filled();
    let before = test.reader().checkpoint().unwrap().unwrap().1;
    let hash = test.reader().get(9).unwrap().unwrap().hash;
    let ledger = test.open();
    assert_eq!(ledger.prune(19, "dev", "older than a year", &find_secrets).unwrap().seq(), 41);
    ledger.close().unwrap();
    let verified = test.verify_with(Expectations { key: None, since: Some(before) }).unwrap();
    assert_eq!((verified.size, verified.pruned), (42, 19), "the start stays");
    let reader = test.reader();
    let gone = reader.get(9).unwrap().unwrap();
    assert_eq!((gone.bytes, gone.payload, gone.hash), (None, None, hash));
    assert!(reader.proof(9).unwrap().is_none() && reader.inclusion_proof(9, 42).unwrap().is_some());
    assert!(reader.proof(30).unwrap().is_some());
    let rows = reader.query(&Filter { session: Some("session-0".into()), ..Filter::default() }, 100).unwrap();
    assert!(rows.records.iter().all(|record| record.seq > 19), "pruned leaves are not found");
    let mut file = Vec::new();
    reader.export(FileFormat::Jsonl, &mut file).unwrap();
    assert_eq!(export::verify(file.as_slice(), Expectations::default(), &mut |_, _| ()).unwrap().pruned, 19);
    assert_eq!(test.open().append(entry(9)).unwrap().seq(), 9, "a pruned event is not recorded again");
}

#[test]
fn nothing_can_be_removed_that_is_not_there() {
    let test = TestLedger::filled();
    let ledger = test.open();
    let error = ledger.erase(41, 41, "dev", "", &find_secrets).unwrap_err().to_string();
    assert_eq!(error, "not recorded: no records 41 to 41");
    assert!(
        ledger.erase(5, 4, "dev", "", &find_secrets).is_err()
            && ledger.prune(99, "dev", "", &find_secrets).is_err()
    );
    ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 41);
}

#[test]
fn an_erasure_covers_what_it_names_and_no_more() {
    let test = TestLedger::filled();
    let ledger = test.open();
    ledger.erase(3, 5, "dev", "r", &find_secrets).unwrap();
    ledger.close().unwrap();
    test.database()
        .execute_batch("UPDATE leaves SET salt = NULL, payload = NULL, erased = 1 WHERE seq = 6")
        .unwrap();
    assert_eq!(test.complaint(), "record 6: payload was removed without an `erase` record");
}

#[test]
fn a_commitment_cannot_be_guessed_without_its_salt() {
    let test = TestLedger::new();
    let ledger = test.open();
    record(&ledger, 1..=1);
    let stored = test.reader().get(1).unwrap().unwrap();
    let payload = stored.payload.clone().unwrap();
    let (salt, bytes) = (payload.salt.unwrap(), payload.bytes.unwrap());
    let commitment = Hash::of_payload(&salt.try_into().unwrap(), &bytes).to_string();
    assert_eq!(stored.envelope().unwrap().unwrap().payload.unwrap().sha256, commitment);
    let text = String::from_utf8(stored.bytes.unwrap()).unwrap();
    assert!(!text.contains("echo"), "the arguments of a tool are in the payload only: {text}");
    assert_eq!(event(1).tool.unwrap().gist(), "echo 1");
}
