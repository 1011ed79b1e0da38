// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Values that [`Ledger::append`] accepts, and how callers are notified.

use super::error::AppendError;
use super::ledger::{Appended, Command, Ledger, WriterReply};
use crate::entry::{LedgerEntry, SealedEntry, SealingOptions};
use crate::sign::SignError;

/// Values that [`Ledger::append`] accepts:
///
/// | value | returns | result |
/// |---|---|---|
/// | [`LedgerEntry`], [`SealedEntry`] | when the entry is recorded | the record's number |
/// | `Vec<SealedEntry>` | when all are recorded, in order; in one commit if no other caller writes | the numbers |
/// | [`QueuedEntry`] | immediately | the number, passed to a callback |
///
/// The ledger's [`Durability`](super::Durability) defines when an entry is recorded.
pub trait Append {
    /// The value that `append` returns.
    type Receipt;

    /// Records the value in this ledger.
    fn append_to(self, ledger: &Ledger) -> Self::Receipt;
}

/// An entry that may already be sealed.
pub trait IntoSealed {
    /// Seals the entry if it is not sealed yet.
    fn into_sealed(self, sealing: &SealingOptions) -> Result<Box<SealedEntry>, SignError>;
}

/// An entry that is recorded in the background. The ledger's thread calls `done` when the entry is recorded, so `done`
/// must be quick and must not wait for the ledger.
#[must_use = "an entry is recorded by `Ledger::append`"]
#[derive(Debug)]
pub struct QueuedEntry<E, D> {
    entry: E,
    done: D,
    inline_if_idle: bool,
}

/// Error for a full queue. The entry is returned, and its `done` callback is not called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not recorded: the ledger's queue is full")]
pub struct QueueFull(
    /// The entry, which can be appended again later.
    pub Box<SealedEntry>,
);

impl IntoSealed for LedgerEntry {
    fn into_sealed(self, sealing: &SealingOptions) -> Result<Box<SealedEntry>, SignError> {
        self.seal(sealing).map(Box::new)
    }
}

impl IntoSealed for Box<SealedEntry> {
    fn into_sealed(self, _: &SealingOptions) -> Result<Self, SignError> {
        Ok(self)
    }
}

impl Append for LedgerEntry {
    type Receipt = Result<Appended, AppendError>;

    fn append_to(self, ledger: &Ledger) -> Self::Receipt {
        self.seal(ledger.sealing())?.append_to(ledger)
    }
}

impl Append for SealedEntry {
    type Receipt = Result<Appended, AppendError>;

    fn append_to(self, ledger: &Ledger) -> Self::Receipt {
        match ledger.writer_queue().try_acquire() {
            Some(mut guard) => guard.with_writer(|writer| writer.append(&self)),
            None => ledger.queue_and_wait(|reply| Command::Append(Box::new(self), reply)),
        }
    }
}

impl Append for Vec<SealedEntry> {
    type Receipt = Result<Vec<Appended>, AppendError>;

    fn append_to(self, ledger: &Ledger) -> Self::Receipt {
        let Some(mut guard) = ledger.writer_queue().try_acquire() else {
            return self.into_iter().map(|entry| entry.append_to(ledger)).collect();
        };
        let mut appended = Vec::with_capacity(self.len());
        while appended.len() < self.len() {
            let rest = self.iter().skip(appended.len());
            for result in guard.with_writer(|writer| writer.commit(rest))? {
                appended.push(result?);
            }
        }
        Ok(appended)
    }
}

impl<E, D> Append for QueuedEntry<E, D>
where
    E: IntoSealed,
    D: FnOnce(Result<Appended, AppendError>) + Send + 'static,
{
    type Receipt = Result<(), QueueFull>;

    fn append_to(self, ledger: &Ledger) -> Self::Receipt {
        let Self { entry, done, inline_if_idle } = self;
        let entry = match entry.into_sealed(ledger.sealing()) {
            Ok(entry) => entry,
            Err(error) => {
                done(Err(error.into()));
                return Ok(());
            }
        };
        if inline_if_idle && let Some(mut guard) = ledger.writer_queue().try_acquire_unbatched() {
            let appended = guard.with_writer(|writer| writer.append(&entry));
            drop(guard);
            done(appended);
            return Ok(());
        }
        match ledger.try_queue(Command::Append(entry, WriterReply::new(done))) {
            Err(Command::Append(entry, reply)) => {
                reply.cancel();
                Err(QueueFull(entry))
            }
            // Dropping the reply reports that the ledger is closed.
            _ => Ok(()),
        }
    }
}

impl<E, D> QueuedEntry<E, D>
where
    E: IntoSealed,
    D: FnOnce(Result<Appended, AppendError>) + Send + 'static,
{
    /// Creates a queued entry from a [`LedgerEntry`] or boxed [`SealedEntry`]. `done` is called when it is recorded.
    pub fn new(entry: E, done: D) -> Self {
        Self { entry, done, inline_if_idle: false }
    }

    /// Records the entry in the caller's thread if no other caller is writing or is expected to write. No other
    /// thread is woken, but the caller waits for the disk.
    pub fn inline_if_idle(self) -> Self {
        Self { inline_if_idle: true, ..self }
    }
}
