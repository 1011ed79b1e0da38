// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads a ledger. Any number of readers in any process can run while the writer is working.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};

use super::error::ReadError;
use super::rows::{self, StoredNodes, get_u64, sql_i64};
use super::{DATABASE_FILE, block};
use crate::checkpoint::Checkpoint;
use crate::envelope::Envelope;
use crate::export;
use crate::hash::Hash;
use crate::note::{Note, SignatureLine, VerifierKey};
use crate::proof::LeafProof;
use crate::tiles::{self, TilesError};
use crate::tree;
use crate::verify::{LeafRef, PayloadRef};

/// A ledger that is open for reading.
#[derive(Debug)]
pub struct Reader {
    pub(super) connection: Connection,
    /// Directory of the ledger.
    pub(super) dir: PathBuf,
    /// The store's format. Older formats are read without migration.
    format: i64,
}

/// A record in its stored form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// Number of the record.
    pub seq: u64,
    /// The leaf's hash.
    pub hash: Hash,
    /// The envelope's bytes; `None` if the record was pruned.
    pub bytes: Option<Vec<u8>>,
    /// The payload; `None` if the record has none or was pruned.
    pub payload: Option<StoredPayload>,
    /// Whether this is an undelivered decision that a later record supersedes.
    pub undelivered: bool,
}

/// A payload in its stored form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPayload {
    /// Salt of the commitment; `None` if the payload was erased.
    pub salt: Option<Vec<u8>>,
    /// The payload's bytes; `None` if the payload was erased or was too large to be stored.
    pub bytes: Option<Vec<u8>>,
}

/// File format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileFormat {
    /// JSON lines that can be verified on their own.
    Jsonl,
    /// CSV, which cannot be verified.
    Csv,
}

pub(super) const RECORD_COLUMNS: &str = "l.seq, l.nodes, l.bytes, l.erased, l.salt, l.payload FROM leaves l";

impl StoredRecord {
    pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        with_leaf(row, |item, _| Self {
            undelivered: false,
            seq: item.seq,
            hash: item.hash,
            bytes: item.bytes.map(ToOwned::to_owned),
            payload: item.payload.map(|payload| StoredPayload {
                salt: payload.salt.map(ToOwned::to_owned),
                bytes: payload.bytes.map(ToOwned::to_owned),
            }),
        })
    }

    /// Parses the envelope; `None` if the record was pruned.
    pub fn envelope(&self) -> Option<Result<Envelope<'_>, serde_json::Error>> {
        self.bytes.as_deref().map(Envelope::parse)
    }
}

/// Calls `visit` with a row without copying it. The arguments are the leaf and the hashes in its row.
pub(super) fn with_leaf<T>(
    row: &Row<'_>,
    visit: impl FnOnce(LeafRef<'_>, &[u8]) -> T,
) -> rusqlite::Result<T> {
    let nodes = row.get_ref(1)?.as_blob()?;
    // A zero hash matches no leaf, so the verifier reports a row without a hash.
    let hash = tree::hash_at_level(nodes, 0).unwrap_or(Hash([0; 32]));
    let (salt, bytes) = (row.get_ref(4)?.as_blob_or_null()?, row.get_ref(5)?.as_blob_or_null()?);
    let present = salt.is_some() || bytes.is_some() || row.get_ref(3)?.as_i64()? != 0;
    let payload = present.then_some(PayloadRef { salt, bytes });
    let item = LeafRef { seq: get_u64(row, 0)?, bytes: row.get_ref(2)?.as_blob_or_null()?, hash, payload };
    Ok(visit(item, nodes))
}

impl Reader {
    /// Opens the ledger in this directory.
    pub fn open(dir: &Path) -> Result<Self, ReadError> {
        let path = dir.join(DATABASE_FILE);
        if !path.is_file() {
            return Err(ReadError(format!("no ledger in `{}`", dir.display())));
        }
        let connection = connect(&path).or_else(|error| {
            // On a read-only disk without a journal, no other process can change the database.
            let journal = dir.join(format!("{DATABASE_FILE}-wal"));
            if journal.exists() { Err(error) } else { connect_immutable(&path) }
        })?;
        connection.busy_timeout(Duration::from_secs(5))?;
        let format = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        Ok(Self { connection, dir: dir.to_owned(), format })
    }

    /// Whether the store has a table of undelivered decisions.
    pub(super) fn knows_undelivered(&self) -> bool {
        self.format >= 3
    }

    /// Whether the last leaf's row contains the head signature.
    pub(super) fn has_heads(&self) -> bool {
        self.format >= 4
    }

    /// Returns the first leaf whose row must have a value in the `head` column.
    pub(super) fn first_head_row(&self) -> Result<u64, ReadError> {
        let from = if self.format >= 5 { rows::get_meta(&self.connection, "heads_from")? } else { None };
        Ok(from.and_then(|from| from.parse().ok()).unwrap_or(u64::MAX))
    }

    /// Whether full blocks have counters.
    pub(super) fn has_counters(&self) -> bool {
        self.format >= 6
    }

    /// Whether full blocks have text filters.
    pub(super) fn has_text_filters(&self) -> bool {
        self.format >= 6
    }

    /// Whether leaves are indexed by blocks.
    pub(super) fn has_block_index(&self) -> bool {
        self.format >= 2
    }

    /// Returns the number of the first leaf that is not indexed.
    pub(super) fn first_unindexed(&self) -> Result<u64, ReadError> {
        Ok(if self.has_block_index() { block::indexed_end(&self.connection)? } else { 0 })
    }

    /// Returns the number of records.
    pub fn size(&self) -> Result<u64, ReadError> {
        Ok(rows::size(&self.connection)?)
    }

    /// Returns the current key according to the ledger, without verifying it.
    pub fn key(&self) -> Result<Option<VerifierKey>, ReadError> {
        Ok(rows::get_meta(&self.connection, "key")?.and_then(|key| key.parse().ok()))
    }

    /// Reads one record.
    pub fn get(&self, seq: u64) -> Result<Option<StoredRecord>, ReadError> {
        let mut statement =
            self.connection.prepare_cached(&format!("SELECT {RECORD_COLUMNS} WHERE l.seq = ?1"))?;
        let record = statement.query_row([sql_i64(seq)], StoredRecord::from_row).optional()?;
        Ok(self.mark_undelivered(record.into_iter().collect())?.pop())
    }

    /// Returns the number of the record with this event id.
    pub fn find(&self, id: &str) -> Result<Option<u64>, ReadError> {
        if self.has_block_index()
            && let Some(seq) = block::find(&self.connection, id)?
        {
            return Ok(Some(seq));
        }
        let sql = "SELECT seq FROM leaves WHERE seq >= ?1 AND id = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_row(params![sql_i64(self.first_unindexed()?), id], |row| get_u64(row, 0));
        Ok(found.optional()?)
    }

    /// Reads at most `limit` records starting at `from`, oldest first.
    pub fn records_from(&self, from: u64, limit: u64) -> Result<Vec<StoredRecord>, ReadError> {
        let sql = format!("SELECT {RECORD_COLUMNS} WHERE l.seq >= ?1 ORDER BY l.seq LIMIT ?2");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let records = statement.query_map([sql_i64(from), sql_i64(limit)], StoredRecord::from_row)?;
        self.mark_undelivered(records.collect::<Result<_, _>>()?)
    }

    /// Reads the latest checkpoint: its size and the signed note.
    pub fn checkpoint(&self) -> Result<Option<(u64, String)>, ReadError> {
        Ok(rows::last_checkpoint(&self.connection)?)
    }

    /// Returns the head: a signed checkpoint over all leaves. It is not necessarily published yet.
    pub fn head(&self) -> Result<Option<String>, ReadError> {
        let Some(signature) = self.head_signature()? else {
            return Ok(if self.has_heads() { None } else { rows::get_meta(&self.connection, "head")? });
        };
        let key = rows::get_meta(&self.connection, "key")?.and_then(|key| key.parse::<VerifierKey>().ok());
        let Some(key) = key else { return Ok(None) };
        let size = self.size()?;
        let checkpoint = Checkpoint { origin: key.name().to_owned(), size, root: self.root(size)? };
        let signatures = vec![SignatureLine::new(&key, signature)];
        Ok(Some(Note { text: checkpoint.text(), signatures }.to_string()))
    }

    /// Returns the stored head signature.
    pub(super) fn head_signature(&self) -> Result<Option<Vec<u8>>, ReadError> {
        Ok(if self.has_heads() { rows::head(&self.connection)? } else { None })
    }

    /// Returns the root hash of the tree with this many leaves.
    pub fn root(&self, size: u64) -> Result<Hash, ReadError> {
        Ok(tree::root(&StoredNodes(&self.connection), size)?)
    }

    /// Returns the proof of a leaf under the latest checkpoint; `None` if the leaf was pruned or is not covered yet.
    pub fn proof(&self, seq: u64) -> Result<Option<LeafProof>, ReadError> {
        let Some((size, checkpoint)) = self.checkpoint()? else { return Ok(None) };
        let Some(path) = self.inclusion_proof(seq, size)? else { return Ok(None) };
        let leaf = self.get(seq)?.and_then(|record| record.bytes);
        Ok(leaf.map(|leaf| LeafProof { leaf, seq, path, checkpoint }))
    }

    /// Returns the path from a leaf to the root of the tree of `size` leaves.
    pub fn inclusion_proof(&self, seq: u64, size: u64) -> Result<Option<Vec<Hash>>, ReadError> {
        Ok(tree::inclusion_proof(&StoredNodes(&self.connection), seq, size)?)
    }

    /// Returns the proof that the tree of `size` leaves extends the tree of `old` leaves.
    pub fn consistency_proof(&self, old: u64, size: u64) -> Result<Option<Vec<Hash>>, ReadError> {
        Ok(tree::consistency_proof(&StoredNodes(&self.connection), old, size)?)
    }

    /// Exports all leaves that the latest checkpoint covers. Returns the number of leaves.
    pub fn export(&self, format: FileFormat, to: &mut dyn Write) -> Result<u64, ReadError> {
        let io = |error: std::io::Error| ReadError(format!("cannot write the export: {error}"));
        let Some((size, note)) = self.checkpoint()? else {
            return Err(ReadError("the ledger has no checkpoint yet".into()));
        };
        match format {
            FileFormat::Jsonl => {
                let (checkpoint, _) =
                    Checkpoint::parse(&note).map_err(|error| ReadError(error.to_string()))?;
                export::write_head(to, &checkpoint.origin, size).map_err(io)?;
            }
            FileFormat::Csv => export::write_csv_head(to).map_err(io)?,
        }
        let mut notes = self.connection.prepare("SELECT size, note FROM checkpoints ORDER BY size")?;
        let mut notes =
            notes.query_map([], |row| Ok((get_u64(row, 0)?, row.get::<_, String>(1)?)))?.peekable();
        let mut statement =
            self.connection.prepare(&format!("SELECT {RECORD_COLUMNS} WHERE l.seq < ?1 ORDER BY l.seq"))?;
        let mut leaves = statement.query([sql_i64(size)])?;
        while let Some(row) = leaves.next()? {
            let seq = get_u64(row, 0)?;
            with_leaf(row, |item, _| match (format, item.bytes.map(Envelope::parse)) {
                (FileFormat::Jsonl, _) => export::write_leaf(to, &item),
                (FileFormat::Csv, Some(Ok(leaf))) => export::write_csv_row(to, &leaf),
                // Pruned leaves have no CSV row; `verify` reports invalid leaves.
                (FileFormat::Csv, _) => Ok(()),
            })?
            .map_err(io)?;
            while let Some(next) =
                notes.next_if(|next| next.as_ref().map_or(true, |(size, _)| *size <= seq + 1))
            {
                if format == FileFormat::Jsonl {
                    export::write_checkpoint(to, &next?.1).map_err(io)?;
                }
            }
        }
        to.flush().map_err(io)?;
        Ok(size)
    }

    /// Exports all leaves that the latest checkpoint covers as tiles. Returns the number of leaves.
    pub fn export_tiles(&self, dir: &Path) -> Result<u64, TilesError> {
        let read = |error: ReadError| TilesError::Read(error.to_string());
        let (size, note) = self
            .checkpoint()
            .map_err(read)?
            .ok_or_else(|| TilesError::Read("the ledger has no checkpoint yet".into()))?;
        let mut bytes = |seq: u64| -> rusqlite::Result<Option<Vec<u8>>> {
            let mut statement = self.connection.prepare_cached("SELECT bytes FROM leaves WHERE seq = ?1")?;
            statement.query_row([sql_i64(seq)], |row| row.get(0))
        };
        tiles::write(dir, (&note, size), &StoredNodes(&self.connection), &mut bytes)?;
        Ok(size)
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    check_readable(Connection::open_with_flags(path, flags)?)
}

fn connect_immutable(path: &Path) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let path = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    check_readable(Connection::open_with_flags(format!("file:{path}?immutable=1"), flags)?)
}

/// Runs a query, because SQLite does not open the file before the first query.
fn check_readable(connection: Connection) -> rusqlite::Result<Connection> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}
