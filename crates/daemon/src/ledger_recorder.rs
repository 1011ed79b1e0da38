// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Records decisions in the daemon's ledger.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tenterhook_api::MissingContent;
use tenterhook_engine::{BoxFuture, RecordError, Recorder};
use tenterhook_event::{DecidedCall, HookCall};
use tenterhook_guard::generation_entry;
use tenterhook_ledger::{Appended, LeafOrigin, Ledger, LedgerEntry, QueueFull, QueuedEntry, SealedEntry};
use tenterhook_records::{is_secret_identifier, redact_identifier, secrets};
use tokio::sync::oneshot;

use crate::hook::run_step;
use crate::observers::Observers;

/// Maximum number of attempts while the queue is full; after that the decision counts as not recorded.
const MAX_APPEND_ATTEMPTS: u32 = 200;
const QUEUE_FULL_PAUSE: Duration = Duration::from_millis(5);

/// Records decisions. Each generation (the rules and hooks in force) is recorded before its first decision.
pub(crate) struct LedgerRecorder {
    ledger: Ledger,
    /// Generations that are already recorded.
    known: Mutex<HashSet<String>>,
}

/// Records one call, with the description of its generation.
pub(crate) struct CallRecorder<'a> {
    pub(crate) recorder: &'a LedgerRecorder,
    /// Notified of the decision.
    pub(crate) observers: &'a Observers,
    pub(crate) detail: &'a Value,
    /// Size of the call's payload; 0 for events whose payloads are always small.
    pub(crate) payload_bytes: usize,
}

impl LedgerRecorder {
    pub(crate) fn new(ledger: Ledger) -> Self {
        Self { ledger, known: Mutex::default() }
    }

    /// Records an entry; returns when it is durable.
    pub(crate) async fn append(&self, entry: LedgerEntry) -> Result<Appended, RecordError> {
        self.append_sealed(self.seal(entry)?).await
    }

    /// Seals an entry for the ledger.
    fn seal(&self, entry: LedgerEntry) -> Result<Box<SealedEntry>, RecordError> {
        let sealed = entry.with_origin(LeafOrigin::Daemon).seal(self.ledger.sealing());
        sealed.map(Box::new).map_err(|error| RecordError(error.to_string()))
    }

    /// Records a sealed entry; returns when it is durable. If no other caller is writing, a thread outside the
    /// runtime commits the entry itself, which wakes no other thread. A task of the runtime must not wait for the
    /// disk, so its entry is committed together with all other waiting entries.
    async fn append_sealed(&self, sealed: Box<SealedEntry>) -> Result<Appended, RecordError> {
        let may_wait = tokio::task::try_id().is_none();
        let mut sealed = sealed;
        for attempt in 0..MAX_APPEND_ATTEMPTS {
            let (send, receive) = oneshot::channel();
            let queued = QueuedEntry::new(sealed, move |appended| {
                // The caller may have disconnected, but the record exists.
                let _ = send.send(appended);
            });
            let queued = if may_wait && attempt == 0 { queued.inline_if_idle() } else { queued };
            match self.ledger.append(queued) {
                Ok(()) => {
                    let closed = |_| RecordError("the ledger is closed".to_owned());
                    return receive.await.map_err(closed)?.map_err(|error| RecordError(error.to_string()));
                }
                Err(QueueFull(back)) => sealed = back,
            }
            tokio::time::sleep(QUEUE_FULL_PAUSE).await;
        }
        Err(RecordError("too many decisions are waiting for the disk".to_owned()))
    }

    /// Returns a copy of the call with a redacted tool name, if the name contains a secret.
    fn without_secret_name(&self, decided: &DecidedCall<'_>) -> Option<HookCall> {
        let sealing = self.ledger.sealing();
        let tool = decided.call.event.tool.as_ref()?;
        if sealing.keep_raw || !is_secret_identifier(&tool.name) {
            return None;
        }
        let mut call = decided.call.clone();
        if let Some(tool) = &mut call.event.tool {
            redact_identifier(&mut tool.name, &sealing.key);
            for name in tool.mcp.iter_mut().flat_map(|mcp| [&mut mcp.server, &mut mcp.tool]) {
                redact_identifier(name, &sealing.key);
            }
        }
        Some(call)
    }

    /// Whether a generation has not been recorded yet.
    fn is_new(&self, generation: &str) -> bool {
        !self.known.lock().unwrap_or_else(PoisonError::into_inner).contains(generation)
    }
}

impl Recorder for CallRecorder<'_> {
    fn record<'a>(&'a self, decided: DecidedCall<'a>) -> BoxFuture<'a, Result<(), RecordError>> {
        Box::pin(async move {
            let recorder = self.recorder;
            if recorder.is_new(decided.generation)
                && let Some(entry) = generation_entry(&decided, self.detail)
            {
                recorder.append(entry).await?;
                let mut known = recorder.known.lock().unwrap_or_else(PoisonError::into_inner);
                known.insert(decided.generation.to_owned());
            }
            let clean = recorder.without_secret_name(&decided);
            let decided = match &clean {
                Some(call) => DecidedCall { call, ..decided },
                None => decided,
            };
            let began = Instant::now();
            let seal = || recorder.seal(LedgerEntry::decision(&decided, &secrets));
            let sealed = run_step(self.payload_bytes, seal)?;
            let gone = sealed.is_payload_too_large().then_some(MissingContent::TooLarge);
            let appended = recorder.append_sealed(sealed).await?;
            self.observers.report_decision(&decided, appended, gone, began.elapsed());
            match appended {
                Appended::New { .. } => Ok(()),
                // If the id is repeated, this answer would have no record of its own.
                Appended::AlreadyThere { seq } => {
                    Err(RecordError(format!("its event id was already used by record {seq}")))
                }
            }
        })
    }
}
