// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Edits of the store are detected, and the error names the edited record. Each test makes one kind of edit.

use tenterhook_ledger::checkpoint::Checkpoint;
use tenterhook_ledger::tree::Frontier;
use tenterhook_ledger::{Expectations, Hash, Ledger, Signer};

use crate::common::{TestLedger, entry, key, options, record};

/// Replaces `from` with `to` in leaf 17's envelope, and returns the problem that is found.
fn after_edit(from: &str, to: &str) -> String {
    let test = TestLedger::filled();
    edit(&test, 17, from, to);
    test.complaint()
}

fn edit(test: &TestLedger, seq: u32, from: &str, to: &str) {
    let record = test.reader().get(seq.into()).unwrap().unwrap();
    let text = String::from_utf8(record.bytes.unwrap()).unwrap();
    let changed = text.replacen(from, to, 1);
    assert_ne!(text, changed, "{from} is not in {text}");
    let sql = "UPDATE leaves SET bytes = ?2 WHERE seq = ?1";
    test.database().execute(sql, rusqlite::params![seq, changed.as_bytes()]).unwrap();
}

fn after_sql(statement: &str) -> String {
    let test = TestLedger::filled();
    test.database().execute_batch(statement).unwrap();
    test.complaint()
}

/// Computes all hashes of the tree again from the present leaves, as a careful forger would.
fn rehash(test: &TestLedger) {
    let database = test.database();
    let mut statement = database.prepare("SELECT seq, bytes FROM leaves ORDER BY seq").unwrap();
    let rows: Vec<(i64, Vec<u8>)> =
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    let mut tree = Frontier::new();
    for (seq, bytes) in rows {
        let mut completed = Vec::new();
        tree.push(Hash::of_leaf(&bytes), &mut completed);
        let nodes: Vec<u8> = completed.iter().flat_map(|hash| hash.0).collect();
        let sql = "UPDATE leaves SET nodes = ?2 WHERE seq = ?1";
        database.execute(sql, rusqlite::params![seq, nodes]).unwrap();
    }
}

/// Signs the log as it is now with this key, and drops every other checkpoint.
fn resign(test: &TestLedger, signer: &dyn Signer) {
    let reader = test.reader();
    let size = reader.size().unwrap();
    let origin = signer.key().name().to_owned();
    let checkpoint = Checkpoint { origin, size, root: reader.root(size).unwrap() };
    let note = checkpoint.sign(&[signer]).unwrap().to_string();
    let database = test.database();
    database.execute_batch("DELETE FROM checkpoints").unwrap();
    let sql = "INSERT INTO checkpoints (size, at, note) VALUES (?1, 0, ?2)";
    database.execute(sql, rusqlite::params![i64::try_from(size).unwrap(), note]).unwrap();
}

/// Returns the checkpoint that covers this many leaves.
fn note(test: &TestLedger, size: u32) -> String {
    let sql = "SELECT note FROM checkpoints WHERE size = ?1";
    test.database().query_row(sql, [size], |row| row.get(0)).unwrap()
}

/// Removes the head signature, as an attacker does for a rollback.
const NO_HEAD: &str = "UPDATE leaves SET head = zeroblob(64)";

const BYTES: &str = "record 17: content does not match its hash";

macro_rules! fields {
    ($($name:ident: $from:literal => $to:literal;)*) => {
        $(#[test]
        fn $name() {
            assert_eq!(after_edit($from, $to), BYTES);
        })*
    };
}

fields! {
    the_version_of_a_leaf: "\"v\":1" => "\"v\":2";
    the_number_of_a_leaf: "\"seq\":17" => "\"seq\":18";
    the_kind_of_a_leaf: "\"kind\":\"decision\"" => "\"kind\":\"change\"";
    the_id_of_a_leaf: "\"id\":\"01" => "\"id\":\"02";
    the_time_of_a_leaf: "\"ts\":\"2026" => "\"ts\":\"2025";
    the_time_it_was_recorded: "\"recorded\":\"2026" => "\"recorded\":\"2025";
    who_brought_a_leaf: "\"origin\":\"hook\"" => "\"origin\":\"spool\"";
    the_harness_of_a_leaf: "claude-code" => "codex";
    the_event_of_a_leaf: "\"event\":\"pre-tool\"" => "\"event\":\"post-tool\"";
    the_native_event_of_a_leaf: "PreToolUse" => "PostToolUse";
    the_session_of_a_leaf: "session-2" => "session-1";
    the_tool_call_of_a_leaf: "toolu_17" => "toolu_18";
    the_tool_of_a_leaf: "\"name\":\"Bash\"" => "\"name\":\"Read\"";
    the_class_of_a_tool: "\"class\":\"shell\"" => "\"class\":\"read\"";
    the_directory_of_a_leaf: "/home/dev/shop" => "/home/dev/prod";
    the_verdict_of_a_leaf: "\"verdict\":\"none\"" => "\"verdict\":\"deny\"";
    the_flow_of_a_leaf: "\"flow\":\"go\"" => "\"flow\":\"stop\"";
    the_generation_of_a_leaf: "\"generation\":\"g1\"" => "\"generation\":\"g2\"";
    the_duration_of_a_leaf: "\"took_us\":40" => "\"took_us\":41";
    the_commitment_of_a_leaf: "\"sha256\":\"" => "\"sha256\":\"A";
    the_length_of_a_payload: "\"bytes\":" => "\"bytes\":1";
    how_much_of_a_payload_is_stored: "\"stored\":\"whole\"" => "\"stored\":\"hash\"";
    the_signer_of_a_leaf: "\"signer\":\"" => "\"signer\":\"0";
    a_space_in_a_leaf: "\"v\":1," => "\"v\": 1,";
}

#[test]
fn the_reason_the_rule_and_the_nudge_of_a_deny() {
    for (from, to) in [
        ("four divides", "five divides"),
        ("no-four", "no-five"),
        ("try five", "try four"),
        ("deny", "allow"),
    ] {
        let test = TestLedger::filled();
        edit(&test, 20, from, to);
        assert_eq!(test.complaint(), "record 20: content does not match its hash");
    }
}

#[test]
fn a_payload() {
    let changed = "UPDATE leaves SET payload = CAST(replace(CAST(payload AS TEXT), 'echo', 'ls') AS BLOB) WHERE seq = 17";
    assert_eq!(after_sql(changed), "record 17: payload does not match its commitment");
}

#[test]
fn a_salt() {
    assert_eq!(
        after_sql("UPDATE leaves SET salt = zeroblob(32) WHERE seq = 17"),
        "record 17: payload does not match its commitment"
    );
    assert_eq!(
        after_sql("UPDATE leaves SET salt = NULL WHERE seq = 17"),
        "record 17: payload does not match its commitment"
    );
}

#[test]
fn a_payload_that_is_gone() {
    assert_eq!(
        after_sql("UPDATE leaves SET salt = NULL, payload = NULL WHERE seq = 17"),
        "record 17: payload is missing"
    );
    let erased = "UPDATE leaves SET salt = NULL, payload = NULL, erased = 1 WHERE seq = 17";
    assert_eq!(after_sql(erased), "record 17: payload was removed without an `erase` record");
}

#[test]
fn a_payload_that_the_envelope_does_not_mention() {
    let expected = "record 0: has a payload that its envelope does not mention";
    assert_eq!(after_sql("UPDATE leaves SET salt = zeroblob(32), payload = x'00' WHERE seq = 0"), expected);
    assert_eq!(after_sql("UPDATE leaves SET erased = 1 WHERE seq = 0"), expected);
}

#[test]
fn payloads_swapped() {
    let swap = "CREATE TEMP TABLE t AS SELECT seq, salt, payload FROM leaves WHERE seq IN (17, 18);
        UPDATE leaves SET (salt, payload) = (SELECT salt, payload FROM t WHERE t.seq = 35 - leaves.seq) WHERE seq IN (17, 18)";
    assert_eq!(after_sql(swap), "record 17: payload does not match its commitment");
}

#[test]
fn leaves_swapped() {
    let swap = "UPDATE leaves SET seq = -1 WHERE seq = 17; UPDATE leaves SET seq = 17 WHERE seq = 19;
        UPDATE leaves SET seq = 19 WHERE seq = -1";
    assert_eq!(after_sql(swap), "record 17: has the number 19: records were copied or moved");
}

#[test]
fn a_leaf_duplicated_in_the_place_of_another() {
    let copy =
        "UPDATE leaves SET (nodes, bytes) = (SELECT nodes, bytes FROM leaves WHERE seq = 16) WHERE seq = 17";
    assert_eq!(after_sql(copy), "record 17: has the number 16: records were copied or moved");
}

#[test]
fn a_leaf_duplicated_at_the_end() {
    let copy = "INSERT INTO leaves SELECT 41, nodes, 'another', ts, kind, source, session, tool, verdict, rule, bytes, salt, payload, erased, zeroblob(64) FROM leaves WHERE seq = 17";
    assert_eq!(after_sql(copy), "record 41: has the number 17: records were copied or moved");
}

#[test]
fn a_leaf_inserted() {
    let insert = "UPDATE leaves SET seq = -seq - 1 WHERE seq >= 17; UPDATE leaves SET seq = -seq WHERE seq < 0;
        INSERT INTO leaves SELECT 17, nodes, 'another', ts, kind, source, session, tool, verdict, rule, bytes, salt, payload, erased, zeroblob(64) FROM leaves WHERE seq = 16";
    assert_eq!(after_sql(insert), "record 17: has the number 16: records were copied or moved");
}

#[test]
fn the_first_leaf_deleted() {
    assert_eq!(after_sql("DELETE FROM leaves WHERE seq = 0"), "record 0: missing");
}

#[test]
fn a_leaf_in_the_middle_deleted() {
    assert_eq!(after_sql("DELETE FROM leaves WHERE seq = 17"), "record 17: missing");
    let closed = "DELETE FROM leaves WHERE seq = 17; UPDATE leaves SET seq = seq - 1 WHERE seq > 17";
    assert_eq!(after_sql(closed), "record 17: has the number 18: records were copied or moved");
}

#[test]
fn the_bytes_of_a_leaf_deleted_as_if_it_were_pruned() {
    assert_eq!(after_sql("UPDATE leaves SET bytes = NULL WHERE seq = 17"), "record 17: missing");
}

#[test]
fn the_last_leaf_deleted() {
    let delete = "DELETE FROM leaves WHERE seq = 40";
    assert_eq!(after_sql(delete), "record 40: missing: 41 records were signed, 40 are present");
}

#[test]
fn the_end_deleted_with_its_checkpoints_against_one_that_was_kept() {
    let test = TestLedger::filled();
    let held = note(&test, 41);
    let delete = "DELETE FROM leaves WHERE seq >= 33; DELETE FROM checkpoints WHERE size > 33";
    test.database().execute_batch(delete).unwrap();
    assert_eq!(test.complaint(), "record 32: the signature of the last commit was removed from its row");
    // The store looks like one in an older format, and the checkpoint file is missing.
    test.database().execute_batch("UPDATE meta SET value = '41' WHERE name = 'heads_from'").unwrap();
    assert!(test.complaint().contains("was published, but is not in the store"), "{}", test.complaint());
    std::fs::remove_file(test.dir.join("checkpoint")).unwrap();
    assert!(test.verify().is_ok(), "on its own it is a valid, older log");
    let expect = Expectations { key: Some(key(1).key().clone()), since: Some(held) };
    let complaint = test.verify_with(expect).unwrap_err().to_string();
    assert_eq!(complaint, "older than the reference checkpoint: 33 < 41 records");
}

#[test]
fn invalid_checkpoint_and_key_files() {
    for name in ["checkpoint", "key.pub"] {
        let test = TestLedger::filled();
        assert!(test.verify().is_ok());
        std::fs::write(test.dir.join(name), "nothing\n").unwrap();
        assert!(test.complaint().contains(&format!("`{name}`")), "{}", test.complaint());
    }
}

#[test]
fn an_old_copy_put_back() {
    let test = TestLedger::new();
    let ledger = test.open();
    record(&ledger, 1..=5);
    ledger.close().unwrap();
    let copy = std::fs::read(test.dir.join("ledger.db")).unwrap();
    let ledger = test.open();
    record(&ledger, 6..=9);
    let held = ledger.checkpoint().unwrap();
    ledger.close().unwrap();
    std::fs::write(test.dir.join("ledger.db"), copy).unwrap();
    let complaint = test.verify_with(Expectations { key: None, since: Some(held) }).unwrap_err().to_string();
    assert_eq!(complaint, "older than the reference checkpoint: 6 < 10 records");
    let error = Ledger::open(&test.dir, options()).err().unwrap().to_string();
    assert_eq!(error, "the ledger was rolled back: 10 records were signed, 6 are present");
}

#[test]
fn another_history_with_the_same_key() {
    let (test, other) = (TestLedger::filled(), TestLedger::new());
    let ledger = other.open();
    record(&ledger, 101..=160);
    ledger.close().unwrap();
    let complaint =
        other.verify_with(Expectations { key: None, since: Some(note(&test, 41)) }).unwrap_err().to_string();
    assert_eq!(complaint, "does not extend the reference checkpoint: the first 41 records differ");
}

#[test]
fn two_ledgers_spliced() {
    let (test, other) = (TestLedger::filled(), TestLedger::new());
    let ledger = other.open();
    record(&ledger, 101..=140);
    ledger.close().unwrap();
    let splice = format!(
        "ATTACH '{}' AS other; DELETE FROM leaves WHERE seq > 20;
        INSERT INTO leaves SELECT * FROM other.leaves WHERE seq > 20;",
        other.dir.join("ledger.db").display()
    );
    test.database().execute_batch(&splice).unwrap();
    assert_eq!(test.complaint(), "record 21: stored subtree hash over 2 records does not match");
    rehash(&test);
    assert_eq!(test.complaint(), "records 17 to 32: root hash does not match the signed one");
}

#[test]
fn a_leaf_with_its_hash() {
    let test = TestLedger::filled();
    edit(&test, 17, "\"took_us\":40", "\"took_us\":41");
    let bytes = test.reader().get(17).unwrap().unwrap().bytes.unwrap();
    let database = test.database();
    let old: Vec<u8> =
        database.query_row("SELECT nodes FROM leaves WHERE seq = 17", [], |row| row.get(0)).unwrap();
    let mut new = Hash::of_leaf(&bytes).0.to_vec();
    new.extend(old.iter().skip(32));
    database.execute("UPDATE leaves SET nodes = ?1 WHERE seq = 17", [new]).unwrap();
    assert_eq!(test.complaint(), "record 17: stored subtree hash over 2 records does not match");
}

#[test]
fn a_leaf_with_all_the_hashes_above_it() {
    let test = TestLedger::filled();
    edit(&test, 18, "\"took_us\":40", "\"took_us\":41");
    rehash(&test);
    assert_eq!(test.complaint(), "records 17 to 32: root hash does not match the signed one");
}

#[test]
fn a_leaf_with_its_hashes_and_later_checkpoints() {
    let test = TestLedger::filled();
    edit(&test, 18, "\"took_us\":40", "\"took_us\":41");
    rehash(&test);
    test.database().execute_batch("DELETE FROM checkpoints WHERE size IN (33, 41)").unwrap();
    let complaint =
        test.verify_with(Expectations { key: None, since: Some(note(&TestLedger::filled(), 17)) });
    assert!(complaint.is_err(), "salts differ from ledger to ledger, so roots do");
    assert_eq!(test.complaint(), "records 17 to 40: root hash does not match the signed one");
    test.database().execute_batch(NO_HEAD).unwrap();
    assert_eq!(
        test.complaint(),
        "records 17 to 40: the last 24 are not signed (recorded since 2026-11-15T08:00:00.000Z, as they state): \
         every commit is signed, so the ledger did not write them, or their signature was removed"
    );
    std::fs::remove_file(test.dir.join("checkpoint")).unwrap();
    let error = Ledger::open(&test.dir, options()).err().unwrap().to_string();
    assert_eq!(
        error,
        "the last 24 records, from record 17 on, are not signed: another program wrote them, or their signature was removed",
        "opening the ledger does not sign them"
    );
}

#[test]
fn a_hash_inside_the_tree() {
    let flip = "UPDATE leaves SET nodes = zeroblob(64) WHERE seq = 21";
    assert_eq!(after_sql(flip), "record 21: content does not match its hash");
    let database = TestLedger::filled();
    let connection = database.database();
    let mut nodes: Vec<u8> =
        connection.query_row("SELECT nodes FROM leaves WHERE seq = 31", [], |row| row.get(0)).unwrap();
    nodes[100] ^= 1;
    connection.execute("UPDATE leaves SET nodes = ?1 WHERE seq = 31", [nodes]).unwrap();
    assert_eq!(database.complaint(), "record 31: stored subtree hash over 8 records does not match");
}

#[test]
fn indexed_columns_of_a_leaf() {
    let edited = |column: &str, value: &str| {
        after_sql(&format!("UPDATE leaves SET {column} = {value} WHERE seq = 20"))
    };
    assert_eq!(
        edited("verdict", "'none'"),
        "record 20: indexed under verdict `none`, but its envelope has `deny`"
    );
    assert_eq!(
        edited("rule", "NULL"),
        "record 20: indexed under rule `nothing`, but its envelope has `no-four`"
    );
    assert_eq!(
        edited("session", "'x'"),
        "record 20: indexed under session `x`, but its envelope has `session-2`"
    );
    assert_eq!(edited("tool", "'x'"), "record 20: indexed under tool `x`, but its envelope has `Bash`");
    assert_eq!(
        edited("source", "'x'"),
        "record 20: indexed under source `x`, but its envelope has `claude-code`"
    );
    assert_eq!(edited("kind", "'x'"), "record 20: indexed under kind `x`, but its envelope has `decision`");
    assert!(edited("id", "'x'").starts_with("record 20: indexed under id `x`, but its envelope has `01"));
    assert_eq!(
        edited("ts", "0"),
        "record 20: indexed under time `0 ms`, but its envelope has `2026-11-15T08:00:00.020Z`"
    );
}

#[test]
fn a_forged_checkpoint() {
    let test = TestLedger::filled();
    let forged = note(&test, 33).replacen("\n33\n", "\n41\n", 1);
    test.database().execute("UPDATE checkpoints SET note = ?1 WHERE size = 41", [&forged]).unwrap();
    assert_eq!(
        test.complaint(),
        "checkpoint of 41 records: the signature of `example.com/ledger` does not match the text"
    );
    let nonsense = "UPDATE checkpoints SET note = 'nonsense' WHERE size = 41";
    assert_eq!(
        after_sql(nonsense),
        "checkpoint of 41 records: not a signed note: no empty line before signatures"
    );
}

#[test]
fn a_checkpoint_by_another_key() {
    let test = TestLedger::filled();
    resign(&test, &*key(2));
    let complaint = test.complaint();
    assert!(
        complaint.starts_with("checkpoint of 41 records: signed by an unknown key: `example.com/ledger+"),
        "{complaint}"
    );
}

#[test]
fn the_whole_log_rewritten_with_another_key() {
    let test = TestLedger::new();
    let mut options = options();
    options.key = Some(key(2));
    let ledger = Ledger::open(&test.dir, options).unwrap().ledger;
    ledger.append(entry(1)).unwrap();
    ledger.close().unwrap();
    let (mine, theirs) = (key(1).key().id(), key(2).key().id());
    let expected = format!(
        "signed by an unknown key: `example.com/ledger+{theirs}`, expected `example.com/ledger+{mine}`"
    );
    assert_eq!(test.complaint(), expected);
    assert!(test.verify_with(Expectations::default()).unwrap().on_first_use);
}

#[test]
fn a_checkpoint_of_another_log() {
    let test = TestLedger::filled();
    let stranger = tenterhook_ledger::SoftwareKey::from_seed("example.com/other", &[1; 32]).unwrap();
    resign(&test, &stranger);
    assert_eq!(test.complaint(), "checkpoint of 41 records: belongs to another log, `example.com/other`");
}

#[test]
fn every_checkpoint_deleted() {
    let test = TestLedger::filled();
    test.database().execute_batch("DELETE FROM checkpoints").unwrap();
    let removed = "all checkpoints were removed: the ledger signs one with its first record";
    assert_eq!(test.complaint(), removed, "although the head still signs every leaf");
    test.database().execute_batch(NO_HEAD).unwrap();
    assert_eq!(test.complaint(), "no checkpoint signs this log");
}

/// A ledger whose last leaves are not covered by a checkpoint, as after a killed writer.
fn unpublished() -> TestLedger {
    let test = TestLedger::filled();
    let copy = TestLedger::new();
    let ledger = test.open();
    record(&ledger, 41..=43);
    std::fs::create_dir(&copy.dir).unwrap();
    std::fs::set_permissions(&copy.dir, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    for name in ["ledger.db", "ledger.db-wal", "checkpoint"] {
        std::fs::copy(test.dir.join(name), copy.dir.join(name)).unwrap();
    }
    assert_eq!(copy.verify().unwrap().unpublished, 3);
    copy
}

#[test]
fn a_leaf_that_is_not_published_yet_with_all_hashes() {
    let test = unpublished();
    edit(&test, 42, "\"took_us\":40", "\"took_us\":41");
    rehash(&test);
    assert_eq!(test.complaint(), "records 41 to 43: root hash does not match the signed one");
    let error = Ledger::open(&test.dir, options()).err().unwrap().to_string();
    assert_eq!(error, "the store is damaged: the first 44 records differ from those that were signed");
}

#[test]
fn a_leaf_that_is_not_published_yet_deleted() {
    let test = unpublished();
    test.database().execute_batch("DELETE FROM leaves WHERE seq = 43").unwrap();
    assert!(
        test.complaint().starts_with("records 41 to 42: the last 2 are not signed "),
        "the head is removed with its row: {}",
        test.complaint()
    );
    assert!(matches!(
        Ledger::open(&test.dir, options()),
        Err(tenterhook_ledger::OpenError::Unsigned { signed: 41, here: 43 })
    ));
}

#[test]
fn leaves_appended_after_the_head() {
    let test = TestLedger::filled();
    let bytes = test.reader().get(40).unwrap().unwrap().bytes.unwrap();
    let text = String::from_utf8(bytes).unwrap().replace("\"seq\":40", "\"seq\":41");
    let copy = "INSERT INTO leaves SELECT 41, nodes, id || 'x', ts, kind, source, session, tool, verdict, rule, ?1, salt, payload, erased, zeroblob(64) FROM leaves WHERE seq = 40";
    let text = text.replacen("\",\"ts\"", "x\",\"ts\"", 1);
    test.database().execute(copy, [text.as_bytes()]).unwrap();
    rehash(&test);
    assert!(
        test.complaint().starts_with("records 41 to 41: the last 1 are not signed "),
        "{}",
        test.complaint()
    );
    assert!(matches!(
        Ledger::open(&test.dir, options()),
        Err(tenterhook_ledger::OpenError::Unsigned { signed: 41, here: 42 })
    ));
}

#[test]
fn a_forged_or_foreign_head() {
    let forge = |sql: &str| {
        let test = TestLedger::filled();
        test.database().execute_batch(sql).unwrap();
        (test.complaint(), Ledger::open(&test.dir, options()).err().map(|error| error.to_string()))
    };
    let (complaint, error) = forge("UPDATE leaves SET head = randomblob(64) WHERE seq = 40");
    assert_eq!(
        complaint,
        "checkpoint of 41 records: the signature of `example.com/ledger` does not match the text"
    );
    assert_eq!(
        error.unwrap(),
        "the store is damaged: the first 41 records differ from those that were signed"
    );
    let (complaint, _) = forge("UPDATE leaves SET head = x'00' WHERE seq = 40");
    assert_eq!(
        complaint,
        "checkpoint of 41 records: the signature of `example.com/ledger` does not match the text"
    );
    let (complaint, _) =
        forge("UPDATE leaves SET head = (SELECT head FROM leaves WHERE seq = 40) WHERE seq = 39");
    assert_eq!(complaint, "record 39: has a head signature, which only the last record may have");
}
