// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Options of the ledger.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::busy_callers::BusyCallers;
use crate::sign::Signer;
use crate::sink::CheckpointSink;

/// When an append returns, and which failures the record then survives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// The append returns when the leaf will survive a power cut.
    #[default]
    Durable,
    /// The append returns when the leaf will survive the end of the process. It is written to disk within 25 ms.
    Relaxed,
}

/// Limits for a commit shared by several appends. An idle writer commits at once, unless its last commit was shared.
#[derive(Debug, Clone, Copy)]
pub struct BatchLimits {
    /// Maximum number of appends.
    pub size: usize,
    /// Maximum duration of a commit.
    pub age: Duration,
    /// How long the first append waits for others after a shared commit.
    pub gather: Duration,
}

/// When the next checkpoint is published: when the first of these limits is reached.
#[derive(Debug, Clone, Copy)]
pub struct CheckpointInterval {
    /// Maximum number of leaves since the last checkpoint.
    pub leaves: u64,
    /// Maximum time since the first leaf that is not in a checkpoint.
    pub age: Duration,
}

/// Options for a ledger that is opened for writing.
pub struct LedgerOptions {
    /// When an append returns.
    pub durability: Durability,
    /// Maximum size of a stored payload, in bytes. For a larger payload, only the hash is recorded.
    pub max_payload: usize,
    /// Limits for a commit shared by several appends.
    pub batch: BatchLimits,
    /// Counter of the threads that may append soon, if the process reports them. An entry waits for others to
    /// share its commit only while one of these threads is working.
    pub callers: Option<Arc<BusyCallers>>,
    /// Maximum length of the queue. When it is full, appends wait or are refused.
    pub queue: usize,
    /// Whether secrets are kept unredacted. A user has to turn this on.
    pub keep_raw: bool,
    /// Whether model requests and responses are kept, instead of hashes and counts.
    pub keep_model_text: bool,
    /// Signing key. The default is a key file in the ledger's directory.
    pub key: Option<Arc<dyn Signer>>,
    /// Sinks that receive checkpoints.
    pub sinks: Vec<Box<dyn CheckpointSink>>,
    /// Returns the time in milliseconds since the Unix epoch.
    pub clock: fn() -> u64,
    /// Interval between published checkpoints. Every commit is signed regardless of it.
    pub checkpoint_every: CheckpointInterval,
    /// Whether the process records only a few leaves and then ends. No thread is started, and closing leaves a short
    /// journal for the next writer.
    pub brief: bool,
    /// Idle time after which the journal is moved into the database and truncated.
    pub journal_idle: Duration,
    /// Passphrase for the key in the ledger's directory. It unseals an existing key or seals a new one.
    pub passphrase: Option<String>,
    /// User named in the leaf that records changed settings.
    pub who: String,
    /// Further settings to record, such as the sinks, as a JSON object.
    pub settings: Value,
}

impl LedgerOptions {
    /// Returns the default options with this clock.
    pub fn new(clock: fn() -> u64) -> Self {
        Self {
            durability: Durability::Durable,
            max_payload: 1 << 20,
            batch: BatchLimits {
                size: 1024,
                age: Duration::from_millis(5),
                gather: Duration::from_micros(500),
            },
            callers: None,
            queue: 4096,
            keep_raw: false,
            keep_model_text: false,
            key: None,
            sinks: Vec::new(),
            clock,
            checkpoint_every: CheckpointInterval { leaves: 10_000, age: Duration::from_secs(1) },
            brief: false,
            journal_idle: Duration::from_secs(10),
            passphrase: None,
            who: String::new(),
            settings: Value::Null,
        }
    }

    /// Returns options for a process that records a leaf and ends. The leaf's commit includes a checkpoint.
    pub fn brief(clock: fn() -> u64) -> Self {
        let every = CheckpointInterval { leaves: 1, age: Duration::from_secs(1) };
        Self { checkpoint_every: every, brief: true, ..Self::new(clock) }
    }

    /// Returns the settings that matter to readers of the ledger. Every change to them is recorded in a leaf.
    pub(crate) fn recorded_settings(&self) -> Value {
        let durability = match self.durability {
            Durability::Durable => "durable",
            Durability::Relaxed => "relaxed",
        };
        let mut settings =
            json!({"durability": durability, "keep_raw": self.keep_raw, "max_payload": self.max_payload});
        if let Some(settings) = settings.as_object_mut().filter(|_| self.keep_model_text) {
            settings.insert("keep_model_text".to_owned(), true.into());
        }
        if let (Some(settings), Value::Object(more)) = (settings.as_object_mut(), &self.settings) {
            settings.extend(more.clone());
        }
        settings
    }
}
