// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The handle that callers hold.

use std::path::Path;
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::append::Writer;
use super::error::{AppendError, Full, OpenError};
use super::open;
use super::options::Options;
use crate::entry::{Body, Entry, Sealed, Sealing};
use crate::payload::RedactionKey;
use crate::record::Kind;
use crate::sign::Signer;
use crate::sink::SinkError;

/// A ledger open for writing. Clones share the one writer; the last one to go closes it.
#[derive(Clone)]
pub struct Ledger(Arc<Inner>);

struct Inner {
    commands: SyncSender<Command>,
    sealing: Sealing,
    thread: Mutex<Option<JoinHandle<()>>>,
    reports: Arc<Mutex<Vec<SinkReport>>>,
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
    Close(Reply<()>),
}

/// What is to be taken away, by whom and why.
pub(crate) struct Removal {
    pub(crate) kind: Kind,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) who: String,
    pub(crate) reason: String,
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
    fn new(tell: impl FnOnce(Result<T, AppendError>) + Send + 'static) -> Self {
        Self(Some(Box::new(tell)))
    }

    pub(crate) fn tell(mut self, result: Result<T, AppendError>) {
        if let Some(tell) = self.0.take() {
            tell(result);
        }
    }

    /// Nothing will be told through this.
    fn forget(mut self) {
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
        };
        let reports = writer.publisher().reports();
        let (commands, inbox) = sync_channel(options.queue.max(1));
        let thread = std::thread::Builder::new().name("ledger".into()).spawn(move || writer.run(&inbox));
        let thread = thread.map_err(|source| OpenError::Io { path: dir.to_owned(), source })?;
        let inner = Inner { commands, sealing, thread: Mutex::new(Some(thread)), reports };
        Ok(Opened { ledger: Self(Arc::new(inner)), recovered })
    }

    /// Records an entry and returns when it is durable. Waits when too many are waiting.
    pub fn append(&self, entry: Entry) -> Result<Appended, AppendError> {
        self.append_sealed(entry.seal(&self.0.sealing)?)
    }

    /// Records an entry that was sealed before, such as one from the spool.
    pub fn append_sealed(&self, entry: Sealed) -> Result<Appended, AppendError> {
        self.ask(|reply| Command::Append(Box::new(entry), reply))
    }

    /// Records an entry; `done` hears from the writer's thread when it is durable, so it must be
    /// quick. When too many entries wait, this one is not taken.
    pub fn submit(
        &self,
        entry: Entry,
        done: impl FnOnce(Result<Appended, AppendError>) + Send + 'static,
    ) -> Result<(), Full> {
        let entry = match entry.seal(&self.0.sealing) {
            Ok(entry) => entry,
            Err(error) => {
                done(Err(error.into()));
                return Ok(());
            }
        };
        let reply = Reply::new(done);
        match self.0.commands.try_send(Command::Append(Box::new(entry), reply)) {
            Err(TrySendError::Full(Command::Append(_, reply))) => {
                reply.forget();
                Err(Full)
            }
            // A reply that is dropped says that the ledger is closed.
            _ => Ok(()),
        }
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
    pub fn erase(&self, from: u64, to: u64, who: &str, reason: &str) -> Result<Appended, AppendError> {
        self.remove(Kind::Erase, from, to, who, reason)
    }

    /// Removes leaves `0..=to` and their payloads; their hashes stay, and a leaf says so. Leaves
    /// that the verifier needs (start, changes of keys, erasures, prunings) stay too.
    pub fn prune(&self, to: u64, who: &str, reason: &str) -> Result<Appended, AppendError> {
        self.remove(Kind::Prune, 0, to, who, reason)
    }

    fn remove(
        &self,
        kind: Kind,
        from: u64,
        to: u64,
        who: &str,
        reason: &str,
    ) -> Result<Appended, AppendError> {
        let removal = Removal { kind, from, to, who: who.to_owned(), reason: reason.to_owned() };
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

    fn ask<T: Send + 'static>(&self, command: impl FnOnce(Reply<T>) -> Command) -> Result<T, AppendError> {
        let (answer, wait) = sync_channel(1);
        let reply = Reply::new(move |result| {
            // Whoever asked is waiting just below.
            drop(answer.send(result));
        });
        self.0.commands.send(command(reply)).map_err(|_| AppendError::Closed)?;
        wait.recv().map_err(|_| AppendError::Closed)?
    }
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Ledger(…)")
    }
}

// === impl Inner ===

impl Inner {
    fn join(&self) {
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != std::thread::current().id()) {
            // A writer that panicked has let go of the lock as well.
            drop(thread.join());
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // If the writer is gone, so is what there was to close.
        drop(self.commands.send(Command::Close(Reply::new(drop))));
        self.join();
    }
}

// === removing ===

impl Writer {
    /// Erases payloads or prunes leaves; in the same transaction a leaf says so.
    pub(crate) fn remove(&mut self, removal: &Removal) -> Result<Appended, AppendError> {
        let Removal { kind, from, to, who, reason } = removal;
        if from > to || *to >= self.tree.size() {
            return Err(AppendError::Entry(format!("there are no leaves {from} to {to}")));
        }
        let body = Body {
            who: Some(who.clone()),
            reason: Some(reason.clone()),
            from: Some(*from),
            to: Some(*to),
            ..Body::default()
        };
        let range = [super::rows::signed(*from), super::rows::signed(*to)];
        // Freed pages are overwritten, not only forgotten.
        self.connection.pragma_update(None, "secure_delete", true)?;
        let result = self.own(*kind, body, |connection, _| match kind {
            Kind::Prune => {
                let kept = "kind NOT IN ('start', 'rotate', 'prune', 'erase')";
                let emptied = "source = NULL, session = NULL, tool = NULL, verdict = NULL, rule = NULL, bytes = NULL, salt = NULL, payload = NULL, erased = 0";
                let sql = format!("UPDATE leaves SET {emptied} WHERE seq BETWEEN ?1 AND ?2 AND {kept}");
                connection.execute(&sql, range).map(drop)
            }
            _ => connection
                .execute(
                    "UPDATE leaves SET salt = NULL, payload = NULL, erased = 1
                        WHERE seq BETWEEN ?1 AND ?2 AND salt IS NOT NULL",
                    range,
                )
                .map(drop),
        });
        self.connection.pragma_update(None, "secure_delete", false)?;
        let appended = result?;
        // What was erased is still in the journal until it is emptied. A reader may be in the way;
        // then it goes with the next one.
        drop(self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())));
        Ok(appended)
    }
}
