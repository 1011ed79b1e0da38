// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The handle that callers hold.

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::appending::Append;
use super::desk::Desk;
use super::error::{AppendError, OpenError};
use super::open;
use super::options::{Durability, Options};
use super::remove::Removal;
use super::retention::PruneBatch;
use super::serve::{run, serve};
use crate::entry::{Sealed, Sealing};
use crate::payload::{RedactionKey, Redactor};
use crate::record::Kind;
use crate::sign::Signer;
use crate::sink::SinkError;

/// A ledger open for writing. Clones share the one writer; the last one to go closes it.
#[derive(Clone)]
pub struct Ledger(Arc<Inner>);

struct Inner {
    desk: Arc<Desk>,
    sealing: Sealing,
    /// Commits what is queued, and does what is due.
    thread: Mutex<Thread>,
    reports: Arc<Mutex<Vec<SinkReport>>>,
}

/// The ledger's thread.
enum Thread {
    /// Nothing was queued yet.
    NotYet,
    Runs(JoinHandle<()>),
    Gone,
}

/// A ledger, and what had to be done to open it.
pub struct Opened {
    /// The ledger.
    pub ledger: Ledger,
    /// What recovery did, one sentence each.
    pub recovered: Vec<String>,
}

/// What became of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// It is a new leaf.
    New {
        /// Its place.
        seq: u64,
    },
    /// The event was recorded before; there is no second leaf.
    AlreadyThere {
        /// Where.
        seq: u64,
    },
}

/// What became of the last checkpoint at one sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinkReport {
    /// The sink.
    pub sink: String,
    /// The checkpoint's size.
    pub size: u64,
    /// What went wrong, if anything.
    pub error: Option<SinkError>,
}

/// Tells the one who asked, and tells them of the closing if nobody else does.
pub(crate) struct Reply<T>(Option<Tell<T>>);

type Tell<T> = Box<dyn FnOnce(Result<T, AppendError>) + Send>;

/// What the writer is told.
pub(crate) enum Command {
    Append(Box<Sealed>, Reply<Appended>),
    Checkpoint(Reply<String>),
    Rotate(Option<Arc<dyn Signer>>, Reply<String>),
    Remove(Removal, Reply<Appended>),
    RebuildIndex(String, Reply<Appended>),
    Close(Reply<()>),
}

// === impl Appended ===

impl Appended {
    /// The leaf's place.
    pub fn seq(self) -> u64 {
        match self {
            Self::New { seq } | Self::AlreadyThere { seq } => seq,
        }
    }
}

// === impl Reply ===

impl<T> Reply<T> {
    pub(super) fn new(tell: impl FnOnce(Result<T, AppendError>) + Send + 'static) -> Self {
        Self(Some(Box::new(tell)))
    }

    pub(crate) fn tell(mut self, result: Result<T, AppendError>) {
        if let Some(tell) = self.0.take() {
            tell(result);
        }
    }

    /// Nothing will be told through this.
    pub(super) fn forget(mut self) {
        self.0 = None;
    }
}

impl<T> Drop for Reply<T> {
    fn drop(&mut self) {
        if let Some(tell) = self.0.take() {
            tell(Err(AppendError::Closed));
        }
    }
}

// === impl Ledger ===

impl Ledger {
    /// Opens the ledger in this directory, or begins one. Only one process can.
    pub fn open(dir: &Path, mut options: Options) -> Result<Opened, OpenError> {
        let (writer, recovered) = open::open(dir, &mut options)?;
        let sealing = Sealing {
            key: RedactionKey::open(dir)?,
            keep_raw: options.keep_raw,
            max_payload: options.max_payload,
            keep_model_text: options.keep_model_text,
        };
        let reports = writer.publisher().reports();
        let gather = match options.durability {
            Durability::Durable => options.batch.gather,
            // What is only sequenced costs no more for coming alone.
            Durability::Relaxed => Duration::ZERO,
        };
        let callers = options.callers.take();
        let desk = Arc::new(Desk::new(writer, options.queue, (options.batch.size, gather), callers.clone()));
        if let Some(callers) = callers {
            let desk = Arc::downgrade(&desk);
            callers.set_when_idle(move || {
                if let Some(desk) = desk.upgrade() {
                    desk.stop_gathering();
                }
            });
        }
        let inner = Inner { desk, sealing, thread: Mutex::new(Thread::NotYet), reports };
        if !options.brief {
            inner.start().map_err(|source| OpenError::Io { path: dir.to_owned(), source })?;
        }
        Ok(Opened { ledger: Self(Arc::new(inner)), recovered })
    }

    /// Records entries: one or several, waiting until they are recorded or not, see [`Append`]. An event id that was
    /// recorded before is not recorded again. Waits when too many entries wait, except for [`Queued`](super::Queued).
    pub fn append<A: Append>(&self, entries: A) -> A::Receipt {
        entries.append_to(self)
    }

    /// How entries are sealed here; whoever spools seals the same way.
    pub fn sealing(&self) -> &Sealing {
        &self.0.sealing
    }

    /// Signs a checkpoint over all leaves.
    pub fn checkpoint(&self) -> Result<String, AppendError> {
        self.ask(Command::Checkpoint)
    }

    /// Another key signs from here on; a leaf says so. Without one, a new key is made in the
    /// ledger's directory. Gives back a checkpoint that both keys signed.
    pub fn rotate(&self, new: Option<Arc<dyn Signer>>) -> Result<String, AppendError> {
        self.ask(|reply| Command::Rotate(new, reply))
    }

    /// Erases the payloads of leaves `from..=to`; a leaf says so, and the tree stays as it is.
    /// `redactor` looks for secrets in the reason.
    pub fn erase(
        &self,
        from: u64,
        to: u64,
        who: &str,
        reason: &str,
        redactor: Redactor<'_>,
    ) -> Result<Appended, AppendError> {
        self.remove(Kind::Erase, (from, to), None, who, reason, redactor)
    }

    /// Removes leaves `0..=to` and their payloads; their hashes stay, and a leaf says so. Leaves
    /// that the verifier needs (start, changes of keys, erasures, prunings) stay too.
    pub fn prune(
        &self,
        to: u64,
        who: &str,
        reason: &str,
        redactor: Redactor<'_>,
    ) -> Result<Appended, AppendError> {
        self.remove(Kind::Prune, (0, to), None, who, reason, redactor)
    }

    /// Prunes the records of one batch, as [`Ledger::prune`] does. The writer is held for one short transaction.
    pub fn prune_batch(
        &self,
        batch: PruneBatch,
        who: &str,
        reason: &str,
        redactor: Redactor<'_>,
    ) -> Result<Appended, AppendError> {
        let bytes = usize::try_from(batch.bytes).unwrap_or(usize::MAX);
        self.remove(Kind::Prune, (batch.from, batch.to), Some(bytes), who, reason, redactor)
    }

    /// Writes everything that records are found and counted by again, from the records alone; a record says so.
    pub fn rebuild_index(&self, who: &str) -> Result<Appended, AppendError> {
        self.ask(|reply| Command::RebuildIndex(who.to_owned(), reply))
    }

    fn remove(
        &self,
        kind: Kind,
        (from, to): (u64, u64),
        batch_bytes: Option<usize>,
        who: &str,
        reason: &str,
        redactor: Redactor<'_>,
    ) -> Result<Appended, AppendError> {
        let reason = self.0.sealing.clean(reason, redactor);
        let removal = Removal { kind, from, to, who: who.to_owned(), reason, batch_bytes };
        self.ask(|reply| Command::Remove(removal, reply))
    }

    /// What became of the last checkpoint at each sink.
    pub fn sinks(&self) -> Vec<SinkReport> {
        self.0.reports.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records what is waiting, signs a last checkpoint, and lets go of the ledger. Other handles
    /// hear that it is closed.
    pub fn close(self) -> Result<(), AppendError> {
        let result = self.ask(Command::Close);
        self.0.join();
        result
    }

    /// Lets the writer do something: here and now if it is free, else in its turn.
    fn ask<T: Send + 'static>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, AppendError> {
        let Some(turn) = self.0.desk.take() else { return self.queue(command) };
        let (reply, wait) = answer();
        run(turn, command(reply));
        wait()
    }

    pub(super) fn desk(&self) -> &Desk {
        &self.0.desk
    }

    /// Puts a command in the queue, unless that is full; then it comes back.
    pub(super) fn put(&self, command: Command) -> Result<(), Command> {
        self.0.put(command)
    }

    pub(super) fn queue<T: Send + 'static>(
        &self,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Result<T, AppendError> {
        let (reply, wait) = answer();
        self.0.start().map_err(|error| AppendError::Entry(format!("no thread can be started: {error}")))?;
        self.0.desk.put_when_room(command(reply));
        wait()
    }
}

/// A reply, and how to wait for it.
fn answer<T: Send + 'static>() -> (Reply<T>, impl FnOnce() -> Result<T, AppendError>) {
    let (answer, wait) = sync_channel(1);
    // Whoever asked is waiting.
    let reply = Reply::new(move |result| drop(answer.send(result)));
    (reply, move || wait.recv().map_err(|_| AppendError::Closed)?)
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ledger(…)")
    }
}

// === impl Inner ===

impl Inner {
    fn put(&self, command: Command) -> Result<(), Command> {
        match self.start() {
            Ok(()) => self.desk.put(command),
            Err(_) => Err(command),
        }
    }

    /// Starts the ledger's thread, unless it runs or has run.
    fn start(&self) -> std::io::Result<()> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*thread, Thread::NotYet) {
            let desk = Arc::clone(&self.desk);
            let started = std::thread::Builder::new().name("ledger".into()).spawn(move || serve(&desk))?;
            *thread = Thread::Runs(started);
        }
        Ok(())
    }

    fn join(&self) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let gone = std::mem::replace(&mut *thread, Thread::Gone);
        drop(thread);
        if let Thread::Runs(thread) = gone
            && thread.thread().id() != std::thread::current().id()
        {
            // A writer that panicked has let go of the lock as well.
            drop(thread.join());
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        match self.desk.take() {
            Some(turn) => drop(turn.close()),
            // If the writer is gone, so is what there was to close.
            None => self.desk.put_when_room(Command::Close(Reply::new(drop))),
        }
        self.join();
    }
}
