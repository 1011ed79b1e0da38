// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checkpoints SQLite's write-ahead log (the journal). A separate thread moves the journal into the database, so that
//! appends do not wait for it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::open::BUSY_TIMEOUT;
use super::writer::Writer;
use super::{DATABASE_FILE, PAGE_BYTES};

/// Maximum number of bytes written to the journal before it is checkpointed.
const MAX_JOURNAL_BYTES: usize = 8 << 20;
/// Maximum length of a journal that the writer checkpoints itself. A process that records only a few leaves
/// (`LedgerOptions::brief`) leaves such a short journal for the next writer.
pub(crate) const SHORT_JOURNAL_BYTES: u64 = 1 << 20;
/// How long the thread has for a checkpoint before the writer checks again.
const CHECKPOINT_WAIT: Duration = Duration::from_millis(500);
/// Maximum number of attempts to truncate an idle ledger's journal. After that, the next commit starts new attempts.
const MAX_IDLE_CHECKS: u32 = 100;

/// Requests checkpoints from a thread that is started by the first request.
#[derive(Debug, Default)]
pub(crate) struct WalCheckpointer {
    written: usize,
    requests: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Whether the thread has moved most of the journal. The writer then moves the rest, so the journal starts over.
    finish_requested: Arc<AtomicBool>,
    /// Idle time after which the journal is truncated; never if `None`.
    idle: Option<Duration>,
    /// When the writer next tries to truncate the journal.
    idle_due: Option<Instant>,
    /// Number of attempts since the last commit.
    idle_checks: u32,
}

impl WalCheckpointer {
    pub(crate) fn new(idle: Option<Duration>) -> Self {
        let mut this = Self::default();
        // The previous writer may have left a long journal.
        (this.idle, this.idle_due) = (idle, idle.map(|idle| Instant::now() + idle));
        this
    }

    /// Returns the time of the next attempt to truncate the journal.
    pub(crate) fn idle_due(&self) -> Option<Instant> {
        self.idle_due
    }

    /// Adds to the number of bytes written to the journal.
    pub(crate) fn add_written(&mut self, bytes: usize) {
        self.written += bytes;
    }

    /// Counts a commit. Returns whether a checkpoint is due.
    pub(crate) fn finish_commit(&mut self) -> bool {
        // The last page is written completely.
        self.written += PAGE_BYTES;
        (self.idle_due, self.idle_checks) = (self.idle.map(|idle| Instant::now() + idle), 0);
        self.written >= MAX_JOURNAL_BYTES
    }

    /// Requests a checkpoint from the thread.
    pub(crate) fn request_checkpoint(&mut self, database: &Path) {
        self.written = 0;
        if self.requests.is_none() {
            self.start_thread(database);
        }
        if let Some(requests) = &self.requests {
            // A request that is already waiting covers this request.
            let _ = requests.try_send(());
        }
    }

    /// Returns whether the writer must finish a checkpoint, and resets the request.
    pub(crate) fn take_finish_request(&mut self) -> bool {
        self.finish_requested.load(Ordering::Relaxed) && self.finish_requested.swap(false, Ordering::Relaxed)
    }

    /// Starts the thread. If starting fails, SQLite checkpoints during an append.
    fn start_thread(&mut self, database: &Path) {
        let (requests, received) = sync_channel(1);
        let (finish_requested, database) = (Arc::clone(&self.finish_requested), database.to_owned());
        let run = move || {
            let Ok(connection) = Connection::open(database) else { return };
            while received.recv().is_ok() {
                if checkpoint_passive(&connection).is_ok() {
                    finish_requested.store(true, Ordering::Relaxed);
                }
            }
        };
        self.thread = std::thread::Builder::new().name("ledger-wal".into()).spawn(run).ok();
        self.requests = Some(requests);
    }
}

impl Writer {
    /// Truncates an idle ledger's journal, so that a copy of the database file is complete and the ledger is small.
    /// The thread checkpoints a long journal first; then the writer truncates it. Appends therefore never wait for a
    /// reader, and wait for the disk only as long as a short journal takes.
    pub(super) fn empty_idle_journal(&mut self) {
        let now = Instant::now();
        if self.wal.idle_due.is_none_or(|due| due > now) {
            return;
        }
        self.wal.idle_due = None;
        let journal = std::fs::metadata(self.dir.join(format!("{DATABASE_FILE}-wal")));
        let length = journal.map_or(0, |journal| journal.len());
        self.wal.idle_checks += 1;
        if length == 0 || self.wal.idle_checks > MAX_IDLE_CHECKS {
            return;
        }
        if length > SHORT_JOURNAL_BYTES && !self.wal.take_finish_request() {
            self.wal.request_checkpoint(&self.dir.join(DATABASE_FILE));
            self.wal.idle_due = Some(now + CHECKPOINT_WAIT);
            return;
        }
        if !truncate_journal(&self.connection).unwrap_or(false) {
            // A reader is still using the journal.
            self.wal.idle_due = self.wal.idle.map(|idle| now + idle);
        }
    }
}

impl Drop for WalCheckpointer {
    fn drop(&mut self) {
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // Closing the connection moves the rest.
            drop(thread.join());
        }
    }
}

/// Moves as much of the journal as possible into the database without waiting.
pub(crate) fn checkpoint_passive(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()))
}

/// Truncates the journal, unless a reader is using it. Returns whether the journal was truncated.
fn truncate_journal(connection: &Connection) -> rusqlite::Result<bool> {
    connection.busy_timeout(Duration::ZERO)?;
    let is_busy: rusqlite::Result<i64> =
        connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0));
    connection.busy_timeout(BUSY_TIMEOUT)?;
    Ok(is_busy? == 0)
}
