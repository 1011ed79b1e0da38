// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Keeping the journal short. What SQLite has written to its journal must go into the database some
//! time; a thread of its own does that beside the writer, so that no append has to wait for it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::append::Writer;
use super::open::BUSY_TIMEOUT;
use super::{DATABASE, PAGE};

/// So much is written to the journal before it is moved into the database, in bytes.
const LENGTH: usize = 8 << 20;
/// A journal up to this length, in bytes, is moved in one go, and a writer that is gone at once leaves it as it is.
pub(crate) const SHORT_JOURNAL: u64 = 1 << 20;
/// How long the thread gets to move the journal before the writer looks whether it has.
const MOVING: Duration = Duration::from_millis(500);
/// A journal that cannot be emptied after so many looks is left to the next commit.
const IDLE_LOOKS: u32 = 100;

/// Rings for the thread when it is time, and starts it when it rings first.
#[derive(Debug, Default)]
pub(crate) struct Tidy {
    written: usize,
    bell: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Nearly all is moved; the writer moves the rest and begins the journal anew.
    settle: Arc<AtomicBool>,
    /// The journal is emptied when nothing was written for this time; `None`: never.
    idle: Option<Duration>,
    /// When the writer looks whether the journal is to be emptied.
    idle_due: Option<Instant>,
    /// How often it looked since the last commit.
    idle_looks: u32,
}

impl Tidy {
    pub(crate) fn new(idle: Option<Duration>) -> Self {
        let mut this = Self::default();
        // The last writer may have left a long one.
        (this.idle, this.idle_due) = (idle, idle.map(|idle| Instant::now() + idle));
        this
    }

    /// When there is something to do without a commit.
    pub(crate) fn idle_due(&self) -> Option<Instant> {
        self.idle_due
    }

    /// A leaf of so many bytes goes into the journal.
    pub(crate) fn wrote(&mut self, bytes: usize) {
        self.written += bytes;
    }

    /// A commit went into the journal: says whether it is time.
    pub(crate) fn is_due(&mut self) -> bool {
        // Its last page is not full, and is written whole.
        self.written += PAGE;
        (self.idle_due, self.idle_looks) = (self.idle.map(|idle| Instant::now() + idle), 0);
        self.written >= LENGTH
    }

    /// Has the journal moved into the database.
    pub(crate) fn ring(&mut self, database: &Path) {
        self.written = 0;
        if self.bell.is_none() {
            self.start(database);
        }
        if let Some(bell) = &self.bell {
            // If it is still at it, it comes to this as well.
            let _ = bell.try_send(());
        }
    }

    /// Whether the writer is to move what is left.
    pub(crate) fn settles(&mut self) -> bool {
        self.settle.load(Ordering::Relaxed) && self.settle.swap(false, Ordering::Relaxed)
    }

    /// Without a thread SQLite does it by itself, only later and in the way of an append.
    fn start(&mut self, database: &Path) {
        let (bell, rung) = sync_channel(1);
        let (settle, database) = (Arc::clone(&self.settle), database.to_owned());
        let tidy = move || {
            let Ok(connection) = Connection::open(database) else { return };
            while rung.recv().is_ok() {
                if checkpoint(&connection).is_ok() {
                    settle.store(true, Ordering::Relaxed);
                }
            }
        };
        self.thread = std::thread::Builder::new().name("ledger-tidy".into()).spawn(tidy).ok();
        self.bell = Some(bell);
    }
}

impl Writer {
    /// Empties the journal, once nothing was written for a while, so that a copy of the database is whole and an idle
    /// ledger is small. A long one is moved by the thread first; then the writer cuts the file. No append waits for
    /// a reader because of it, nor for more of the disk than a short journal takes. Nothing is due afterwards.
    pub(super) fn empty_idle_journal(&mut self) {
        let now = Instant::now();
        if self.tidy.idle_due.is_none_or(|due| due > now) {
            return;
        }
        self.tidy.idle_due = None;
        let journal = std::fs::metadata(self.dir.join(format!("{DATABASE}-wal")));
        let length = journal.map_or(0, |journal| journal.len());
        self.tidy.idle_looks += 1;
        if length == 0 || self.tidy.idle_looks > IDLE_LOOKS {
            return;
        }
        if length > SHORT_JOURNAL && !self.tidy.settles() {
            self.tidy.ring(&self.dir.join(DATABASE));
            self.tidy.idle_due = Some(now + MOVING);
            return;
        }
        if !cut(&self.connection).unwrap_or(false) {
            // A reader still uses the journal.
            self.tidy.idle_due = self.tidy.idle.map(|idle| now + idle);
        }
    }
}

impl Drop for Tidy {
    fn drop(&mut self) {
        self.bell = None;
        if let Some(thread) = self.thread.take() {
            // What it has not moved is moved on closing.
            drop(thread.join());
        }
    }
}

/// Moves what can be moved without being in anybody's way.
pub(crate) fn checkpoint(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

/// Cuts the journal to nothing, unless somebody uses it. Says whether it did.
fn cut(connection: &Connection) -> rusqlite::Result<bool> {
    connection.busy_timeout(Duration::ZERO)?;
    let is_busy: rusqlite::Result<i64> =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(is_busy? == 0)
}
