// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The handle to a ledger that is open for writing.

use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::append::Append;
use super::error::{AppendError, OpenError};
use super::open;
use super::options::{Durability, LedgerOptions};
use super::removal::Removal;
use super::retention::PruneBatch;
use super::writer_queue::WriterQueue;
use super::writer_thread::{run_command, run_writer_thread};
use crate::entry::{SealedEntry, SealingOptions};
use crate::envelope::LeafKind;
use crate::payload::{RedactionKey, Redactor};
use crate::sign::Signer;
use crate::sink::SinkError;

/// A ledger that is open for writing. Clones share one writer. Dropping the last clone closes the ledger.
#[derive(Clone)]
pub struct Ledger(Arc<LedgerInner>);

struct LedgerInner {
    queue: Arc<WriterQueue>,
    sealing: SealingOptions,
    /// The thread that commits queued entries and runs maintenance.
    thread: Mutex<LedgerThread>,
    reports: Arc<Mutex<Vec<SinkReport>>>,
}

/// State of the ledger's thread.
enum LedgerThread {
    /// No command has been queued yet.
    NotStarted,
    Running(JoinHandle<()>),
    Joined,
}

/// An opened ledger with a report on its recovery.
pub struct OpenedLedger {
    /// Handle to the ledger.
    pub ledger: Ledger,
    /// Recovery steps, one message each.
    pub recovered: Vec<String>,
}

/// Result of recording an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// The entry is a new leaf.
    New {
        /// Number of the leaf.
        seq: u64,
    },
    /// The event had already been recorded, so no leaf was added.
    AlreadyThere {
        /// Number of the earlier leaf.
        seq: u64,
    },
}

/// Result of publishing the last checkpoint to one sink.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SinkReport {
    /// Name of the sink.
    pub sink: String,
    /// Number of leaves in the checkpoint.
    pub size: u64,
    /// The sink's error, if publishing failed.
    pub error: Option<SinkError>,
}

/// Sends the result of a command to its caller. Dropping it without a result sends [`AppendError::Closed`].
pub(crate) struct WriterReply<T>(Option<ReplyFn<T>>);

type ReplyFn<T> = Box<dyn FnOnce(Result<T, AppendError>) + Send>;

/// A command for the writer.
pub(crate) enum Command {
    Append(Box<SealedEntry>, WriterReply<Appended>),
    Checkpoint(WriterReply<String>),
    Rotate(Option<Arc<dyn Signer>>, WriterReply<String>),
    Remove(Removal, WriterReply<Appended>),
    RebuildIndex(String, WriterReply<Appended>),
    Close(WriterReply<()>),
}

impl Appended {
    /// Returns the leaf's number.
    pub fn seq(self) -> u64 {
        match self {
            Self::New { seq } | Self::AlreadyThere { seq } => seq,
        }
    }
}

impl<T> WriterReply<T> {
    pub(super) fn new(reply: impl FnOnce(Result<T, AppendError>) + Send + 'static) -> Self {
        Self(Some(Box::new(reply)))
    }

    pub(crate) fn send(mut self, result: Result<T, AppendError>) {
        if let Some(reply) = self.0.take() {
            reply(result);
        }
    }

    /// Drops the reply without sending anything.
    pub(super) fn cancel(mut self) {
        self.0 = None;
    }
}

impl<T> Drop for WriterReply<T> {
    fn drop(&mut self) {
        if let Some(reply) = self.0.take() {
            reply(Err(AppendError::Closed));
        }
    }
}

impl Ledger {
    /// Opens or creates the ledger in this directory. Only one process can have it open.
    pub fn open(dir: &Path, mut options: LedgerOptions) -> Result<OpenedLedger, OpenError> {
        let (writer, recovered) = open::open(dir, &mut options)?;
        let sealing = SealingOptions {
            key: RedactionKey::open(dir)?,
            keep_raw: options.keep_raw,
            max_payload: options.max_payload,
            keep_model_text: options.keep_model_text,
        };
        let reports = writer.publisher().reports();
        let gather = match options.durability {
            Durability::Durable => options.batch.gather,
            // A relaxed append does not commit, so waiting for others saves nothing.
            Durability::Relaxed => Duration::ZERO,
        };
        let callers = options.callers.take();
        let queue =
            Arc::new(WriterQueue::new(writer, options.queue, (options.batch.size, gather), callers.clone()));
        if let Some(callers) = callers {
            let queue = Arc::downgrade(&queue);
            callers.set_when_idle(move || {
                if let Some(queue) = queue.upgrade() {
                    queue.stop_gathering();
                }
            });
        }
        let inner = LedgerInner { queue, sealing, thread: Mutex::new(LedgerThread::NotStarted), reports };
        if !options.brief {
            inner.start_thread().map_err(|source| OpenError::Io { path: dir.to_owned(), source })?;
        }
        Ok(OpenedLedger { ledger: Self(Arc::new(inner)), recovered })
    }

    /// Records one or several entries. [`Append`] lists when it returns. Each event id is recorded once. If the queue
    /// is full, the call waits, except for [`QueuedEntry`](super::QueuedEntry).
    pub fn append<A: Append>(&self, entries: A) -> A::Receipt {
        entries.append_to(self)
    }

    /// Returns this ledger's sealing options, which spooled entries use too.
    pub fn sealing(&self) -> &SealingOptions {
        &self.0.sealing
    }

    /// Signs a checkpoint over all leaves and publishes it.
    pub fn checkpoint(&self) -> Result<String, AppendError> {
        self.run_or_queue(Command::Checkpoint)
    }

    /// Rotates to a new key and records the rotation. If `new` is `None`, a key is generated in the ledger's
    /// directory. Returns a checkpoint signed by both keys.
    pub fn rotate(&self, new: Option<Arc<dyn Signer>>) -> Result<String, AppendError> {
        self.run_or_queue(|reply| Command::Rotate(new, reply))
    }

    /// Erases the payloads of leaves `from..=to` and records the erasure. The tree does not change. `redactor`
    /// locates secrets in the reason.
    pub fn erase(
        &self,
        from: u64,
        to: u64,
        who: &str,
        reason: &str,
        redactor: Redactor<'_>,
    ) -> Result<Appended, AppendError> {
        self.remove(LeafKind::Erase, (from, to), None, who, reason, redactor)
    }

    /// Prunes leaves `0..=to` and their payloads, and records the pruning. Their hashes are kept. Leaves that the
    /// verifier needs are kept too (kinds `start`, `rotate`, `erase` and `prune`).
    pub fn prune(
        &self,
        to: u64,
        who: &str,
        reason: &str,
        redactor: Redactor<'_>,
    ) -> Result<Appended, AppendError> {
        self.remove(LeafKind::Prune, (0, to), None, who, reason, redactor)
    }

    /// Prunes one batch of records like [`Ledger::prune`]. Uses the writer for only one short transaction.
    pub fn prune_batch(
        &self,
        batch: PruneBatch,
        who: &str,
        reason: &str,
        redactor: Redactor<'_>,
    ) -> Result<Appended, AppendError> {
        let bytes = usize::try_from(batch.bytes).unwrap_or(usize::MAX);
        self.remove(LeafKind::Prune, (batch.from, batch.to), Some(bytes), who, reason, redactor)
    }

    /// Rebuilds the index and counters from the records, and records the rebuild.
    pub fn rebuild_index(&self, who: &str) -> Result<Appended, AppendError> {
        self.run_or_queue(|reply| Command::RebuildIndex(who.to_owned(), reply))
    }

    fn remove(
        &self,
        kind: LeafKind,
        (from, to): (u64, u64),
        batch_bytes: Option<usize>,
        who: &str,
        reason: &str,
        redactor: Redactor<'_>,
    ) -> Result<Appended, AppendError> {
        let reason = self.0.sealing.redact_text(reason, redactor);
        let removal = Removal { kind, from, to, who: who.to_owned(), reason, batch_bytes };
        self.run_or_queue(|reply| Command::Remove(removal, reply))
    }

    /// Returns the results of publishing the last checkpoint, one for each sink.
    pub fn sink_reports(&self) -> Vec<SinkReport> {
        self.0.reports.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Records waiting entries, signs a last checkpoint and closes the ledger. After that, other handles return
    /// [`AppendError::Closed`].
    pub fn close(self) -> Result<(), AppendError> {
        let result = self.run_or_queue(Command::Close);
        self.0.join_thread();
        result
    }

    /// Runs a command in this thread if the writer is free; otherwise queues it. Waits for the result.
    fn run_or_queue<T: Send + 'static>(
        &self,
        command: impl FnOnce(WriterReply<T>) -> Command,
    ) -> Result<T, AppendError> {
        let Some(guard) = self.0.queue.try_acquire() else { return self.queue_and_wait(command) };
        let (reply, wait) = reply_channel();
        run_command(guard, command(reply));
        wait()
    }

    pub(super) fn writer_queue(&self) -> &WriterQueue {
        &self.0.queue
    }

    /// Queues a command, or returns it if the queue is full.
    pub(super) fn try_queue(&self, command: Command) -> Result<(), Command> {
        self.0.try_queue(command)
    }

    pub(super) fn queue_and_wait<T: Send + 'static>(
        &self,
        command: impl FnOnce(WriterReply<T>) -> Command,
    ) -> Result<T, AppendError> {
        let (reply, wait) = reply_channel();
        self.0
            .start_thread()
            .map_err(|error| AppendError::Rejected(format!("cannot start a thread: {error}")))?;
        self.0.queue.push_blocking(command(reply));
        wait()
    }
}

/// Returns a reply and a function that waits for its result.
fn reply_channel<T: Send + 'static>() -> (WriterReply<T>, impl FnOnce() -> Result<T, AppendError>) {
    let (sender, receiver) = sync_channel(1);
    let reply = WriterReply::new(move |result| drop(sender.send(result)));
    (reply, move || receiver.recv().map_err(|_| AppendError::Closed)?)
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ledger(…)")
    }
}

impl LedgerInner {
    fn try_queue(&self, command: Command) -> Result<(), Command> {
        match self.start_thread() {
            Ok(()) => self.queue.try_push(command),
            Err(_) => Err(command),
        }
    }

    /// Starts the ledger's thread, unless it is running or has already ended.
    fn start_thread(&self) -> std::io::Result<()> {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*thread, LedgerThread::NotStarted) {
            let queue = Arc::clone(&self.queue);
            let started =
                std::thread::Builder::new().name("ledger".into()).spawn(move || run_writer_thread(&queue))?;
            *thread = LedgerThread::Running(started);
        }
        Ok(())
    }

    fn join_thread(&self) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        let previous = std::mem::replace(&mut *thread, LedgerThread::Joined);
        drop(thread);
        if let LedgerThread::Running(thread) = previous
            && thread.thread().id() != std::thread::current().id()
        {
            // A writer that panicked has released the lock too.
            drop(thread.join());
        }
    }
}

impl Drop for LedgerInner {
    fn drop(&mut self) {
        match self.queue.try_acquire() {
            Some(guard) => drop(guard.close()),
            // If the writer has already been closed, the command is dropped.
            None => self.queue.push_blocking(Command::Close(WriterReply::new(drop))),
        }
        self.join_thread();
    }
}
