// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The writer numbers, hashes and commits leaves. The holder of a [`WriterGuard`](super::writer_queue) runs it.
//!
//! A leaf is *sequenced* when the writer has given it a number; a relaxed `append` returns at that point (see
//! [`super::pending_entries`]). It is *integrated* when its row and hashes are committed; a durable `append` returns
//! at that point. It is *published* when a signed checkpoint that covers it has been sent to the sinks.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rusqlite::Connection;
use tenterhook_event::{EventId, Timestamp};

use super::block::OpenBlock;
use super::error::AppendError;
use super::ledger::Appended;
use super::lock_file::LockFile;
use super::options::{BatchLimits, LedgerOptions};
use super::pending_entries::PendingEntries;
use super::publisher::Publisher;
use super::rows::{self, NewLeaf, StoredNodes};
use super::wal_checkpoint::{self, WalCheckpointer};
use super::writer_signing::SigningState;
use super::{DATABASE_FILE, undelivered};
use crate::entry::{EntryBody, LedgerEntry, SealedEntry, SealingOptions};
use crate::envelope::{EnvelopeFrame, LeafKind, LeafOrigin, MAX_ENVELOPE_BYTES};
use crate::hash::Hash;
use crate::sign::{Signer, random_bytes};
use crate::tree::Frontier;

/// Name of the change that records a rebuild of the index.
const INDEX_REBUILT: &str = "ledger index rebuilt";
/// Number of leaves after which the age of a commit is checked again.
const LEAVES_PER_CLOCK_CHECK: usize = 64;

pub(crate) struct Writer {
    /// Declared before the connection, so that it is dropped first: the last connection to close checkpoints the WAL.
    pub(super) wal: WalCheckpointer,
    pub(super) connection: Connection,
    pub(super) dir: PathBuf,
    pub(super) tree: Frontier,
    /// The leaves that are not indexed yet.
    block: OpenBlock,
    /// Number of the leaf whose row contains the head signature.
    pub(super) head: Option<u64>,
    /// Whether the state must be read from the store again, after an error or a removal.
    stale: bool,
    /// Entries that are sequenced but not integrated, if appends are relaxed.
    pub(super) pending: Option<PendingEntries>,
    pub(super) signing: SigningState,
    pub(super) passphrase: Option<String>,
    pub(super) publisher: Publisher,
    pub(super) batch: BatchLimits,
    pub(super) brief: bool,
    pub(super) clock: fn() -> u64,
    /// Recording time of the last leaf, as a number and as text.
    recorded: (u64, String),
    /// Buffers that are reused for every leaf.
    line: String,
    nodes: Vec<u8>,
    completed: Vec<Hash>,
    _lock: LockFile,
}

impl Writer {
    pub(crate) fn new(
        (connection, dir, lock): (Connection, &Path, LockFile),
        (tree, block): (Frontier, OpenBlock),
        signed: u64,
        signer: Arc<dyn Signer>,
        options: &mut LedgerOptions,
    ) -> Self {
        Self {
            wal: WalCheckpointer::new((!options.brief).then_some(options.journal_idle)),
            publisher: Publisher::start(dir, std::mem::take(&mut options.sinks)),
            connection,
            dir: dir.to_owned(),
            signing: SigningState::new(signer, signed, tree.size(), options.checkpoint_every),
            head: tree.size().checked_sub(1),
            tree,
            block,
            stale: false,
            pending: None,
            passphrase: options.passphrase.take(),
            batch: options.batch,
            brief: options.brief,
            clock: options.clock,
            recorded: (0, String::new()),
            line: String::new(),
            nodes: Vec::new(),
            completed: Vec::new(),
            _lock: lock,
        }
    }

    pub(crate) fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    /// Records one entry in its own commit.
    pub(crate) fn append(&mut self, entry: &SealedEntry) -> Result<Appended, AppendError> {
        self.commit(std::iter::once(entry))?.pop().unwrap_or(Err(AppendError::Closed))
    }

    /// Records at least one entry, up to the maximum for one commit.
    pub(crate) fn commit<'e>(
        &mut self,
        entries: impl Iterator<Item = &'e SealedEntry>,
    ) -> Result<Vec<Result<Appended, AppendError>>, AppendError> {
        if self.pending.is_some() { Ok(self.sequence(entries)) } else { self.integrate(entries) }
    }

    /// Records entries in one commit: at least one, and as many as the commit's maximum age allows. A rejected entry
    /// does not affect the others.
    pub(super) fn integrate<'e>(
        &mut self,
        entries: impl Iterator<Item = &'e SealedEntry>,
    ) -> Result<Vec<Result<Appended, AppendError>>, AppendError> {
        let started = Instant::now();
        let (results, signed) = self.run_transaction(|this| {
            let mut results = Vec::with_capacity(entries.size_hint().0);
            let mut entries = entries.peekable();
            while let Some(entry) = entries.next() {
                match this.write(entry, entries.peek().is_none()) {
                    Err(error @ AppendError::Refused { .. }) => return Err(error),
                    result => results.push(result),
                }
                if results.len().is_multiple_of(LEAVES_PER_CLOCK_CHECK) && started.elapsed() >= this.batch.age
                {
                    break;
                }
            }
            // A due checkpoint is part of the same commit. If signing fails, it is tried again later.
            let signed = this.signing.is_checkpoint_due(this.tree.size()).then(|| this.sign().ok()).flatten();
            Ok((results, signed))
        })?;
        if let Some(note) = signed {
            // The leaves are recorded. If publishing fails, it is tried again later.
            drop(self.publish_checkpoint(&note));
        }
        Ok(results)
    }

    /// Runs a function in a transaction that is rolled back if the function fails.
    pub(super) fn run_transaction<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, AppendError>,
    ) -> Result<T, AppendError> {
        if self.wal.take_finish_request() {
            // If the checkpoint fails, it is tried again later.
            drop(wal_checkpoint::checkpoint_passive(&self.connection));
        }
        if self.stale {
            self.reload()?;
        }
        let (tree, head) = (self.tree.clone(), self.head);
        let result = match self.execute("BEGIN IMMEDIATE") {
            Ok(()) => work(self),
            Err(error) => Err(error),
        };
        let result = result.and_then(|value| {
            let grown = self.tree.size() > tree.size();
            if grown { self.move_head(head).map(|()| value) } else { Ok(value) }
        });
        match result.and_then(|value| self.execute("COMMIT").map(|()| value)) {
            Ok(value) => {
                self.signing.set_size(self.tree.size());
                if self.wal.finish_commit() {
                    self.wal.request_checkpoint(&self.dir.join(DATABASE_FILE));
                }
                Ok(value)
            }
            Err(error) => {
                if !self.connection.is_autocommit() {
                    // If the rollback fails, the transaction stays open and the next BEGIN fails.
                    drop(self.execute("ROLLBACK"));
                }
                (self.tree, self.head, self.stale) = (tree, head, true);
                Err(error)
            }
        }
    }

    fn execute(&self, sql: &str) -> Result<(), AppendError> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop).map_err(AppendError::from)
    }

    /// Returns the number of the integrated leaf with this event id.
    pub(super) fn find(&self, id: &str) -> Result<Option<u64>, AppendError> {
        Ok(self.block.find(&self.connection, id)?)
    }

    pub(super) fn is_stale(&self) -> bool {
        self.stale
    }

    /// Makes the next transaction read the state from the store again.
    pub(super) fn mark_stale(&mut self) {
        self.stale = true;
    }

    /// Rebuilds the index, and appends a `change` leaf that records it.
    pub(super) fn rebuild_index(&mut self, who: &str) -> Result<Appended, AppendError> {
        let body = EntryBody {
            what: Some(INDEX_REBUILT.to_owned()),
            who: Some(who.to_owned()),
            ..EntryBody::default()
        };
        let result = self.append_internal(LeafKind::Change, body, |this, _| {
            Ok(super::block::rebuild_index(&this.connection)?)
        });
        self.mark_stale();
        result
    }

    fn reload(&mut self) -> Result<(), AppendError> {
        let size = rows::size(&self.connection)?;
        self.tree = Frontier::load(&StoredNodes(&self.connection), size)?;
        self.block = OpenBlock::load(&self.connection)?;
        self.head = size.checked_sub(1);
        self.stale = false;
        Ok(())
    }

    /// Numbers and hashes a leaf and writes its row, with the head signature if it is the last leaf in the commit.
    fn write(&mut self, entry: &SealedEntry, last: bool) -> Result<Appended, AppendError> {
        let id = entry.id.to_string();
        if let Some(seq) = self.find(&id)? {
            return Ok(Appended::AlreadyThere { seq });
        }
        let now = (self.clock)();
        if now > self.recorded.0 || self.recorded.1.is_empty() {
            self.recorded = (now.max(self.recorded.0), Timestamp::from_unix_ms(now).to_string());
        }
        let SealedEntry { ts, origin, kind, ref columns, .. } = *entry;
        let (seq, signer) = (self.tree.size(), self.signing.id());
        let frame = EnvelopeFrame { seq, kind, id: &id, ts, recorded: &self.recorded.1, origin, signer };
        frame.write(&entry.fields, &mut self.line);
        if self.line.len() > MAX_ENVELOPE_BYTES {
            return Err(AppendError::Rejected(format!(
                "the envelope has {} bytes, which is too long",
                self.line.len()
            )));
        }
        self.completed.clear();
        self.tree.push(Hash::of_leaf(self.line.as_bytes()), &mut self.completed);
        self.nodes.clear();
        self.completed.iter().for_each(|hash| self.nodes.extend_from_slice(&hash.0));
        let head = if last { Some(self.sign_tree()?) } else { None };
        let ts = rows::sql_i64(ts.unix_ms());
        let payload = entry.payload.as_ref();
        let (nodes, bytes, kind) = (self.nodes.as_slice(), self.line.as_bytes(), kind.as_str());
        let leaf = NewLeaf { seq, nodes, id: &id, ts, kind, columns, bytes, payload, head: head.as_deref() };
        rows::insert_leaf(&self.connection, &leaf)?;
        if last {
            self.head = Some(seq);
        }
        let stored = payload.and_then(|payload| payload.bytes.as_deref());
        self.wal.add_written(stored.map_or(0, <[u8]>::len) + bytes.len());
        let values = [
            Some(kind),
            columns.source.as_deref(),
            columns.session.as_deref(),
            columns.tool.as_deref(),
            columns.verdict.as_deref(),
            columns.rule.as_deref(),
        ];
        self.block.add(&self.connection, (id, seq), ts, values, (bytes, stored))?;
        if let Some(other) = &entry.supersedes
            && let Some(other) = self.block.find(&self.connection, &other.to_string())?
        {
            undelivered::supersede(&self.connection, other, seq)?;
        }
        Ok(Appended::New { seq })
    }

    /// Appends a leaf that the ledger itself creates, and runs `also` in the same transaction.
    pub(super) fn append_internal(
        &mut self,
        kind: LeafKind,
        body: EntryBody,
        also: impl FnOnce(&mut Self, u64) -> Result<(), AppendError>,
    ) -> Result<Appended, AppendError> {
        self.flush_pending()?;
        let now = (self.clock)();
        let [a, b] = [random_bytes::<8>()?, random_bytes::<8>()?].map(u64::from_be_bytes);
        let id = EventId::from_parts(now, u128::from(a) << 64 | u128::from(b));
        let sealing = SealingOptions::internal();
        let entry = LedgerEntry::new(kind, id, Timestamp::from_unix_ms(now), body, None, &|_| Vec::new());
        let entry = entry.with_origin(LeafOrigin::Cli).seal(&sealing)?;
        self.run_transaction(|this| {
            let appended = this.write(&entry, true)?;
            also(this, appended.seq())?;
            Ok(appended)
        })
    }
}
