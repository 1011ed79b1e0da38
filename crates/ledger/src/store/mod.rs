// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The store: an SQLite database with one writer and any number of readers.

mod append;
mod block;
mod busy_callers;
mod counters;
mod error;
mod index_check;
mod keys;
mod ledger;
mod lock_file;
mod migrate;
mod open;
mod options;
mod pending_entries;
mod publisher;
mod query;
mod reader;
mod removal;
mod retention;
mod rows;
mod scan;
mod stats;
mod text_filter;
mod undelivered;
mod verify_store;
mod wal_checkpoint;
mod writer;
mod writer_queue;
mod writer_signing;
mod writer_thread;

pub use append::{Append, IntoSealed, QueueFull, QueuedEntry};
pub use busy_callers::BusyCallers;
pub use error::{AppendError, OpenError, ReadError, StoreRefusal};
pub use ledger::{Appended, Ledger, OpenedLedger, SinkReport};
pub use migrate::STORE_FORMAT;
pub use open::published_checkpoint;
pub use options::{BatchLimits, CheckpointInterval, Durability, LedgerOptions};
pub use query::{Filter, RecordPage};
pub use reader::{FileFormat, Reader, StoredPayload, StoredRecord};
pub use retention::PruneBatch;
pub use scan::DecisionRef;
pub use stats::{DiskUse, Stats};
pub use writer_signing::SETTINGS_CHANGE;

/// Name of the database file.
const DATABASE_FILE: &str = "ledger.db";
/// Name of the file with the latest checkpoint.
const CHECKPOINT_FILE: &str = "checkpoint";
/// Maximum time from a relaxed append to its commit.
const MAX_RELAXED_DELAY: std::time::Duration = std::time::Duration::from_millis(25);
/// Size of a database page. A page has room for a few leaves, so a commit of one leaf writes one page.
const PAGE_BYTES: usize = 8192;
