// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sinks have a thread of their own: a slow one holds up nobody's append.

use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use super::error::AppendError;
use super::ledger::SinkReport;
use super::reader::Reader;
use crate::checkpoint::Checkpoint;
use crate::hash::Hash;
use crate::note::Line;
use crate::sink::{Publication, Sink, SinkError};

type Reports = Arc<Mutex<Vec<SinkReport>>>;

/// Hands checkpoints to the sinks' thread.
#[derive(Debug)]
pub(crate) struct Publisher {
    out: Option<Sender<(Checkpoint, String)>>,
    back: Receiver<(u64, Vec<Line>)>,
    thread: Option<JoinHandle<()>>,
    reports: Reports,
    /// How many publications are not answered yet.
    busy: Arc<std::sync::atomic::AtomicU64>,
    /// How many leaves the last one has.
    sent: u64,
}

impl Publisher {
    pub(crate) fn start(dir: &Path, sinks: Vec<Box<dyn Sink>>) -> Self {
        let (out, inbox) = channel::<(Checkpoint, String)>();
        let (outbox, back) = channel();
        let reports: Reports = Arc::default();
        let busy = Arc::default();
        let mut this = Self { out: None, back, thread: None, reports, busy, sent: 0 };
        if !sinks.is_empty() {
            let (dir, reports, busy) = (dir.to_owned(), Arc::clone(&this.reports), Arc::clone(&this.busy));
            let mut sinks = sinks;
            this.out = Some(out);
            this.thread = Some(std::thread::spawn(move || {
                while let Ok(mut next) = inbox.recv() {
                    let mut taken = 1;
                    // Only the newest matters: it covers all before it.
                    while let Ok(newer) = inbox.try_recv() {
                        (next, taken) = (newer, taken + 1);
                    }
                    let lines = publish(&dir, &mut sinks, &next, &reports);
                    // The writer may be gone already.
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

    /// Sends a checkpoint out, unless that was done.
    pub(crate) fn publish(&mut self, checkpoint: Checkpoint, note: String) {
        if let Some(out) = self.out.as_ref().filter(|_| self.sent != checkpoint.size) {
            self.sent = checkpoint.size;
            self.busy.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            // The thread ends only when we do.
            drop(out.send((checkpoint, note)));
        }
    }

    /// What a witness has answered, and to which checkpoint.
    pub(crate) fn cosigned(&self) -> Option<(u64, Vec<Line>)> {
        std::iter::from_fn(|| self.back.try_recv().ok()).find(|(_, lines)| !lines.is_empty())
    }

    /// Adds a report about cosignatures of a witness that could not be stored.
    pub(crate) fn report_unkept_cosignature(&self, size: u64, error: &AppendError) {
        let error = Some(SinkError::Failed(format!("its cosignature could not be stored: {error}")));
        let report = SinkReport { sink: "witness".to_owned(), size, error };
        self.reports.lock().unwrap_or_else(PoisonError::into_inner).push(report);
    }

    /// Waits until the sinks have taken everything.
    pub(crate) fn finish(&mut self) {
        self.out = None;
        if let Some(thread) = self.thread.take() {
            // A sink that panicked has published nothing; its report says so by its age.
            drop(thread.join());
        }
    }
}

fn publish(
    dir: &Path,
    sinks: &mut [Box<dyn Sink>],
    (checkpoint, note): &(Checkpoint, String),
    reports: &Reports,
) -> Vec<Line> {
    let failed = |error: &dyn std::fmt::Display| SinkError::Failed(error.to_string());
    let consistency = |old: u64| -> Result<Vec<Hash>, SinkError> {
        let reader = Reader::open(dir).map_err(|error| failed(&error))?;
        let proof = reader.consistency(old, checkpoint.size).map_err(|error| failed(&error))?;
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
