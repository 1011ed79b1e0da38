// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rows of the store.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::entry::Columns;
use crate::hash::{HASH_BYTES, Hash};
use crate::payload::SealedPayload;
use crate::tree::{Nodes, keeper};

/// SQLite counts with a sign, we do not; no ledger gets that far.
pub(crate) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The column as a number without a sign.
pub(crate) fn unsigned(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(at)?;
    u64::try_from(number).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(at, number))
}

/// The hashes in the leaves' rows.
pub(crate) struct StoredNodes<'c>(pub(crate) &'c Connection);

impl Nodes for StoredNodes<'_> {
    type Error = rusqlite::Error;

    fn node(&self, level: u32, index: u64) -> Result<Hash, rusqlite::Error> {
        let mut statement =
            self.0.prepare_cached("SELECT substr(nodes, ?2, 32) FROM leaves WHERE seq = ?1")?;
        let start = i64::from(level) * i64::try_from(HASH_BYTES).unwrap_or(32) + 1;
        statement.query_row(params![signed(keeper(level, index)), start], |row| {
            let bytes = row.get_ref(0)?.as_blob()?;
            let wrong =
                || rusqlite::Error::FromSqlConversionFailure(0, Type::Blob, "a hash has 32 bytes".into());
            Hash::from_slice(bytes).ok_or_else(wrong)
        })
    }
}

/// How many leaves there are.
pub(crate) fn size(connection: &Connection) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached("SELECT coalesce(max(seq) + 1, 0) FROM leaves")?;
    statement.query_row([], |row| unsigned(row, 0))
}

/// A leaf on its way in.
pub(crate) struct NewLeaf<'a> {
    pub(crate) seq: u64,
    /// The hashes it completes, one after another.
    pub(crate) nodes: &'a [u8],
    pub(crate) id: &'a str,
    pub(crate) ts: i64,
    pub(crate) kind: &'a str,
    pub(crate) columns: &'a Columns,
    pub(crate) bytes: &'a [u8],
    pub(crate) payload: Option<&'a SealedPayload>,
    /// The signature over the tree up to this leaf, if it is the last of its commit.
    pub(crate) head: Option<&'a [u8]>,
}

/// Writes a leaf.
pub(crate) fn insert(connection: &Connection, leaf: &NewLeaf<'_>) -> rusqlite::Result<()> {
    let columns = leaf.columns;
    let mut statement = connection.prepare_cached(
        "INSERT INTO leaves (seq, nodes, id, ts, kind, source, session, tool, verdict, rule, bytes, salt, payload, head)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    statement.execute(params![
        signed(leaf.seq),
        leaf.nodes,
        leaf.id,
        leaf.ts,
        leaf.kind,
        columns.source,
        columns.session,
        columns.tool,
        columns.verdict,
        columns.rule,
        leaf.bytes,
        leaf.payload.map(|payload| payload.salt.as_slice()),
        leaf.payload.and_then(|payload| payload.bytes.as_deref()),
        leaf.head.unwrap_or(&NO_HEAD)
    ])?;
    Ok(())
}

/// A word about the ledger itself.
pub(crate) fn meta(connection: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE name = ?1")?;
    statement.query_row([name], |row| row.get(0)).optional()
}

/// Sets a word about the ledger itself.
pub(crate) fn set_meta(connection: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2";
    connection.prepare_cached(sql)?.execute([name, value]).map(drop)
}

/// Stores a checkpoint.
pub(crate) fn set_checkpoint(
    connection: &Connection,
    size: u64,
    at: u64,
    note: &str,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO checkpoints (size, at, note) VALUES (?1, ?2, ?3)")?
        .execute(params![signed(size), signed(at), note])
        .map(drop)
}

/// What stands in a row that is not the head's: as long as a signature, so that the row stays where it is
/// when the head moves on.
pub(crate) const NO_HEAD: [u8; 64] = [0; 64];

/// Puts the head's signature into a row, or takes it out.
pub(crate) fn set_head(connection: &Connection, seq: u64, head: &[u8]) -> rusqlite::Result<()> {
    let sql = "UPDATE leaves SET head = ?2 WHERE seq = ?1";
    connection.prepare_cached(sql)?.execute(params![signed(seq), head]).map(drop)
}

/// The head: the signature in the last row, over the tree of all leaves.
pub(crate) fn head(connection: &Connection) -> rusqlite::Result<Option<Vec<u8>>> {
    let sql = "SELECT head FROM leaves ORDER BY seq DESC LIMIT 1";
    let head = connection.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
    Ok(head.flatten().filter(|head: &Vec<u8>| *head != NO_HEAD))
}

/// The latest checkpoint: its size and its note.
pub(crate) fn last_checkpoint(connection: &Connection) -> rusqlite::Result<Option<(u64, String)>> {
    let sql = "SELECT size, note FROM checkpoints ORDER BY size DESC LIMIT 1";
    connection.prepare_cached(sql)?.query_row([], |row| Ok((unsigned(row, 0)?, row.get(1)?))).optional()
}
