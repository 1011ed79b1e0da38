// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Keeping the journal short. What SQLite has written to its journal must go into the database some
//! time; a thread of its own does that beside the writer, so that no append has to wait for it.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use rusqlite::Connection;

use super::PAGE;

/// So much is written to the journal before it is moved into the database, in bytes.
const LENGTH: usize = 8 << 20;

/// Rings for the thread when it is time, and starts it when it rings first.
#[derive(Debug, Default)]
pub(crate) struct Tidy {
    written: usize,
    bell: Option<SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    /// Nearly all is moved; the writer moves the rest and begins the journal anew.
    settle: Arc<AtomicBool>,
}

impl Tidy {
    /// A leaf of so many bytes goes into the journal.
    pub(crate) fn wrote(&mut self, bytes: usize) {
        self.written += bytes;
    }

    /// A commit went into the journal: says whether it is time.
    pub(crate) fn is_due(&mut self) -> bool {
        // Its last page is not full, and is written whole.
        self.written += PAGE;
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
