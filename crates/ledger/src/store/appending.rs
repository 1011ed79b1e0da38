// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What [`Ledger::append`] takes, and how the caller learns that it is recorded.

use super::error::AppendError;
use super::ledger::{Appended, Command, Ledger, Reply};
use crate::entry::{Entry, Sealed, Sealing};
use crate::sign::SignError;

/// What [`Ledger::append`] takes:
///
/// | value | returns | receipt |
/// |---|---|---|
/// | [`Entry`], [`Sealed`] | when it is recorded | its place |
/// | `Vec<Sealed>` | when all are recorded, in this order; in one commit if no other caller writes | their places |
/// | [`Queued`] | at once | its place, through a callback |
///
/// *Recorded* means what the ledger's [`Durability`](super::Durability) says.
pub trait Append {
    /// What the caller gets.
    type Receipt;

    /// Records it in this ledger.
    fn append_to(self, ledger: &Ledger) -> Self::Receipt;
}

/// One thing to record that the ledger seals if it is not sealed yet.
pub trait IntoSealed {
    /// The entry as it will be recorded.
    fn into_sealed(self, sealing: &Sealing) -> Result<Box<Sealed>, SignError>;
}

/// An entry that is recorded while the caller goes on. The ledger's thread calls `done` when the entry is recorded,
/// so `done` must be quick and must not wait for the ledger.
#[must_use = "an entry is recorded by `Ledger::append`"]
#[derive(Debug)]
pub struct Queued<E, D> {
    entry: E,
    done: D,
    inline_if_idle: bool,
}

/// Too many entries wait to be recorded. This one was not taken, and its `done` is not called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not recorded: too many entries wait to be recorded")]
pub struct QueueFull(
    /// The entry, to be appended again later.
    pub Box<Sealed>,
);

// === impl IntoSealed ===

impl IntoSealed for Entry {
    fn into_sealed(self, sealing: &Sealing) -> Result<Box<Sealed>, SignError> {
        self.seal(sealing).map(Box::new)
    }
}

impl IntoSealed for Box<Sealed> {
    fn into_sealed(self, _: &Sealing) -> Result<Self, SignError> {
        Ok(self)
    }
}

// === impl Append ===

impl Append for Entry {
    type Receipt = Result<Appended, AppendError>;

    fn append_to(self, ledger: &Ledger) -> Self::Receipt {
        self.seal(ledger.sealing())?.append_to(ledger)
    }
}

impl Append for Sealed {
    type Receipt = Result<Appended, AppendError>;

    fn append_to(self, ledger: &Ledger) -> Self::Receipt {
        match ledger.desk().take() {
            Some(mut turn) => turn.write(|writer| writer.append(&self)),
            None => ledger.queue(|reply| Command::Append(Box::new(self), reply)),
        }
    }
}

impl Append for Vec<Sealed> {
    type Receipt = Result<Vec<Appended>, AppendError>;

    fn append_to(self, ledger: &Ledger) -> Self::Receipt {
        let Some(mut turn) = ledger.desk().take() else {
            return self.into_iter().map(|entry| entry.append_to(ledger)).collect();
        };
        let mut appended = Vec::with_capacity(self.len());
        while appended.len() < self.len() {
            let rest = self.iter().skip(appended.len());
            for result in turn.write(|writer| writer.commit(rest))? {
                appended.push(result?);
            }
        }
        Ok(appended)
    }
}

impl<E, D> Append for Queued<E, D>
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
        if inline_if_idle && let Some(mut turn) = ledger.desk().take_for_one() {
            let appended = turn.write(|writer| writer.append(&entry));
            drop(turn);
            done(appended);
            return Ok(());
        }
        match ledger.put(Command::Append(entry, Reply::new(done))) {
            Err(Command::Append(entry, reply)) => {
                reply.forget();
                Err(QueueFull(entry))
            }
            // A reply that is dropped says that the ledger is closed.
            _ => Ok(()),
        }
    }
}

// === impl Queued ===

impl<E, D> Queued<E, D>
where
    E: IntoSealed,
    D: FnOnce(Result<Appended, AppendError>) + Send + 'static,
{
    /// An [`Entry`] or a boxed [`Sealed`] one, and what is called when it is recorded.
    pub fn new(entry: E, done: D) -> Self {
        Self { entry, done, inline_if_idle: false }
    }

    /// Records it before `append` returns, in the caller's thread, if no other caller writes or is expected to: that
    /// wakes no other thread, but waits for the disk.
    pub fn inline_if_idle(self) -> Self {
        Self { inline_if_idle: true, ..self }
    }
}
