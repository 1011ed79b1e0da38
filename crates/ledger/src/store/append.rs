// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The writer, which numbers, hashes and commits. Whoever has the [turn](super::desk) runs it.
//!
//! Life of a leaf: *sequenced* when the writer gives it its number (that is when a relaxed `append`
//! returns, see [`super::pending`]), *integrated* when its row and the hashes it completes are committed
//! (that is when a durable one does), *published* when a signed checkpoint covers it and has gone to the
//! sinks.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use rusqlite::Connection;
use tenterhook_event::{EventId, Timestamp};

use super::block::Block;
use super::error::AppendError;
use super::hold::Hold;
use super::ledger::Appended;
use super::options::{Batch, Options};
use super::pending::Pending;
use super::publish::Publisher;
use super::rows::{self, NewLeaf, StoredNodes};
use super::signing::Signing;
use super::tidy::{self, Tidy};
use super::{DATABASE, undelivered};
use crate::entry::{Body, Entry, Sealed, Sealing};
use crate::hash::Hash;
use crate::payload::RedactionKey;
use crate::record::{Frame, Kind, MAX_ENVELOPE, Origin};
use crate::sign::{Signer, random};
use crate::tree::Frontier;

/// The change that says that the index was written again.
const INDEX_REBUILT: &str = "ledger index rebuilt";
/// How many leaves are written before the clock is asked whether the commit is due.
const LEAVES_PER_LOOK: usize = 64;

pub(crate) struct Writer {
    /// Before the connection: the last one to go tidies up.
    pub(super) tidy: Tidy,
    pub(super) connection: Connection,
    pub(super) dir: PathBuf,
    pub(super) tree: Frontier,
    /// What is not filed yet.
    block: Block,
    /// Which leaf's row has the head.
    pub(super) head: Option<u64>,
    /// Something failed, or was taken away: the store has the last word about how far we are.
    stale: bool,
    /// What is sequenced only, where appends are relaxed.
    pub(super) pending: Option<Pending>,
    pub(super) signing: Signing,
    pub(super) passphrase: Option<String>,
    pub(super) publisher: Publisher,
    pub(super) batch: Batch,
    pub(super) brief: bool,
    pub(super) clock: fn() -> u64,
    /// When the last leaf was recorded, as a number and as text.
    recorded: (u64, String),
    /// Used for every leaf, so that none needs memory of its own.
    line: String,
    nodes: Vec<u8>,
    completed: Vec<Hash>,
    _hold: Hold,
}

impl Writer {
    pub(crate) fn new(
        (connection, dir, hold): (Connection, &Path, Hold),
        (tree, block): (Frontier, Block),
        signed: u64,
        signer: Arc<dyn Signer>,
        options: &mut Options,
    ) -> Self {
        Self {
            tidy: Tidy::new((!options.brief).then_some(options.journal_idle)),
            publisher: Publisher::start(dir, std::mem::take(&mut options.sinks)),
            connection,
            dir: dir.to_owned(),
            signing: Signing::new(signer, signed, tree.size(), options.checkpoint_every),
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
            _hold: hold,
        }
    }

    pub(crate) fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    /// Records one entry in a commit of its own.
    pub(crate) fn append(&mut self, entry: &Sealed) -> Result<Appended, AppendError> {
        self.commit(std::iter::once(entry))?.pop().unwrap_or(Err(AppendError::Closed))
    }

    /// Records entries, as many as can be done together and at least one.
    pub(crate) fn commit<'e>(
        &mut self,
        entries: impl Iterator<Item = &'e Sealed>,
    ) -> Result<Vec<Result<Appended, AppendError>>, AppendError> {
        if self.pending.is_some() { Ok(self.sequence(entries)) } else { self.integrate(entries) }
    }

    /// Records entries in one commit, as many as its age allows and at least one: all of those, or
    /// none. An entry that no ledger could take does not hold up the others.
    pub(super) fn integrate<'e>(
        &mut self,
        entries: impl Iterator<Item = &'e Sealed>,
    ) -> Result<Vec<Result<Appended, AppendError>>, AppendError> {
        let started = Instant::now();
        let (results, signed) = self.transact(|this| {
            let mut results = Vec::with_capacity(entries.size_hint().0);
            let mut entries = entries.peekable();
            while let Some(entry) = entries.next() {
                match this.write(entry, entries.peek().is_none()) {
                    Err(error @ AppendError::Refused { .. }) => return Err(error),
                    result => results.push(result),
                }
                if results.len().is_multiple_of(LEAVES_PER_LOOK) && started.elapsed() >= this.batch.age {
                    break;
                }
            }
            // A checkpoint that is due costs no commit of its own. One that fails is tried again.
            let signed = this.signing.is_full(this.tree.size()).then(|| this.sign().ok()).flatten();
            Ok((results, signed))
        })?;
        if let Some(note) = signed {
            // The leaves are recorded, whatever becomes of the note; it is brought out later.
            drop(self.announce(&note));
        }
        Ok(results)
    }

    /// Runs something in a transaction. When it fails, nothing has happened.
    pub(super) fn transact<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, AppendError>,
    ) -> Result<T, AppendError> {
        if self.tidy.settles() {
            // If it cannot be done now, it is done later.
            drop(tidy::checkpoint(&self.connection));
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
                self.signing.grown(self.tree.size());
                if self.tidy.is_due() {
                    self.tidy.ring(&self.dir.join(DATABASE));
                }
                Ok(value)
            }
            Err(error) => {
                if !self.connection.is_autocommit() {
                    // A failed rollback leaves the transaction open, and the next BEGIN says so.
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

    /// Where an event is integrated.
    pub(super) fn find(&self, id: &str) -> Result<Option<u64>, AppendError> {
        Ok(self.block.find(&self.connection, id)?)
    }

    pub(super) fn is_stale(&self) -> bool {
        self.stale
    }

    /// What is not filed was changed behind our back, by ourselves.
    pub(super) fn read_anew(&mut self) {
        self.stale = true;
    }

    /// Writes the index of all records again; a record says so.
    pub(super) fn rebuild_index(&mut self, who: &str) -> Result<Appended, AppendError> {
        let body =
            Body { what: Some(INDEX_REBUILT.to_owned()), who: Some(who.to_owned()), ..Body::default() };
        let result = self.own(Kind::Change, body, |this, _| Ok(super::block::rebuild(&this.connection)?));
        self.read_anew();
        result
    }

    fn reload(&mut self) -> Result<(), AppendError> {
        let size = rows::size(&self.connection)?;
        self.tree = Frontier::load(&StoredNodes(&self.connection), size)?;
        self.block = Block::load(&self.connection)?;
        self.head = size.checked_sub(1);
        self.stale = false;
        Ok(())
    }

    /// Numbers a leaf, hashes it and writes its row; with the head, if it is known to be the last.
    fn write(&mut self, entry: &Sealed, last: bool) -> Result<Appended, AppendError> {
        let id = entry.id.to_string();
        if let Some(seq) = self.find(&id)? {
            return Ok(Appended::AlreadyThere { seq });
        }
        let now = (self.clock)();
        if now > self.recorded.0 || self.recorded.1.is_empty() {
            self.recorded = (now.max(self.recorded.0), Timestamp::from_unix_ms(now).to_string());
        }
        let Sealed { ts, origin, kind, ref columns, .. } = *entry;
        let (seq, signer) = (self.tree.size(), self.signing.id());
        let frame = Frame { seq, kind, id: &id, ts, recorded: &self.recorded.1, origin, signer };
        frame.write(&entry.fields, &mut self.line);
        if self.line.len() > MAX_ENVELOPE {
            return Err(AppendError::Entry(format!("the envelope has {} bytes", self.line.len())));
        }
        self.completed.clear();
        self.tree.push(Hash::of_leaf(self.line.as_bytes()), &mut self.completed);
        self.nodes.clear();
        self.completed.iter().for_each(|hash| self.nodes.extend_from_slice(&hash.0));
        let head = if last { Some(self.sign_tree()?) } else { None };
        let ts = rows::signed(ts.unix_ms());
        let payload = entry.payload.as_ref();
        let (nodes, bytes, kind) = (self.nodes.as_slice(), self.line.as_bytes(), kind.word());
        let leaf = NewLeaf { seq, nodes, id: &id, ts, kind, columns, bytes, payload, head: head.as_deref() };
        rows::insert(&self.connection, &leaf)?;
        if last {
            self.head = Some(seq);
        }
        let stored = payload.and_then(|payload| payload.bytes.as_deref());
        self.tidy.wrote(stored.map_or(0, <[u8]>::len) + bytes.len());
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

    /// Writes a leaf of our own, and what belongs to it, in one transaction.
    pub(super) fn own(
        &mut self,
        kind: Kind,
        body: Body,
        also: impl FnOnce(&mut Self, u64) -> Result<(), AppendError>,
    ) -> Result<Appended, AppendError> {
        self.settle()?;
        let now = (self.clock)();
        let [a, b] = [random::<8>()?, random::<8>()?].map(u64::from_be_bytes);
        let id = EventId::from_parts(now, u128::from(a) << 64 | u128::from(b));
        let sealing = Sealing {
            key: RedactionKey::new([0; 32]),
            keep_raw: false,
            max_payload: 0,
            keep_model_text: false,
        };
        // What others wrote in it was looked at before it came to the writer.
        let entry = Entry::new(kind, id, Timestamp::from_unix_ms(now), body, None, &|_| Vec::new());
        let entry = entry.from(Origin::Cli).seal(&sealing)?;
        self.transact(|this| {
            let appended = this.write(&entry, true)?;
            also(this, appended.seq())?;
            Ok(appended)
        })
    }
}
