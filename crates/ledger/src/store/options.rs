// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How a ledger is kept.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::busy_callers::BusyCallers;
use crate::sign::Signer;
use crate::sink::Sink;

/// When an append returns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// When the leaf would survive a power cut.
    #[default]
    Durable,
    /// When it would survive the end of this process; it is on the disk 25 ms later.
    Relaxed,
}

/// How many appends share a commit. A writer with nothing else to do commits at once, unless several came at
/// once before.
#[derive(Debug, Clone, Copy)]
pub struct Batch {
    /// At most so many.
    pub size: usize,
    /// At most so long after the first of them.
    pub age: Duration,
    /// How long the first of them waits for others, where several came at once before.
    pub gather: Duration,
}

/// How often a checkpoint is signed and goes out, whichever comes first.
#[derive(Debug, Clone, Copy)]
pub struct Every {
    /// After so many leaves.
    pub leaves: u64,
    /// So long after the first leaf that it would add.
    pub age: Duration,
}

/// How a ledger is kept.
pub struct Options {
    /// When an append returns.
    pub durability: Durability,
    /// Larger payloads are recorded by their hash only, in bytes.
    pub max_payload: usize,
    /// How many appends share a commit.
    pub batch: Batch,
    /// Threads that may append soon, if the process reports that: entries wait for others only while one of them works.
    pub callers: Option<Arc<BusyCallers>>,
    /// How many appends may wait; further ones are held back or refused.
    pub queue: usize,
    /// Keep secrets as they are. Somebody has to want that.
    pub keep_raw: bool,
    /// Keep requests to models and their answers, instead of hashes and counts.
    pub keep_model_text: bool,
    /// Who signs. Without one, a key in the ledger's directory that only its owner can read.
    pub key: Option<Arc<dyn Signer>>,
    /// Where checkpoints go.
    pub sinks: Vec<Box<dyn Sink>>,
    /// Milliseconds since the Unix epoch.
    pub clock: fn() -> u64,
    /// How often a checkpoint is signed and goes out. Every commit is signed anyway.
    pub checkpoint_every: Every,
    /// Somebody opens, records a leaf and is gone: no thread is started for that, and closing
    /// leaves work to the next one as long as it is little.
    pub brief: bool,
    /// The journal is emptied into the database when nothing was written for this time.
    pub journal_idle: Duration,
    /// Opens the key in the ledger's directory if it is sealed, and seals a new one.
    pub passphrase: Option<String>,
    /// Who keeps the ledger: named in the leaf that says how.
    pub who: String,
    /// What else belongs to how it is kept, such as where checkpoints go: an object.
    pub settings: Value,
}

impl Options {
    /// The defaults, with this clock.
    pub fn new(clock: fn() -> u64) -> Self {
        Self {
            durability: Durability::Durable,
            max_payload: 1 << 20,
            batch: Batch { size: 1024, age: Duration::from_millis(5), gather: Duration::from_micros(500) },
            callers: None,
            queue: 4096,
            keep_raw: false,
            keep_model_text: false,
            key: None,
            sinks: Vec::new(),
            clock,
            checkpoint_every: Every { leaves: 10_000, age: Duration::from_secs(1) },
            brief: false,
            journal_idle: Duration::from_secs(10),
            passphrase: None,
            who: String::new(),
            settings: Value::Null,
        }
    }

    /// The same for somebody who records a leaf and is gone: a checkpoint is signed in the commit that
    /// records it.
    pub fn brief(clock: fn() -> u64) -> Self {
        let every = Every { leaves: 1, age: Duration::from_secs(1) };
        Self { checkpoint_every: every, brief: true, ..Self::new(clock) }
    }

    /// What a reader of the ledger should know about how it is kept. Whenever it is another than
    /// before, a leaf says so.
    pub(crate) fn kept(&self) -> Value {
        let durability = match self.durability {
            Durability::Durable => "durable",
            Durability::Relaxed => "relaxed",
        };
        let mut kept =
            json!({"durability": durability, "keep_raw": self.keep_raw, "max_payload": self.max_payload});
        if let Some(kept) = kept.as_object_mut().filter(|_| self.keep_model_text) {
            kept.insert("keep_model_text".to_owned(), true.into());
        }
        if let (Some(kept), Value::Object(more)) = (kept.as_object_mut(), &self.settings) {
            kept.extend(more.clone());
        }
        kept
    }
}
