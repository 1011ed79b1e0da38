// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A store of an older format is read without changes, and migrated when it is opened for writing.

use tenterhook_ledger::{Appended, Filter, Ledger};

use crate::common::{TestLedger, entry, event, options, record};

const FORMAT_1: &str = "CREATE TABLE leaves (
        seq INTEGER PRIMARY KEY,
        nodes BLOB NOT NULL,
        id TEXT NOT NULL UNIQUE,
        ts INTEGER NOT NULL,
        kind TEXT NOT NULL,
        source TEXT,
        session TEXT,
        tool TEXT,
        verdict TEXT,
        rule TEXT,
        bytes BLOB,
        salt BLOB,
        payload BLOB,
        erased INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE INDEX leaves_ts ON leaves (ts);
    CREATE INDEX leaves_session ON leaves (session) WHERE session IS NOT NULL;
    CREATE INDEX leaves_rule ON leaves (rule) WHERE rule IS NOT NULL;
    CREATE INDEX leaves_verdict ON leaves (verdict) WHERE verdict IN ('ask', 'defer', 'deny');
    CREATE INDEX leaves_kind ON leaves (kind) WHERE kind <> 'decision';
    CREATE TABLE checkpoints (size INTEGER PRIMARY KEY, at INTEGER NOT NULL, note TEXT NOT NULL) STRICT;
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;";

/// A ledger of format 1 with 601 leaves and pages of 4096 bytes.
fn of_format_1() -> TestLedger {
    let test = TestLedger::new();
    let ledger = test.open();
    record(&ledger, 1..=600);
    ledger.close().unwrap();
    let (new, old) = (test.dir.join("ledger.db"), test.dir.join("old.db"));
    let database = rusqlite::Connection::open(&old).unwrap();
    database.execute_batch("PRAGMA page_size = 4096; PRAGMA journal_mode = wal").unwrap();
    database.execute_batch(FORMAT_1).unwrap();
    let copy = format!(
        "ATTACH '{}' AS new; INSERT INTO leaves SELECT seq, nodes, id, ts, kind, source, session, tool, verdict, rule, bytes, salt, payload, erased FROM new.leaves;
        INSERT INTO checkpoints SELECT * FROM new.checkpoints; INSERT INTO meta SELECT * FROM new.meta;
        DETACH new; PRAGMA user_version = 1",
        new.display()
    );
    database.execute_batch(&copy).unwrap();
    database.close().unwrap();
    std::fs::rename(old, new).unwrap();
    test
}

fn denied(test: &TestLedger) -> usize {
    let filter = Filter { verdict: Some("deny".into()), ..Filter::default() };
    assert_eq!(test.reader().stats(&filter).unwrap().leaves, 150);
    test.reader().query(&filter, 1000).unwrap().records.len()
}

#[test]
fn a_store_of_format_1_is_read_as_it_is() {
    let test = of_format_1();
    assert_eq!(test.verify().unwrap().size, 601);
    assert_eq!(denied(&test), 150);
    assert_eq!(test.reader().find(&event(17).id.to_string()).unwrap(), Some(17));
}

#[test]
fn a_store_of_format_1_is_brought_to_the_newest() {
    let test = of_format_1();
    let before = test.verify().unwrap();
    let opened = Ledger::open(&test.dir, options()).unwrap();
    assert_eq!(opened.recovered, ["migrated the store from format 1 to format 6"]);
    assert_eq!(test.verify().unwrap(), before, "all leaves are the same, and indexed");
    assert_eq!(denied(&test), 150);
    for number in [1, 300, 600] {
        assert_eq!(opened.ledger.append(entry(number)).unwrap(), Appended::AlreadyThere { seq: number });
        assert_eq!(test.reader().find(&event(number).id.to_string()).unwrap(), Some(number));
    }
    record(&opened.ledger, 601..=800);
    opened.ledger.close().unwrap();
    assert_eq!(test.verify().unwrap().size, 801);
    assert_eq!(Ledger::open(&test.dir, options()).unwrap().recovered, [""; 0]);
}

/// A store of format 3 keeps its head as a note, and may have leaves that only the head signs.
fn of_format_3() -> TestLedger {
    let test = TestLedger::new();
    let ledger = test.open();
    record(&ledger, 1..=20);
    let copy = TestLedger::new();
    std::fs::create_dir(&copy.dir).unwrap();
    std::fs::set_permissions(&copy.dir, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    for name in ["ledger.db", "ledger.db-wal", "checkpoint"] {
        std::fs::copy(test.dir.join(name), copy.dir.join(name)).unwrap();
    }
    let head = copy.reader().head().unwrap().unwrap();
    let database = copy.database();
    database.execute("INSERT INTO meta VALUES ('head', ?1)", [head]).unwrap();
    database
        .execute_batch(
            "ALTER TABLE leaves DROP COLUMN head; DROP TABLE counters; DROP TABLE text_filters; PRAGMA user_version = 3",
        )
        .unwrap();
    copy
}

#[test]
fn the_head_of_format_3_signs_as_before_and_becomes_a_checkpoint() {
    let test = of_format_3();
    let before = test.verify().unwrap();
    assert_eq!((before.size, before.unpublished, before.checkpoints), (21, 20, 1));
    let opened = Ledger::open(&test.dir, options()).unwrap();
    assert!(opened.recovered.contains(&"migrated the store from format 3 to format 6".to_owned()));
    let after = test.verify().unwrap();
    assert_eq!((after.size, after.root, after.unpublished), (21, before.root, 0));
    record(&opened.ledger, 21..=25);
    assert_eq!(test.verify().unwrap().unpublished, 5);
    drop(opened);
    assert_eq!(test.verify().unwrap().size, 26);
}

#[test]
fn leaves_after_the_head_of_format_3_are_refused() {
    let test = of_format_3();
    test.database().execute_batch("DELETE FROM meta WHERE name = 'head'").unwrap();
    assert!(test.complaint().contains("the last 20 are not signed"), "{}", test.complaint());
    assert!(Ledger::open(&test.dir, options()).is_err());
}
