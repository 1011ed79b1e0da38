// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads and writes the store's tables.

use rusqlite::types::Type;
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::entry::LookupColumns;
use crate::hash::{HASH_BYTES, Hash};
use crate::payload::SealedPayload;
use crate::tree::{Nodes, holding_leaf};

/// Converts a number for SQLite, which only has signed integers.
pub(crate) fn sql_i64(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Reads a column as an unsigned number.
pub(crate) fn get_u64(row: &Row<'_>, at: usize) -> rusqlite::Result<u64> {
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
        statement.query_row(params![sql_i64(holding_leaf(level, index)), start], |row| {
            let bytes = row.get_ref(0)?.as_blob()?;
            let wrong =
                || rusqlite::Error::FromSqlConversionFailure(0, Type::Blob, "invalid hash length".into());
            Hash::from_slice(bytes).ok_or_else(wrong)
        })
    }
}

pub(crate) fn size(connection: &Connection) -> rusqlite::Result<u64> {
    let mut statement = connection.prepare_cached("SELECT coalesce(max(seq) + 1, 0) FROM leaves")?;
    statement.query_row([], |row| get_u64(row, 0))
}

/// A leaf to insert.
pub(crate) struct NewLeaf<'a> {
    pub(crate) seq: u64,
    /// The hashes that the leaf completes, concatenated.
    pub(crate) nodes: &'a [u8],
    pub(crate) id: &'a str,
    pub(crate) ts: i64,
    pub(crate) kind: &'a str,
    pub(crate) columns: &'a LookupColumns,
    pub(crate) bytes: &'a [u8],
    pub(crate) payload: Option<&'a SealedPayload>,
    /// The signature over the tree up to this leaf, if this is the last leaf in its commit.
    pub(crate) head: Option<&'a [u8]>,
}

pub(crate) fn insert_leaf(connection: &Connection, leaf: &NewLeaf<'_>) -> rusqlite::Result<()> {
    let columns = leaf.columns;
    let mut statement = connection.prepare_cached(
        "INSERT INTO leaves (seq, nodes, id, ts, kind, source, session, tool, verdict, rule, bytes, salt, payload, head)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
    )?;
    statement.execute(params![
        sql_i64(leaf.seq),
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

/// Reads a value from the `meta` table.
pub(crate) fn get_meta(connection: &Connection, name: &str) -> rusqlite::Result<Option<String>> {
    let mut statement = connection.prepare_cached("SELECT value FROM meta WHERE name = ?1")?;
    statement.query_row([name], |row| row.get(0)).optional()
}

/// Sets a value in the `meta` table.
pub(crate) fn set_meta(connection: &Connection, name: &str, value: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO meta (name, value) VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET value = ?2";
    connection.prepare_cached(sql)?.execute([name, value]).map(drop)
}

pub(crate) fn set_checkpoint(
    connection: &Connection,
    size: u64,
    at: u64,
    note: &str,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO checkpoints (size, at, note) VALUES (?1, ?2, ?3)")?
        .execute(params![sql_i64(size), sql_i64(at), note])
        .map(drop)
}

/// Value of the `head` column in rows without the head. It is as long as a signature, so that a row's size does not
/// change when the head moves to the next row.
pub(crate) const NO_HEAD: [u8; 64] = [0; 64];

/// Writes the head signature into a row, or removes it.
pub(crate) fn set_head(connection: &Connection, seq: u64, head: &[u8]) -> rusqlite::Result<()> {
    let sql = "UPDATE leaves SET head = ?2 WHERE seq = ?1";
    connection.prepare_cached(sql)?.execute(params![sql_i64(seq), head]).map(drop)
}

/// Reads the head from the last row: the signature over the tree of all leaves.
pub(crate) fn head(connection: &Connection) -> rusqlite::Result<Option<Vec<u8>>> {
    let sql = "SELECT head FROM leaves ORDER BY seq DESC LIMIT 1";
    let head = connection.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?;
    Ok(head.flatten().filter(|head: &Vec<u8>| *head != NO_HEAD))
}

/// Reads the latest checkpoint: its size and its note.
pub(crate) fn last_checkpoint(connection: &Connection) -> rusqlite::Result<Option<(u64, String)>> {
    let sql = "SELECT size, note FROM checkpoints ORDER BY size DESC LIMIT 1";
    connection.prepare_cached(sql)?.query_row([], |row| Ok((get_u64(row, 0)?, row.get(1)?))).optional()
}
