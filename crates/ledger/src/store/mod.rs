// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The store: SQLite, one writer, any number of readers.

mod append;
mod appending;
mod block;
mod busy_callers;
mod check;
mod counters;
mod desk;
mod error;
mod filing;
mod hold;
mod keys;
mod ledger;
mod migrate;
mod open;
mod options;
mod pending;
mod publish;
mod query;
mod reader;
mod remove;
mod retention;
mod rows;
mod scan;
mod serve;
mod signing;
mod stats;
mod text_filter;
mod tidy;
mod undelivered;

pub use appending::{Append, IntoSealed, QueueFull, Queued};
pub use busy_callers::BusyCallers;
pub use error::{AppendError, OpenError, ReadFailed, Refused};
pub use ledger::{Appended, Ledger, Opened, SinkReport};
pub use migrate::STORE_FORMAT;
pub use open::published_checkpoint;
pub use options::{Batch, Durability, Every, Options};
pub use query::{Filter, Found};
pub use reader::{Format, Reader, Record, StoredPayload};
pub use retention::PruneBatch;
pub use scan::Glance;
pub use signing::SETTINGS;
pub use stats::{DiskUse, Stats};

/// The database's file in the ledger's directory.
const DATABASE: &str = "ledger.db";
/// The latest checkpoint, as a file that can be copied.
const CHECKPOINT: &str = "checkpoint";
/// How long a relaxed append may stay sequenced.
const RELAXED: std::time::Duration = std::time::Duration::from_millis(25);
/// Bytes of a page of the database: a few leaves share one, and a commit of one leaf writes one.
const PAGE: usize = 8192;
