// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whoever edits the store is found, and the leaf is named. Each test is one way to try.

use tenterhook_ledger::checkpoint::Checkpoint;
use tenterhook_ledger::tree::Frontier;
use tenterhook_ledger::{Expect, Hash, Ledger, Signer};

use crate::common::{Test, entry, key, options, record};

/// Edits the text of leaf 17's envelope: `from` becomes `to`.
fn edited(from: &str, to: &str) -> String {
    let test = Test::filled();
    edit(&test, 17, from, to);
    test.complaint()
}

fn edit(test: &Test, seq: u32, from: &str, to: &str) {
    let record = test.reader().get(seq.into()).unwrap().unwrap();
    let text = String::from_utf8(record.bytes.unwrap()).unwrap();
    let changed = text.replacen(from, to, 1);
    assert_ne!(text, changed, "{from} is not in {text}");
    let sql = "UPDATE leaves SET bytes = ?2 WHERE seq = ?1";
    test.database().execute(sql, rusqlite::params![seq, changed.as_bytes()]).unwrap();
}

fn sql(statement: &str) -> String {
    let test = Test::filled();
    test.database().execute_batch(statement).unwrap();
    test.complaint()
}

/// Writes all hashes of the tree anew over whatever leaves there are, as a careful forger would.
fn rehash(test: &Test) {
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
fn resign(test: &Test, signer: &dyn Signer) {
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

/// The checkpoint of this many leaves.
fn note(test: &Test, size: u32) -> String {
    let sql = "SELECT note FROM checkpoints WHERE size = ?1";
    test.database().query_row(sql, [size], |row| row.get(0)).unwrap()
}

/// Takes the head away, as somebody would who rolls back.
const NO_HEAD: &str = "UPDATE leaves SET head = zeroblob(64)";

const BYTES: &str = "leaf 17: its bytes do not match its hash";

macro_rules! fields {
    ($($name:ident: $from:literal => $to:literal;)*) => {
        $(#[test]
        fn $name() {
            assert_eq!(edited($from, $to), BYTES);
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
        let test = Test::filled();
        edit(&test, 20, from, to);
        assert_eq!(test.complaint(), "leaf 20: its bytes do not match its hash");
    }
}

#[test]
fn a_payload() {
    let changed = "UPDATE leaves SET payload = CAST(replace(CAST(payload AS TEXT), 'echo', 'ls') AS BLOB) WHERE seq = 17";
    assert_eq!(sql(changed), "leaf 17: its payload does not match its commitment");
}

#[test]
fn a_salt() {
    assert_eq!(
        sql("UPDATE leaves SET salt = zeroblob(32) WHERE seq = 17"),
        "leaf 17: its payload does not match its commitment"
    );
    assert_eq!(
        sql("UPDATE leaves SET salt = NULL WHERE seq = 17"),
        "leaf 17: its payload does not match its commitment"
    );
}

#[test]
fn a_payload_that_is_gone() {
    assert_eq!(
        sql("UPDATE leaves SET salt = NULL, payload = NULL WHERE seq = 17"),
        "leaf 17: its payload is missing"
    );
    let erased = "UPDATE leaves SET salt = NULL, payload = NULL, erased = 1 WHERE seq = 17";
    assert_eq!(sql(erased), "leaf 17: its payload is gone, and no leaf says that it was erased");
}

#[test]
fn a_payload_that_nobody_spoke_of() {
    let spoken = "leaf 0: there is a payload that it does not speak of";
    assert_eq!(sql("UPDATE leaves SET salt = zeroblob(32), payload = x'00' WHERE seq = 0"), spoken);
    assert_eq!(sql("UPDATE leaves SET erased = 1 WHERE seq = 0"), spoken);
}

#[test]
fn payloads_swapped() {
    let swap = "CREATE TEMP TABLE t AS SELECT seq, salt, payload FROM leaves WHERE seq IN (17, 18);
        UPDATE leaves SET (salt, payload) = (SELECT salt, payload FROM t WHERE t.seq = 35 - leaves.seq) WHERE seq IN (17, 18)";
    assert_eq!(sql(swap), "leaf 17: its payload does not match its commitment");
}

#[test]
fn leaves_swapped() {
    let swap = "UPDATE leaves SET seq = -1 WHERE seq = 17; UPDATE leaves SET seq = 17 WHERE seq = 19;
        UPDATE leaves SET seq = 19 WHERE seq = -1";
    assert_eq!(sql(swap), "leaf 17: it says that it is leaf 19: two leaves say so, or leaves were moved");
}

#[test]
fn a_leaf_duplicated_in_the_place_of_another() {
    let copy =
        "UPDATE leaves SET (nodes, bytes) = (SELECT nodes, bytes FROM leaves WHERE seq = 16) WHERE seq = 17";
    assert_eq!(sql(copy), "leaf 17: it says that it is leaf 16: two leaves say so, or leaves were moved");
}

#[test]
fn a_leaf_duplicated_at_the_end() {
    let copy = "INSERT INTO leaves SELECT 41, nodes, 'another', ts, kind, source, session, tool, verdict, rule, bytes, salt, payload, erased, zeroblob(64) FROM leaves WHERE seq = 17";
    assert_eq!(sql(copy), "leaf 41: it says that it is leaf 17: two leaves say so, or leaves were moved");
}

#[test]
fn a_leaf_inserted() {
    let insert = "UPDATE leaves SET seq = -seq - 1 WHERE seq >= 17; UPDATE leaves SET seq = -seq WHERE seq < 0;
        INSERT INTO leaves SELECT 17, nodes, 'another', ts, kind, source, session, tool, verdict, rule, bytes, salt, payload, erased, zeroblob(64) FROM leaves WHERE seq = 16";
    assert_eq!(sql(insert), "leaf 17: it says that it is leaf 16: two leaves say so, or leaves were moved");
}

#[test]
fn the_first_leaf_deleted() {
    assert_eq!(sql("DELETE FROM leaves WHERE seq = 0"), "leaf 0: it is missing");
}

#[test]
fn a_leaf_in_the_middle_deleted() {
    assert_eq!(sql("DELETE FROM leaves WHERE seq = 17"), "leaf 17: it is missing");
    let closed = "DELETE FROM leaves WHERE seq = 17; UPDATE leaves SET seq = seq - 1 WHERE seq > 17";
    assert_eq!(sql(closed), "leaf 17: it says that it is leaf 18: two leaves say so, or leaves were moved");
}

#[test]
fn the_bytes_of_a_leaf_deleted_as_if_it_were_pruned() {
    assert_eq!(sql("UPDATE leaves SET bytes = NULL WHERE seq = 17"), "leaf 17: it is missing");
}

#[test]
fn the_last_leaf_deleted() {
    let delete = "DELETE FROM leaves WHERE seq = 40";
    assert_eq!(sql(delete), "leaf 40: it is missing: 41 leaves were signed, 40 are here");
}

#[test]
fn the_end_deleted_with_its_checkpoints_against_one_that_was_kept() {
    let test = Test::filled();
    let held = note(&test, 41);
    let delete = "DELETE FROM leaves WHERE seq >= 33; DELETE FROM checkpoints WHERE size > 33";
    test.database().execute_batch(delete).unwrap();
    assert_eq!(test.complaint(), "leaf 32: the signature of the last commit was removed from its row");
    // As in a store of an older format, and without the file beside it.
    test.database().execute_batch("UPDATE meta SET value = '41' WHERE name = 'heads_from'").unwrap();
    assert!(
        test.complaint().contains("it was published, but the store does not have it"),
        "{}",
        test.complaint()
    );
    std::fs::remove_file(test.dir.join("checkpoint")).unwrap();
    assert!(test.verify().is_ok(), "by itself it is a good log, only an older one");
    let expect = Expect { key: Some(key(1).key().clone()), since: Some(held) };
    let complaint = test.verify_with(expect).unwrap_err().to_string();
    assert_eq!(complaint, "older than the checkpoint you hold: 33 < 41 leaves");
}

#[test]
fn files_beside_the_store_that_cannot_be_read() {
    for name in ["checkpoint", "key.pub"] {
        let test = Test::filled();
        assert!(test.verify().is_ok());
        std::fs::write(test.dir.join(name), "nothing\n").unwrap();
        assert!(test.complaint().contains(&format!("`{name}`")), "{}", test.complaint());
    }
}

#[test]
fn an_old_copy_put_back() {
    let test = Test::new();
    let ledger = test.open();
    record(&ledger, 1..=5);
    ledger.close().unwrap();
    let copy = std::fs::read(test.dir.join("ledger.db")).unwrap();
    let ledger = test.open();
    record(&ledger, 6..=9);
    let held = ledger.checkpoint().unwrap();
    ledger.close().unwrap();
    std::fs::write(test.dir.join("ledger.db"), copy).unwrap();
    let complaint = test.verify_with(Expect { key: None, since: Some(held) }).unwrap_err().to_string();
    assert_eq!(complaint, "older than the checkpoint you hold: 6 < 10 leaves");
    let error = Ledger::open(&test.dir, options()).err().unwrap().to_string();
    assert_eq!(error, "10 leaves were signed, 6 are here: the ledger was rolled back");
}

#[test]
fn another_history_with_the_same_key() {
    let (test, other) = (Test::filled(), Test::new());
    let ledger = other.open();
    record(&ledger, 101..=160);
    ledger.close().unwrap();
    let complaint =
        other.verify_with(Expect { key: None, since: Some(note(&test, 41)) }).unwrap_err().to_string();
    assert_eq!(complaint, "does not extend the checkpoint you hold: the first 41 leaves are others");
}

#[test]
fn two_ledgers_spliced() {
    let (test, other) = (Test::filled(), Test::new());
    let ledger = other.open();
    record(&ledger, 101..=140);
    ledger.close().unwrap();
    let splice = format!(
        "ATTACH '{}' AS other; DELETE FROM leaves WHERE seq > 20;
        INSERT INTO leaves SELECT * FROM other.leaves WHERE seq > 20;",
        other.dir.join("ledger.db").display()
    );
    test.database().execute_batch(&splice).unwrap();
    assert_eq!(test.complaint(), "leaf 21: the stored hash over the 2 leaves that end here is another");
    rehash(&test);
    assert_eq!(test.complaint(), "leaves 17 to 32: they do not give the root that was signed");
}

#[test]
fn a_leaf_with_its_hash() {
    let test = Test::filled();
    edit(&test, 17, "\"took_us\":40", "\"took_us\":41");
    let bytes = test.reader().get(17).unwrap().unwrap().bytes.unwrap();
    let database = test.database();
    let old: Vec<u8> =
        database.query_row("SELECT nodes FROM leaves WHERE seq = 17", [], |row| row.get(0)).unwrap();
    let mut new = Hash::of_leaf(&bytes).0.to_vec();
    new.extend(old.iter().skip(32));
    database.execute("UPDATE leaves SET nodes = ?1 WHERE seq = 17", [new]).unwrap();
    assert_eq!(test.complaint(), "leaf 17: the stored hash over the 2 leaves that end here is another");
}

#[test]
fn a_leaf_with_all_the_hashes_above_it() {
    let test = Test::filled();
    edit(&test, 18, "\"took_us\":40", "\"took_us\":41");
    rehash(&test);
    assert_eq!(test.complaint(), "leaves 17 to 32: they do not give the root that was signed");
}

#[test]
fn a_leaf_with_its_hashes_and_the_checkpoints_that_tell() {
    let test = Test::filled();
    edit(&test, 18, "\"took_us\":40", "\"took_us\":41");
    rehash(&test);
    test.database().execute_batch("DELETE FROM checkpoints WHERE size IN (33, 41)").unwrap();
    let complaint = test.verify_with(Expect { key: None, since: Some(note(&Test::filled(), 17)) });
    assert!(complaint.is_err(), "salts differ from ledger to ledger, so roots do");
    assert_eq!(test.complaint(), "leaves 17 to 40: they do not give the root that was signed");
    test.database().execute_batch(NO_HEAD).unwrap();
    assert_eq!(
        test.complaint(),
        "leaves 17 to 40: nobody signed the last 24, recorded since 2026-11-15T08:00:00.000Z as they say: \
         the ledger signs with every commit, so it did not write them, or its signature was taken away"
    );
    std::fs::remove_file(test.dir.join("checkpoint")).unwrap();
    let error = Ledger::open(&test.dir, options()).err().unwrap().to_string();
    assert_eq!(
        error,
        "nobody signed the last 24 leaves, from leaf 17 on: this ledger did not write them, or its signature was taken away",
        "and whoever goes on does not sign them either"
    );
}

#[test]
fn a_hash_inside_the_tree() {
    let flip = "UPDATE leaves SET nodes = zeroblob(64) WHERE seq = 21";
    assert_eq!(sql(flip), "leaf 21: its bytes do not match its hash");
    let database = Test::filled();
    let connection = database.database();
    let mut nodes: Vec<u8> =
        connection.query_row("SELECT nodes FROM leaves WHERE seq = 31", [], |row| row.get(0)).unwrap();
    nodes[100] ^= 1;
    connection.execute("UPDATE leaves SET nodes = ?1 WHERE seq = 31", [nodes]).unwrap();
    assert_eq!(database.complaint(), "leaf 31: the stored hash over the 8 leaves that end here is another");
}

#[test]
fn what_a_leaf_is_filed_under() {
    let filed =
        |column: &str, value: &str| sql(&format!("UPDATE leaves SET {column} = {value} WHERE seq = 20"));
    assert_eq!(filed("verdict", "'none'"), "leaf 20: it is filed under verdict `none`, but says `deny`");
    assert_eq!(filed("rule", "NULL"), "leaf 20: it is filed under rule `nothing`, but says `no-four`");
    assert_eq!(filed("session", "'x'"), "leaf 20: it is filed under session `x`, but says `session-2`");
    assert_eq!(filed("tool", "'x'"), "leaf 20: it is filed under tool `x`, but says `Bash`");
    assert_eq!(filed("source", "'x'"), "leaf 20: it is filed under source `x`, but says `claude-code`");
    assert_eq!(filed("kind", "'x'"), "leaf 20: it is filed under kind `x`, but says `decision`");
    assert!(filed("id", "'x'").starts_with("leaf 20: it is filed under id `x`, but says `01"));
    assert_eq!(
        filed("ts", "0"),
        "leaf 20: it is filed under time `0 ms`, but says `2026-11-15T08:00:00.020Z`"
    );
}

#[test]
fn a_forged_checkpoint() {
    let test = Test::filled();
    let forged = note(&test, 33).replacen("\n33\n", "\n41\n", 1);
    test.database().execute("UPDATE checkpoints SET note = ?1 WHERE size = 41", [&forged]).unwrap();
    assert_eq!(
        test.complaint(),
        "the checkpoint of 41 leaves: the signature of `example.com/ledger` does not fit the text"
    );
    let nonsense = "UPDATE checkpoints SET note = 'nonsense' WHERE size = 41";
    assert_eq!(
        sql(nonsense),
        "the checkpoint of 41 leaves: not a signed note: no empty line before signatures"
    );
}

#[test]
fn a_checkpoint_by_another_key() {
    let test = Test::filled();
    resign(&test, &*key(2));
    let complaint = test.complaint();
    assert!(
        complaint.starts_with("the checkpoint of 41 leaves: signed by an unknown key: `example.com/ledger+"),
        "{complaint}"
    );
}

#[test]
fn the_whole_log_written_anew_with_another_key() {
    let test = Test::new();
    let mut options = options();
    options.key = Some(key(2));
    let ledger = Ledger::open(&test.dir, options).unwrap().ledger;
    ledger.append(entry(1)).unwrap();
    ledger.close().unwrap();
    let (mine, theirs) = (key(1).key().id(), key(2).key().id());
    let expected = format!(
        "signed by an unknown key: `example.com/ledger+{theirs}`, you gave `example.com/ledger+{mine}`"
    );
    assert_eq!(test.complaint(), expected);
    assert!(test.verify_with(Expect::default()).unwrap().on_first_use);
}

#[test]
fn a_checkpoint_of_another_log() {
    let test = Test::filled();
    let stranger = tenterhook_ledger::SoftwareKey::from_seed("example.com/other", &[1; 32]).unwrap();
    resign(&test, &stranger);
    assert_eq!(test.complaint(), "the checkpoint of 41 leaves: it is of another log, `example.com/other`");
}

#[test]
fn every_checkpoint_deleted() {
    let test = Test::filled();
    test.database().execute_batch("DELETE FROM checkpoints").unwrap();
    let removed = "all checkpoints were removed: the ledger signs one with its first record";
    assert_eq!(test.complaint(), removed, "although the head still signs every leaf");
    test.database().execute_batch(NO_HEAD).unwrap();
    assert_eq!(test.complaint(), "no checkpoint signs this log");
}

/// A ledger whose last leaves no checkpoint covers yet, as somebody finds it who stops the writer.
fn unpublished() -> Test {
    let test = Test::filled();
    let copy = Test::new();
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
    assert_eq!(test.complaint(), "leaves 41 to 43: they do not give the root that was signed");
    let error = Ledger::open(&test.dir, options()).err().unwrap().to_string();
    assert_eq!(error, "the store is damaged: the first 44 leaves are not those that were signed");
}

#[test]
fn a_leaf_that_is_not_published_yet_deleted() {
    let test = unpublished();
    test.database().execute_batch("DELETE FROM leaves WHERE seq = 43").unwrap();
    assert!(
        test.complaint().starts_with("leaves 41 to 42: nobody signed the last 2, "),
        "the head goes with the leaf it stands in: {}",
        test.complaint()
    );
    assert!(matches!(
        Ledger::open(&test.dir, options()),
        Err(tenterhook_ledger::OpenError::Unsigned { signed: 41, here: 43 })
    ));
}

#[test]
fn leaves_put_behind_the_head() {
    let test = Test::filled();
    let bytes = test.reader().get(40).unwrap().unwrap().bytes.unwrap();
    let text = String::from_utf8(bytes).unwrap().replace("\"seq\":40", "\"seq\":41");
    let copy = "INSERT INTO leaves SELECT 41, nodes, id || 'x', ts, kind, source, session, tool, verdict, rule, ?1, salt, payload, erased, zeroblob(64) FROM leaves WHERE seq = 40";
    let text = text.replacen("\",\"ts\"", "x\",\"ts\"", 1);
    test.database().execute(copy, [text.as_bytes()]).unwrap();
    rehash(&test);
    assert!(
        test.complaint().starts_with("leaves 41 to 41: nobody signed the last 1, "),
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
        let test = Test::filled();
        test.database().execute_batch(sql).unwrap();
        (test.complaint(), Ledger::open(&test.dir, options()).err().map(|error| error.to_string()))
    };
    let (complaint, error) = forge("UPDATE leaves SET head = randomblob(64) WHERE seq = 40");
    assert_eq!(
        complaint,
        "the checkpoint of 41 leaves: the signature of `example.com/ledger` does not fit the text"
    );
    assert_eq!(error.unwrap(), "the store is damaged: the first 41 leaves are not those that were signed");
    let (complaint, _) = forge("UPDATE leaves SET head = x'00' WHERE seq = 40");
    assert_eq!(
        complaint,
        "the checkpoint of 41 leaves: the signature of `example.com/ledger` does not fit the text"
    );
    let (complaint, _) =
        forge("UPDATE leaves SET head = (SELECT head FROM leaves WHERE seq = 40) WHERE seq = 39");
    assert_eq!(complaint, "leaf 39: it carries the head, which only the last leaf does");
}
