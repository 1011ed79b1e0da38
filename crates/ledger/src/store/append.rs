// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The writer: one thread, which numbers, hashes and commits.
//!
//! Life of a leaf: *sequenced* when the writer gives it its number, *integrated* when its row and
//! the hashes it completes are committed (that is when `append` returns), *published* when a signed
//! checkpoint covers it and has gone to the sinks.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use tenterhook_event::{EventId, Timestamp};

use super::error::AppendError;
use super::hold::Hold;
use super::ledger::{Appended, Command, Reply};
use super::options::{Batch, Durability, Every, Options};
use super::publish::Publisher;
use super::rows::{self, NewLeaf, StoredNodes};
use super::{CHECKPOINT, DATABASE, keys};
use crate::chain::rotation;
use crate::checkpoint::Checkpoint;
use crate::entry::{Body, Entry, Sealed, Sealing};
use crate::hash::Hash;
use crate::payload::RedactionKey;
use crate::record::{Frame, Kind, MAX_ENVELOPE, Origin};
use crate::sign::{Signer, random, replace};
use crate::tree::Frontier;

/// How long a relaxed append may stay off the disk.
const RELAXED: Duration = Duration::from_millis(25);
/// How often an otherwise idle writer looks for what witnesses answered.
const LISTEN: Duration = Duration::from_millis(250);

pub(crate) struct Writer {
    pub(super) connection: Connection,
    pub(super) dir: PathBuf,
    pub(super) tree: Frontier,
    /// Leaves up to here are signed.
    signed: u64,
    unsigned_since: Option<Instant>,
    unsynced_since: Option<Instant>,
    signer: Arc<dyn Signer>,
    signer_id: String,
    durability: Durability,
    batch: Batch,
    every: Every,
    clock: fn() -> u64,
    recorded: u64,
    publisher: Publisher,
    _hold: Hold,
}

impl Writer {
    pub(crate) fn new(
        connection: Connection,
        dir: &Path,
        hold: Hold,
        tree: Frontier,
        signed: u64,
        signer: Arc<dyn Signer>,
        options: &mut Options,
    ) -> Self {
        let unsigned = tree.size() > signed;
        Self {
            publisher: Publisher::start(dir, std::mem::take(&mut options.sinks)),
            connection,
            dir: dir.to_owned(),
            tree,
            signed,
            unsigned_since: unsigned.then(Instant::now),
            unsynced_since: None,
            signer_id: signer.key().id(),
            signer,
            durability: options.durability,
            batch: options.batch,
            every: options.checkpoint_every,
            clock: options.clock,
            recorded: 0,
            _hold: hold,
        }
    }

    pub(crate) fn publisher(&self) -> &Publisher {
        &self.publisher
    }

    /// The first leaf of a log says which log it is and who signs it.
    pub(crate) fn start(&mut self) -> Result<(), AppendError> {
        let key = self.signer.key().to_string();
        let body = Body {
            log: Some(self.signer.key().name().to_owned()),
            key: Some(key.clone()),
            ..Body::default()
        };
        self.own(Kind::Start, body, move |connection, _| rows::set_meta(connection, "key", &key))?;
        self.checkpoint().map(drop)
    }

    /// Runs until it is told to close, or nobody can tell it anything any more.
    pub(crate) fn run(mut self, commands: &Receiver<Command>) {
        let mut pending = None;
        loop {
            let next = match pending.take() {
                Some(command) => Ok(command),
                None => self.wait(commands),
            };
            match next {
                Ok(Command::Append(entry, done)) => pending = self.group(commands, (entry, done)),
                Ok(Command::Checkpoint(reply)) => reply.tell(self.checkpoint()),
                Ok(Command::Rotate(new, reply)) => reply.tell(self.rotate(new)),
                Ok(Command::Remove(removal, reply)) => reply.tell(self.remove(&removal)),
                Ok(Command::Close(reply)) => {
                    let result = self.finish();
                    drop(self);
                    return reply.tell(result);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    // Nobody is left to tell; the next open will sign what is unsigned.
                    drop(self.finish());
                    return;
                }
            }
            self.tend();
        }
    }

    /// Waits for a command, but not beyond what is due.
    fn wait(&self, commands: &Receiver<Command>) -> Result<Command, RecvTimeoutError> {
        let due = |since: Option<Instant>, limit: Duration| {
            since.map(|since| limit.saturating_sub(since.elapsed()))
        };
        let sync = due(self.unsynced_since, RELAXED);
        let sign = due(self.unsigned_since, self.every.age);
        let listen = self.publisher.is_busy().then_some(LISTEN);
        match [sync, sign, listen].into_iter().flatten().min() {
            Some(limit) => commands.recv_timeout(limit),
            None => commands.recv().map_err(|_| RecvTimeoutError::Disconnected),
        }
    }

    /// Takes what else is waiting and commits it all at once. Gives back a command that is no append.
    fn group(
        &mut self,
        commands: &Receiver<Command>,
        first: (Box<Sealed>, Reply<Appended>),
    ) -> Option<Command> {
        let started = Instant::now();
        let (mut entries, mut dones, mut other) = (vec![first.0], vec![first.1], None);
        while entries.len() < self.batch.size && started.elapsed() < self.batch.age {
            match commands.try_recv() {
                Ok(Command::Append(entry, done)) => {
                    entries.push(entry);
                    dones.push(done);
                }
                Ok(command) => {
                    other = Some(command);
                    break;
                }
                Err(_) => break,
            }
        }
        let result = self.commit(&entries);
        for (at, done) in dones.into_iter().enumerate() {
            done.tell(match &result {
                Ok(appended) => appended.get(at).copied().ok_or(AppendError::Closed),
                Err(error) => Err(error.clone()),
            });
        }
        other
    }

    /// Commits entries in one transaction: all of them, or none.
    fn commit(&mut self, entries: &[Box<Sealed>]) -> Result<Vec<Appended>, AppendError> {
        self.transact(|this, tree| entries.iter().map(|entry| this.write(tree, entry)).collect())
    }

    /// Runs something in a transaction. When it fails, nothing has happened.
    fn transact<T>(
        &mut self,
        work: impl FnOnce(&mut Self, &mut Frontier) -> Result<T, AppendError>,
    ) -> Result<T, AppendError> {
        let mut tree = self.tree.clone();
        let result = match self.execute("BEGIN IMMEDIATE") {
            Ok(()) => work(self, &mut tree),
            Err(error) => Err(error),
        };
        let result = result.and_then(|value| self.execute("COMMIT").map(|()| value));
        match result {
            Ok(value) => {
                self.unsigned_since =
                    self.unsigned_since.or_else(|| (tree.size() > self.signed).then(Instant::now));
                if self.durability == Durability::Relaxed {
                    self.unsynced_since.get_or_insert_with(Instant::now);
                }
                self.tree = tree;
                Ok(value)
            }
            Err(error) => {
                if !self.connection.is_autocommit() {
                    // A failed rollback leaves the transaction open, and the next BEGIN says so.
                    drop(self.execute("ROLLBACK"));
                }
                self.reload();
                Err(error)
            }
        }
    }

    fn execute(&self, sql: &str) -> Result<(), AppendError> {
        self.connection.prepare_cached(sql)?.execute([]).map(drop).map_err(AppendError::from)
    }

    /// After an error the store has the last word about how far we are.
    fn reload(&mut self) {
        let size = rows::size(&self.connection);
        if let Ok(tree) = size.and_then(|size| Frontier::load(&StoredNodes(&self.connection), size)) {
            self.tree = tree;
        }
    }

    /// Numbers a leaf, hashes it and writes its row.
    fn write(&mut self, tree: &mut Frontier, entry: &Sealed) -> Result<Appended, AppendError> {
        let seq = tree.size();
        self.recorded = self.recorded.max((self.clock)());
        let recorded = Timestamp::from_unix_ms(self.recorded).to_string();
        let Sealed { id, ts, origin, kind, .. } = *entry;
        let frame = Frame { seq, kind, id: &id, ts, recorded: &recorded, origin, signer: &self.signer_id };
        let envelope = frame.envelope(&entry.fields);
        if envelope.len() > MAX_ENVELOPE {
            return Err(AppendError::Entry(format!("the envelope has {} bytes", envelope.len())));
        }
        let bytes = envelope.as_bytes();
        let (mut after, mut nodes) = (tree.clone(), Vec::new());
        after.push(Hash::of_leaf(bytes), &mut nodes);
        let id = id.to_string();
        let leaf = NewLeaf {
            seq,
            nodes: &nodes,
            id: &id,
            ts: ts.unix_ms(),
            kind: kind.word(),
            columns: &entry.columns,
            bytes,
            payload: entry.payload.as_ref(),
        };
        if !rows::insert(&self.connection, &leaf)? {
            let seq = rows::find(&self.connection, &id)?.ok_or(AppendError::Closed)?;
            return Ok(Appended::AlreadyThere { seq });
        }
        *tree = after;
        Ok(Appended::New { seq })
    }

    /// Writes a leaf of our own, and what belongs to it, in one transaction.
    pub(super) fn own(
        &mut self,
        kind: Kind,
        body: Body,
        also: impl FnOnce(&Connection, u64) -> rusqlite::Result<()>,
    ) -> Result<Appended, AppendError> {
        let now = (self.clock)();
        let [a, b] = [random::<8>()?, random::<8>()?].map(u64::from_be_bytes);
        let id = EventId::from_parts(now, u128::from(a) << 64 | u128::from(b));
        let sealing = Sealing { key: RedactionKey::new([0; 32]), keep_raw: false, max_payload: 0 };
        let entry = Entry::new(kind, id, Timestamp::from_unix_ms(now), body, None).from(Origin::Cli);
        let entry = entry.seal(&sealing)?;
        self.transact(|this, tree| {
            let appended = this.write(tree, &entry)?;
            also(&this.connection, appended.seq())?;
            Ok(appended)
        })
    }

    /// Signs what there is, keeps it, and sends it out. Nothing is signed that could still be lost.
    fn checkpoint(&mut self) -> Result<String, AppendError> {
        let signer = Arc::clone(&self.signer);
        self.checkpoint_by(&[&*signer])
    }

    fn checkpoint_by(&mut self, signers: &[&dyn Signer]) -> Result<String, AppendError> {
        self.sync()?;
        let size = self.tree.size();
        if let Some((last, note)) = rows::last_checkpoint(&self.connection)?
            && last == size
        {
            return Ok(note);
        }
        let origin = self.signer.key().name().to_owned();
        let checkpoint = Checkpoint { origin, size, root: self.tree.root() };
        let note = checkpoint.sign(signers)?.to_string();
        self.keep(size, &note)?;
        self.publisher.publish(checkpoint, note.clone());
        (self.signed, self.unsigned_since) = (size, None);
        Ok(note)
    }

    /// Stores a checkpoint, first where it cannot be lost, then as a file.
    fn keep(&mut self, size: u64, note: &str) -> Result<(), AppendError> {
        let at = rows::signed((self.clock)());
        self.connection
            .prepare_cached("INSERT OR REPLACE INTO checkpoints (size, at, note) VALUES (?1, ?2, ?3)")?
            .execute(rusqlite::params![rows::signed(size), at, note])?;
        self.unsynced_since =
            self.unsynced_since.or((self.durability == Durability::Relaxed).then(Instant::now));
        self.sync()?;
        let path = self.dir.join(CHECKPOINT);
        replace(&path, note.as_bytes(), 0o644)
            .map_err(|error| AppendError::Entry(format!("`{}`: {error}", path.display())))
    }

    /// Another key signs from here on; both keys say so.
    fn rotate(&mut self, new: Option<Arc<dyn Signer>>) -> Result<String, AppendError> {
        let own = new.is_none();
        let old = Arc::clone(&self.signer);
        let new: Arc<dyn Signer> = match new {
            Some(new) => new,
            None => Arc::new(keys::prepare(&self.dir, old.key().name())?),
        };
        if new.key().name() != old.key().name() || new.key() == old.key() {
            return Err(AppendError::Entry(format!("`{}` is no new key of this log", new.key())));
        }
        let (old_signature, new_signature) = rotation(&*old, &*new, self.tree.size())?;
        let key = new.key().to_string();
        let body = Body {
            key: Some(old.key().to_string()),
            new_key: Some(key.clone()),
            old_signature: Some(old_signature),
            new_signature: Some(new_signature),
            ..Body::default()
        };
        self.own(Kind::Rotate, body, move |connection, _| rows::set_meta(connection, "key", &key))?;
        (self.signer, self.signer_id) = (Arc::clone(&new), new.key().id());
        if own {
            keys::install(&self.dir)?;
        }
        keys::publish(&self.dir, new.key())?;
        // Whoever only knows the old key can still believe this one.
        self.checkpoint_by(&[&*new, &*old])
    }

    /// What is due between commands.
    fn tend(&mut self) {
        if self.unsynced_since.is_some_and(|since| since.elapsed() >= RELAXED) {
            // It stays due, so it is tried again, and a checkpoint needs it to succeed.
            drop(self.sync());
        }
        let many = self.tree.size() - self.signed >= self.every.leaves;
        let due = many || self.unsigned_since.is_some_and(|since| since.elapsed() >= self.every.age);
        if due && self.checkpoint().is_err() {
            // The store refuses; whoever appends next learns it. Try again later.
            self.unsigned_since = Some(Instant::now());
        }
        while let Some((size, lines)) = self.publisher.cosigned() {
            // A cosignature that cannot be kept is asked for again with the next checkpoint.
            drop(self.cosign(size, &lines));
        }
    }

    /// Adds a witness's lines to the checkpoint they are for.
    fn cosign(&mut self, size: u64, lines: &[crate::note::Line]) -> Result<(), AppendError> {
        let Some((last, note)) = rows::last_checkpoint(&self.connection)? else { return Ok(()) };
        if last == size {
            let note = lines.iter().fold(note, |note, line| note + &line.to_string() + "\n");
            self.keep(size, &note)?;
        }
        Ok(())
    }

    /// Brings relaxed commits to the disk.
    fn sync(&mut self) -> Result<(), AppendError> {
        if self.unsynced_since.is_some() {
            let journal = self.dir.join(format!("{DATABASE}-wal"));
            let synced = std::fs::File::open(&journal).and_then(|file| file.sync_data());
            synced.map_err(|error| AppendError::Entry(format!("`{}`: {error}", journal.display())))?;
            self.unsynced_since = None;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), AppendError> {
        self.checkpoint()?;
        self.publisher.finish();
        while let Some((size, lines)) = self.publisher.cosigned() {
            self.cosign(size, &lines)?;
        }
        Ok(())
    }
}
