// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Keys: generated, sealed and rotated.

use std::sync::Arc;

use tenterhook_ledger::checkpoint::Checkpoint;
use tenterhook_ledger::{Argon2Cost, Expectations, Ledger, LedgerOptions, Signer, SoftwareKey};

use crate::common::{TestLedger, clock, entry, key, options, record};

#[test]
fn a_key_is_generated_once_and_its_public_key_is_written() {
    let test = TestLedger::new();
    let open_own = || Ledger::open(&test.dir, LedgerOptions::new(clock)).unwrap().ledger;
    open_own().close().unwrap();
    let public = std::fs::read_to_string(test.dir.join("key.pub")).unwrap();
    open_own().close().unwrap();
    assert_eq!(std::fs::read_to_string(test.dir.join("key.pub")).unwrap(), public);
    let verified =
        test.verify_with(Expectations { key: Some(public.parse().unwrap()), since: None }).unwrap();
    assert!(verified.origin.starts_with("tenterhook.local/"));
}

#[test]
fn another_key_does_not_open_the_ledger() {
    let test = TestLedger::filled();
    let mut other = options();
    other.key = Some(key(2));
    let error = Ledger::open(&test.dir, other).err().unwrap().to_string();
    assert_eq!(
        error,
        format!("wrong key `{}`: this ledger is signed with `{}`", key(2).key().id(), key(1).key())
    );
}

#[test]
fn a_sealed_key_signs_once_it_is_open() {
    let test = TestLedger::new();
    let path = test.path().join("sealed");
    let made = SoftwareKey::generate("example.com/ledger").unwrap();
    made.seal(&path, "correct horse", Argon2Cost { m: 64, t: 1, p: 1 }).unwrap();
    let mut sealed = options();
    sealed.key = Some(Arc::new(SoftwareKey::unseal(&path, "correct horse").unwrap()));
    let ledger = Ledger::open(&test.dir, sealed).unwrap().ledger;
    ledger.append(entry(1)).unwrap();
    ledger.close().unwrap();
    assert!(test.verify_with(Expectations { key: Some(made.key().clone()), since: None }).is_ok());
    assert!(!test.dir.join("key").exists(), "no second key is made");
}

/// A ledger that was signed with three keys, one after another, with leaves between the rotations.
fn rotated() -> TestLedger {
    let test = TestLedger::new();
    let ledger = test.open();
    record(&ledger, 1..=5);
    let note = ledger.rotate(Some(key(2))).unwrap();
    let (checkpoint, note) = Checkpoint::parse(&note).unwrap();
    assert_eq!(checkpoint.size, 7);
    assert!(note.check(&[key(1).key()]).is_ok() && note.check(&[key(2).key()]).is_ok(), "both keys sign");
    record(&ledger, 6..=8);
    ledger.rotate(Some(key(3))).unwrap();
    record(&ledger, 9..=10);
    ledger.close().unwrap();
    test
}

#[test]
fn the_log_itself_records_which_key_signs() {
    let test = rotated();
    for seed in [1, 2, 3] {
        let verified =
            test.verify_with(Expectations { key: Some(key(seed).key().clone()), since: None }).unwrap();
        assert_eq!(verified.keys, [key(1).key().clone(), key(2).key().clone(), key(3).key().clone()]);
    }
    assert!(test.verify_with(Expectations { key: Some(key(4).key().clone()), since: None }).is_err());
    let mut last = options();
    last.key = Some(key(3));
    assert!(Ledger::open(&test.dir, last).is_ok());
    assert!(Ledger::open(&test.dir, options()).is_err(), "the first key is not valid any more");
}

#[test]
fn a_rotation_that_the_old_key_did_not_sign_is_found() {
    let test = TestLedger::new();
    let ledger = test.open();
    record(&ledger, 1..=2);
    ledger.close().unwrap();
    // A forger writes a leaf that rotates to another key.
    let database = test.database();
    let bytes = test.reader().get(2).unwrap().unwrap().bytes.unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let (head, _) = text.split_once("\"source\"").unwrap();
    let signature = "A".repeat(86) + "==";
    let forged = format!(
        "{}\"new_key\":\"{}\",\"old_signature\":\"{signature}\",\"new_signature\":\"{signature}\",\"signer\":\"{}\"}}",
        head.replace("decision", "rotate"),
        key(9).key(),
        key(1).key().id()
    );
    let hash = tenterhook_ledger::Hash::of_leaf(forged.as_bytes());
    database
        .execute(
            "UPDATE leaves SET bytes = ?1, nodes = ?2 WHERE seq = 2",
            rusqlite::params![forged.as_bytes(), hash.0],
        )
        .unwrap();
    database.execute_batch("UPDATE leaves SET salt = NULL, payload = NULL WHERE seq = 2").unwrap();
    assert_eq!(test.complaint(), "record 2: key rotation is not signed by both keys");
}

#[test]
fn the_ledger_s_own_key_can_be_changed_and_a_crash_in_between_is_recovered() {
    let test = TestLedger::new();
    let open_own = || Ledger::open(&test.dir, LedgerOptions::new(clock)).unwrap();
    let ledger = open_own().ledger;
    let first = std::fs::read(test.dir.join("key")).unwrap();
    ledger.rotate(None).unwrap();
    ledger.append(entry(1)).unwrap();
    ledger.close().unwrap();
    let second = std::fs::read(test.dir.join("key")).unwrap();
    assert_ne!(first, second);
    // Simulates a crash after the leaf was recorded and before the key file was moved.
    std::fs::rename(test.dir.join("key"), test.dir.join("key.next")).unwrap();
    std::fs::write(test.dir.join("key"), &first).unwrap();
    std::fs::set_permissions(test.dir.join("key"), std::os::unix::fs::PermissionsExt::from_mode(0o600))
        .unwrap();
    let opened = open_own();
    assert_eq!(opened.recovered, ["finished a key rotation: the new key signs"]);
    drop(opened);
    // Simulates a crash after the key file was written and before the leaf was recorded.
    SoftwareKey::generate(&test.verify_with(Expectations::default()).unwrap().origin)
        .unwrap()
        .save(&test.dir.join("key.next"))
        .unwrap();
    let opened = open_own();
    assert_eq!(opened.recovered, ["dropped a key rotation that was not recorded: the old key signs"]);
    opened.ledger.append(entry(2)).unwrap();
    drop(opened);
    assert_eq!(test.verify_with(Expectations::default()).unwrap().keys.len(), 2);
}

fn sealed_options() -> LedgerOptions {
    let mut options = LedgerOptions::new(clock);
    options.passphrase = Some("correct horse".into());
    options
}

#[test]
fn a_sealed_key_is_never_stored_unsealed_and_neither_is_its_successor() {
    let test = TestLedger::new();
    let ledger = Ledger::open(&test.dir, sealed_options()).unwrap().ledger;
    ledger.append(entry(1)).unwrap();
    ledger.rotate(None).unwrap();
    ledger.append(entry(2)).unwrap();
    ledger.close().unwrap();
    assert!(SoftwareKey::is_sealed(&test.dir.join("key")));
    let error = Ledger::open(&test.dir, LedgerOptions::new(clock)).err().unwrap().to_string();
    let path = test.dir.join("key").display().to_string();
    assert_eq!(error, format!("`{path}` is sealed, and no passphrase was given"));
    let mut wrong = sealed_options();
    wrong.passphrase = Some("wrong horse".into());
    let error = Ledger::open(&test.dir, wrong).err().unwrap().to_string();
    assert_eq!(error, format!("wrong passphrase for `{path}`"));
    // An interrupted rotation is recovered, and the passphrase is needed once.
    std::fs::copy(test.dir.join("key"), test.dir.join("key.next")).unwrap();
    let opened = Ledger::open(&test.dir, sealed_options()).unwrap();
    assert_eq!(opened.recovered, ["finished a key rotation: the new key signs"]);
    drop(opened);
    assert_eq!(test.verify_with(Expectations::default()).unwrap().keys.len(), 2);
}
