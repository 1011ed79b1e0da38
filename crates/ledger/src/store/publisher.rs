// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Publishes checkpoints to sinks in a separate thread, so that a slow sink does not delay appends.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::error::AppendError;
use super::ledger::SinkReport;
use super::reader::Reader;
use crate::checkpoint::Checkpoint;
use crate::hash::Hash;
use crate::note::SignatureLine;
use crate::sink::{CheckpointSink, Publication, SinkError};

type Reports = Arc<Mutex<Vec<SinkReport>>>;

/// Sends checkpoints to the sinks' thread.
#[derive(Debug)]
pub(crate) struct Publisher {
    sender: Option<Sender<(Checkpoint, String)>>,
    cosignatures: Receiver<(u64, Vec<SignatureLine>)>,
    thread: Option<JoinHandle<()>>,
    reports: Reports,
    /// Number of checkpoints being published.
    busy: Arc<std::sync::atomic::AtomicU64>,
    /// Number of leaves in the last checkpoint that was sent to the thread.
    sent: u64,
}

impl Publisher {
    pub(crate) fn start(dir: &Path, sinks: Vec<Box<dyn CheckpointSink>>) -> Self {
        let (sender, inbox) = channel::<(Checkpoint, String)>();
        let (outbox, cosignatures) = channel();
        let reports: Reports = Arc::default();
        let busy = Arc::default();
        let mut this = Self { sender: None, cosignatures, thread: None, reports, busy, sent: 0 };
        if !sinks.is_empty() {
            let (dir, reports, busy) = (dir.to_owned(), Arc::clone(&this.reports), Arc::clone(&this.busy));
            let mut sinks = sinks;
            this.sender = Some(sender);
            this.thread = Some(std::thread::spawn(move || {
                while let Ok(mut next) = inbox.recv() {
                    let mut taken = 1;
                    // Only the newest checkpoint matters, because it covers the earlier ones.
                    while let Ok(newer) = inbox.try_recv() {
                        (next, taken) = (newer, taken + 1);
                    }
                    let lines = publish(&dir, &mut sinks, &next, &reports);
                    // The writer may already be closed.
                    drop(outbox.send((next.0.size, lines)));
                    busy.fetch_sub(taken, std::sync::atomic::Ordering::Relaxed);
                }
            }));
        }
        this
    }

    pub(crate) fn reports(&self) -> Reports {
        Arc::clone(&self.reports)
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.busy.load(std::sync::atomic::Ordering::Relaxed) > 0
    }

    /// Publishes a checkpoint, unless it has already been published.
    pub(crate) fn publish(&mut self, checkpoint: Checkpoint, note: String) {
        if let Some(sender) = self.sender.as_ref().filter(|_| self.sent != checkpoint.size) {
            self.sent = checkpoint.size;
            self.busy.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            // The thread runs until the sender is dropped.
            drop(sender.send((checkpoint, note)));
        }
    }

    /// Returns cosignatures received from witnesses, with the size of their checkpoint.
    pub(crate) fn next_cosignatures(&self) -> Option<(u64, Vec<SignatureLine>)> {
        std::iter::from_fn(|| self.cosignatures.try_recv().ok()).find(|(_, lines)| !lines.is_empty())
    }

    /// Adds a report about a cosignature that could not be stored.
    pub(crate) fn report_lost_cosignature(&self, size: u64, error: &AppendError) {
        let error = Some(SinkError::Failed(format!("cannot store the cosignature: {error}")));
        let report = SinkReport { sink: "witness".to_owned(), size, error };
        self.reports.lock().unwrap_or_else(PoisonError::into_inner).push(report);
    }

    /// Waits until all checkpoints are published.
    pub(crate) fn finish(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // A sink that panicked published nothing; its last report shows that.
            drop(thread.join());
        }
    }
}

fn publish(
    dir: &Path,
    sinks: &mut [Box<dyn CheckpointSink>],
    (checkpoint, note): &(Checkpoint, String),
    reports: &Reports,
) -> Vec<SignatureLine> {
    let failed = |error: &dyn std::fmt::Display| SinkError::Failed(error.to_string());
    let consistency = |old: u64| -> Result<Vec<Hash>, SinkError> {
        let reader = Reader::open(dir).map_err(|error| failed(&error))?;
        let proof = reader.consistency_proof(old, checkpoint.size).map_err(|error| failed(&error))?;
        proof.ok_or(SinkError::RolledBack { held: old, here: checkpoint.size })
    };
    let mut lines = Vec::new();
    let mut fresh = Vec::new();
    for sink in sinks {
        let result = sink.publish(&Publication { note, checkpoint, consistency: &consistency });
        let error = result.as_ref().err().cloned();
        lines.extend(result.unwrap_or_default());
        fresh.push(SinkReport { sink: sink.name(), size: checkpoint.size, error });
    }
    *reports.lock().unwrap_or_else(PoisonError::into_inner) = fresh;
    lines
}
