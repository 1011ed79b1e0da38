// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reading a ledger. Any number of readers, in any process, beside the writer.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, OptionalExtension, Row, params};

use super::error::ReadFailed;
use super::rows::{self, StoredNodes, signed, unsigned};
use super::{DATABASE, block};
use crate::checkpoint::Checkpoint;
use crate::export;
use crate::hash::Hash;
use crate::note::{Line, Note, VerifierKey};
use crate::proof::LeafProof;
use crate::record::Envelope;
use crate::tiles::{self, TilesError};
use crate::tree;
use crate::verify::{Item, PayloadItem};

/// A ledger open for reading.
#[derive(Debug)]
pub struct Reader {
    pub(super) connection: Connection,
    /// The ledger's directory.
    pub(super) dir: PathBuf,
    /// The store's format; one that is older than ours is read as it is.
    format: i64,
}

/// A leaf as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its place.
    pub seq: u64,
    /// Its hash.
    pub hash: Hash,
    /// Its envelope; absent when it was pruned.
    pub bytes: Option<Vec<u8>>,
    /// Its payload, if it ever had one that is not pruned.
    pub payload: Option<StoredPayload>,
    /// Whether it is a decision that nobody heard: a later leaf supersedes it.
    pub undelivered: bool,
}

/// A payload as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredPayload {
    /// Absent when it was erased.
    pub salt: Option<Vec<u8>>,
    /// Absent when it was erased, or too large to be stored.
    pub bytes: Option<Vec<u8>>,
}

/// What an export looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON lines that verify by themselves.
    Jsonl,
    /// A table for people.
    Csv,
}

pub(super) const COLUMNS: &str = "l.seq, l.nodes, l.bytes, l.erased, l.salt, l.payload FROM leaves l";

// === impl Record ===

impl Record {
    pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        with_item(row, |item, _| Self {
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

    /// The envelope, read. Nothing when it was pruned.
    pub fn envelope(&self) -> Option<Result<Envelope<'_>, serde_json::Error>> {
        self.bytes.as_deref().map(Envelope::parse)
    }
}

/// Looks at a row without copying it: the leaf, and the hashes that its row holds.
pub(super) fn with_item<T>(row: &Row<'_>, look: impl FnOnce(Item<'_>, &[u8]) -> T) -> rusqlite::Result<T> {
    let nodes = row.get_ref(1)?.as_blob()?;
    // A row without a hash fits no leaf, so the verifier will name it.
    let hash = tree::at_level(nodes, 0).unwrap_or(Hash([0; 32]));
    let (salt, bytes) = (row.get_ref(4)?.as_blob_or_null()?, row.get_ref(5)?.as_blob_or_null()?);
    let present = salt.is_some() || bytes.is_some() || row.get_ref(3)?.as_i64()? != 0;
    let payload = present.then_some(PayloadItem { salt, bytes });
    let item = Item { seq: unsigned(row, 0)?, bytes: row.get_ref(2)?.as_blob_or_null()?, hash, payload };
    Ok(look(item, nodes))
}

// === impl Reader ===

impl Reader {
    /// Opens the ledger in this directory.
    pub fn open(dir: &Path) -> Result<Self, ReadFailed> {
        let path = dir.join(DATABASE);
        if !path.is_file() {
            return Err(ReadFailed(format!("there is no ledger in `{}`", dir.display())));
        }
        let connection = connect(&path).or_else(|error| {
            // A copy on a disk that cannot be written has nobody who could change it under us.
            let journal = dir.join(format!("{DATABASE}-wal"));
            if journal.exists() { Err(error) } else { connect_unchanging(&path) }
        })?;
        connection.busy_timeout(Duration::from_secs(5))?;
        let format = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        Ok(Self { connection, dir: dir.to_owned(), format })
    }

    /// Whether the store says which decisions nobody heard.
    pub(super) fn knows_undelivered(&self) -> bool {
        self.format >= 3
    }

    /// Whether the head is in the last leaf's row.
    pub(super) fn has_heads(&self) -> bool {
        self.format >= 4
    }

    /// The first leaf whose row must have the column that the head moves through.
    pub(super) fn heads_from(&self) -> Result<u64, ReadFailed> {
        let from = if self.format >= 5 { rows::meta(&self.connection, "heads_from")? } else { None };
        Ok(from.and_then(|from| from.parse().ok()).unwrap_or(u64::MAX))
    }

    /// Whether full blocks are counted.
    pub(super) fn has_counters(&self) -> bool {
        self.format >= 6
    }

    /// Whether full blocks have a filter for text.
    pub(super) fn has_text_filters(&self) -> bool {
        self.format >= 6
    }

    /// Whether leaves are filed by blocks.
    pub(super) fn is_filed(&self) -> bool {
        self.format >= 2
    }

    /// The first leaf that is not filed.
    pub(super) fn filed(&self) -> Result<u64, ReadFailed> {
        Ok(if self.is_filed() { block::end(&self.connection)? } else { 0 })
    }

    /// How many leaves there are.
    pub fn size(&self) -> Result<u64, ReadFailed> {
        Ok(rows::size(&self.connection)?)
    }

    /// The key that signs now, as the ledger has it. It proves nothing by itself.
    pub fn key(&self) -> Result<Option<VerifierKey>, ReadFailed> {
        Ok(rows::meta(&self.connection, "key")?.and_then(|key| key.parse().ok()))
    }

    /// One leaf.
    pub fn get(&self, seq: u64) -> Result<Option<Record>, ReadFailed> {
        let mut statement = self.connection.prepare_cached(&format!("SELECT {COLUMNS} WHERE l.seq = ?1"))?;
        let record = statement.query_row([signed(seq)], Record::from_row).optional()?;
        Ok(self.mark(record.into_iter().collect())?.pop())
    }

    /// The leaf of this event.
    pub fn find(&self, id: &str) -> Result<Option<u64>, ReadFailed> {
        if self.is_filed()
            && let Some(seq) = block::find(&self.connection, id)?
        {
            return Ok(Some(seq));
        }
        let sql = "SELECT seq FROM leaves WHERE seq >= ?1 AND id = ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let found = statement.query_row(params![signed(self.filed()?), id], |row| unsigned(row, 0));
        Ok(found.optional()?)
    }

    /// At most `limit` leaves from `from` on, oldest first: what `tail` shows as it comes.
    pub fn from(&self, from: u64, limit: u64) -> Result<Vec<Record>, ReadFailed> {
        let sql = format!("SELECT {COLUMNS} WHERE l.seq >= ?1 ORDER BY l.seq LIMIT ?2");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let records = statement.query_map([signed(from), signed(limit)], Record::from_row)?;
        self.mark(records.collect::<Result<_, _>>()?)
    }

    /// The latest checkpoint: its size and the signed note.
    pub fn checkpoint(&self) -> Result<Option<(u64, String)>, ReadFailed> {
        Ok(rows::last_checkpoint(&self.connection)?)
    }

    /// The head: a checkpoint of all leaves that was signed with the last of them and went nowhere yet.
    pub fn head(&self) -> Result<Option<String>, ReadFailed> {
        let Some(signature) = self.head_signature()? else {
            return Ok(if self.has_heads() { None } else { rows::meta(&self.connection, "head")? });
        };
        let key = rows::meta(&self.connection, "key")?.and_then(|key| key.parse::<VerifierKey>().ok());
        let Some(key) = key else { return Ok(None) };
        let size = self.size()?;
        let checkpoint = Checkpoint { origin: key.name().to_owned(), size, root: self.root(size)? };
        let signatures = vec![Line::new(&key, signature)];
        Ok(Some(Note { text: checkpoint.text(), signatures }.to_string()))
    }

    /// The head as the store has it.
    pub(super) fn head_signature(&self) -> Result<Option<Vec<u8>>, ReadFailed> {
        Ok(if self.has_heads() { rows::head(&self.connection)? } else { None })
    }

    /// The root of the tree of this many leaves.
    pub fn root(&self, size: u64) -> Result<Hash, ReadFailed> {
        Ok(tree::root(&StoredNodes(&self.connection), size)?)
    }

    /// The proof of one leaf under the latest checkpoint. Nothing when the leaf is pruned or not
    /// covered by a checkpoint yet.
    pub fn proof(&self, seq: u64) -> Result<Option<LeafProof>, ReadFailed> {
        let Some((size, checkpoint)) = self.checkpoint()? else { return Ok(None) };
        let Some(path) = self.inclusion(seq, size)? else { return Ok(None) };
        let leaf = self.get(seq)?.and_then(|record| record.bytes);
        Ok(leaf.map(|leaf| LeafProof { leaf, seq, path, checkpoint }))
    }

    /// The path from a leaf to the root of the tree of `size` leaves.
    pub fn inclusion(&self, seq: u64, size: u64) -> Result<Option<Vec<Hash>>, ReadFailed> {
        Ok(tree::inclusion(&StoredNodes(&self.connection), seq, size)?)
    }

    /// The proof that the tree of `size` leaves extends the one of `old` leaves.
    pub fn consistency(&self, old: u64, size: u64) -> Result<Option<Vec<Hash>>, ReadFailed> {
        Ok(tree::consistency(&StoredNodes(&self.connection), old, size)?)
    }

    /// Writes everything that the latest checkpoint covers. Says how many leaves that were.
    pub fn export(&self, format: Format, to: &mut dyn Write) -> Result<u64, ReadFailed> {
        let io = |error: std::io::Error| ReadFailed(format!("the export cannot be written: {error}"));
        let Some((size, note)) = self.checkpoint()? else {
            return Err(ReadFailed("the ledger has no checkpoint yet".into()));
        };
        match format {
            Format::Jsonl => {
                let (checkpoint, _) =
                    Checkpoint::parse(&note).map_err(|error| ReadFailed(error.to_string()))?;
                export::write_head(to, &checkpoint.origin, size).map_err(io)?;
            }
            Format::Csv => export::write_csv_head(to).map_err(io)?,
        }
        let mut notes = self.connection.prepare("SELECT size, note FROM checkpoints ORDER BY size")?;
        let mut notes =
            notes.query_map([], |row| Ok((unsigned(row, 0)?, row.get::<_, String>(1)?)))?.peekable();
        let mut statement =
            self.connection.prepare(&format!("SELECT {COLUMNS} WHERE l.seq < ?1 ORDER BY l.seq"))?;
        let mut leaves = statement.query([signed(size)])?;
        while let Some(row) = leaves.next()? {
            let seq = unsigned(row, 0)?;
            with_item(row, |item, _| match (format, item.bytes.map(Envelope::parse)) {
                (Format::Jsonl, _) => export::write_leaf(to, &item),
                (Format::Csv, Some(Ok(leaf))) => export::write_csv_row(to, &leaf),
                // A leaf that cannot be read is for `verify` to name; a pruned one has no row.
                (Format::Csv, _) => Ok(()),
            })?
            .map_err(io)?;
            while let Some(next) =
                notes.next_if(|next| next.as_ref().map_or(true, |(size, _)| *size <= seq + 1))
            {
                if format == Format::Jsonl {
                    export::write_checkpoint(to, &next?.1).map_err(io)?;
                }
            }
        }
        to.flush().map_err(io)?;
        Ok(size)
    }

    /// Writes what the latest checkpoint covers as tiles.
    pub fn export_tiles(&self, dir: &Path) -> Result<u64, TilesError> {
        let read = |error: ReadFailed| TilesError::Read(error.to_string());
        let (size, note) = self
            .checkpoint()
            .map_err(read)?
            .ok_or_else(|| TilesError::Read("the ledger has no checkpoint yet".into()))?;
        let mut bytes = |seq: u64| -> rusqlite::Result<Option<Vec<u8>>> {
            let mut statement = self.connection.prepare_cached("SELECT bytes FROM leaves WHERE seq = ?1")?;
            statement.query_row([signed(seq)], |row| row.get(0))
        };
        tiles::write(dir, (&note, size), &StoredNodes(&self.connection), &mut bytes)?;
        Ok(size)
    }
}

fn connect(path: &Path) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    usable(Connection::open_with_flags(path, flags)?)
}

fn connect_unchanging(path: &Path) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let path = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    usable(Connection::open_with_flags(format!("file:{path}?immutable=1"), flags)?)
}

/// SQLite opens nothing until it is asked something.
fn usable(connection: Connection) -> rusqlite::Result<Connection> {
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(connection)
}
