// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The store's tables, and migrations from older formats.

use rusqlite::{Connection, TransactionBehavior};

use super::block;
use super::error::OpenError;

/// One migration for each format. A released migration must not change.
const MIGRATIONS: &[&str] = &[
    // 1. A leaf's row contains the hashes of the subtrees that the leaf completes (`nodes`), its indexed
    //    columns, its bytes and its payload. The payload is the last column, so that other columns can be
    //    read without it. Most decisions are `none` or `allow` and name no rule, so two indexes are partial.
    "CREATE TABLE leaves (
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
    CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;",
    // 2. Leaves are indexed by blocks of 256 (see `block.rs`), so that an append writes one page. The table is copied to
    // drop the unique constraint on ids.
    "ALTER TABLE leaves RENAME TO leaves_1;
    CREATE TABLE leaves (
        seq INTEGER PRIMARY KEY,
        nodes BLOB NOT NULL,
        id TEXT NOT NULL,
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
    INSERT INTO leaves SELECT seq, nodes, id, ts, kind, source, session, tool, verdict, rule, bytes, salt, payload, erased
        FROM leaves_1 ORDER BY seq;
    DROP TABLE leaves_1;
    CREATE TABLE ids (id TEXT PRIMARY KEY, seq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE filed (field TEXT, value TEXT, block INTEGER, PRIMARY KEY (field, value, block)) STRICT, WITHOUT ROWID;
    CREATE TABLE blocks (block INTEGER PRIMARY KEY, first_ts INTEGER NOT NULL, last_ts INTEGER NOT NULL) STRICT;
    CREATE TEMP VIEW full AS SELECT * FROM leaves WHERE seq < (SELECT coalesce(max(seq) + 1, 0) / 256 * 256 FROM leaves);
    INSERT INTO ids SELECT id, seq FROM full ORDER BY id;
    INSERT INTO filed
        SELECT DISTINCT 'kind', kind, seq / 256 FROM full
        UNION SELECT 'source', source, seq / 256 FROM full WHERE source IS NOT NULL
        UNION SELECT 'session', session, seq / 256 FROM full WHERE session IS NOT NULL
        UNION SELECT 'tool', tool, seq / 256 FROM full WHERE tool IS NOT NULL
        UNION SELECT 'verdict', verdict, seq / 256 FROM full WHERE verdict IS NOT NULL
        UNION SELECT 'rule', rule, seq / 256 FROM full WHERE rule IS NOT NULL;
    INSERT INTO blocks SELECT seq / 256, min(ts), max(ts) FROM full GROUP BY seq / 256;
    DROP VIEW temp.full;",
    // 3. Undelivered decisions (see `undelivered.rs`).
    "CREATE TABLE undelivered (seq INTEGER PRIMARY KEY, by INTEGER NOT NULL) STRICT;",
    // 4. The head becomes a signature in the last leaf's row, so that a commit needs no separate page for it. A head
    //    that was stored as a note becomes a checkpoint.
    "ALTER TABLE leaves ADD COLUMN head BLOB;
    INSERT OR IGNORE INTO checkpoints
        SELECT CAST(substr(value, instr(value, char(10)) + 1) AS INTEGER), unixepoch() * 1000, value
        FROM meta WHERE name = 'head';
    DELETE FROM meta WHERE name = 'head';",
    // 5. Stores a leaf number. Every row from this number on has a `head` value; earlier rows may have none.
    "INSERT OR REPLACE INTO meta SELECT 'heads_from', CAST(coalesce(max(seq) + 1, 0) AS TEXT) FROM leaves;",
    // 6. Counters for statistics (see `counters.rs`) and filters for text search (see `text_filter.rs`).
    "CREATE TABLE counters (
        hour INTEGER NOT NULL,
        session ANY NOT NULL,
        source ANY NOT NULL,
        kind TEXT NOT NULL,
        tool ANY NOT NULL,
        verdict ANY NOT NULL,
        rule ANY NOT NULL,
        records INTEGER NOT NULL,
        undelivered INTEGER NOT NULL,
        payloads INTEGER NOT NULL,
        payload_bytes INTEGER NOT NULL,
        erased INTEGER NOT NULL,
        pruned INTEGER NOT NULL,
        PRIMARY KEY (hour, session, source, kind, tool, verdict, rule)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE text_filters (block INTEGER PRIMARY KEY, bits BLOB NOT NULL) STRICT;",
];
/// First format with counters and text filters for full blocks.
const COUNTERS_FORMAT: i64 = 6;

/// The newest store format.
pub const STORE_FORMAT: usize = MIGRATIONS.len();

/// Migrates a store to the newest format. Returns a message if the store was older.
pub(crate) fn migrate(connection: &mut Connection) -> Result<Option<String>, OpenError> {
    let known = i64::try_from(STORE_FORMAT).unwrap_or(i64::MAX);
    let found: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > known || found < 0 {
        return Err(OpenError::Newer { found, known });
    }
    if found == known {
        return Ok(None);
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for step in MIGRATIONS.iter().skip(usize::try_from(found).unwrap_or(0)) {
        transaction.execute_batch(step)?;
    }
    if found < COUNTERS_FORMAT {
        block::index_blocks(&transaction)?;
    }
    transaction.pragma_update(None, "user_version", known)?;
    transaction.commit()?;
    Ok((found > 0).then(|| format!("migrated the store from format {found} to format {known}")))
}
