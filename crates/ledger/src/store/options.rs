// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Options of a ledger.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::busy_callers::BusyCallers;
use crate::sign::Signer;
use crate::sink::CheckpointSink;

/// When an append returns, and what it survives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Durability {
    /// The append returns when the leaf survives a power cut.
    #[default]
    Durable,
    /// The append returns when the leaf survives the end of the process. It is on the disk within 25 ms.
    Relaxed,
}

/// Limits of a commit that several appends share. An idle writer commits immediately, unless the last commit was shared.
#[derive(Debug, Clone, Copy)]
pub struct BatchLimits {
    /// Maximum number of appends.
    pub size: usize,
    /// Maximum duration of the commit.
    pub age: Duration,
    /// How long the first append waits for others after a shared commit.
    pub gather: Duration,
}

/// Interval between published checkpoints; the limit that is reached first applies.
#[derive(Debug, Clone, Copy)]
pub struct CheckpointInterval {
    /// Number of leaves since the last checkpoint.
    pub leaves: u64,
    /// Time since the first leaf that is not in a checkpoint.
    pub age: Duration,
}

/// Options of a ledger that is opened for writing.
pub struct LedgerOptions {
    /// When an append returns.
    pub durability: Durability,
    /// Maximum size of a stored payload, in bytes. Only the hash of a larger one is recorded.
    pub max_payload: usize,
    /// Limits of a commit that several appends share.
    pub batch: BatchLimits,
    /// Threads that may append soon, if the process reports them. Entries wait for others only while one of them works.
    pub callers: Option<Arc<BusyCallers>>,
    /// Maximum length of the queue. Further appends wait or are refused.
    pub queue: usize,
    /// Keep secrets as they are. A user has to turn this on.
    pub keep_raw: bool,
    /// Keep model requests and responses, instead of hashes and counts.
    pub keep_model_text: bool,
    /// Signing key. By default a key file in the ledger's directory.
    pub key: Option<Arc<dyn Signer>>,
    /// Sinks that receive checkpoints.
    pub sinks: Vec<Box<dyn CheckpointSink>>,
    /// Clock, in milliseconds since the Unix epoch.
    pub clock: fn() -> u64,
    /// Interval between published checkpoints. Every commit is signed in any case.
    pub checkpoint_every: CheckpointInterval,
    /// The process records a few leaves and ends: no thread is started, and closing leaves a short journal to the next
    /// writer.
    pub brief: bool,
    /// Idle time after which the journal is moved into the database and truncated.
    pub journal_idle: Duration,
    /// Passphrase for the key in the ledger's directory: unseals it, or seals a new one.
    pub passphrase: Option<String>,
    /// User who is named in the leaf about changed settings.
    pub who: String,
    /// Further settings to record, such as the sinks: a JSON object.
    pub settings: Value,
}

impl LedgerOptions {
    /// Default options with this clock.
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

    /// Options for a process that records a leaf and ends. The commit of the leaf includes a checkpoint.
    pub fn brief(clock: fn() -> u64) -> Self {
        let every = CheckpointInterval { leaves: 1, age: Duration::from_secs(1) };
        Self { checkpoint_every: every, brief: true, ..Self::new(clock) }
    }

    /// Settings that matter to readers of the ledger. A leaf records every change of them.
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
