// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Watches the calls of a run and reports those that its sandbox refuses.

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tenterhook_sandbox::call_observer::{CallObserver, ObservedCall};
use tenterhook_sandbox::{PathSets, RefusedAccess};

/// Maximum number of refused accesses that are kept and reported.
const MAX_REFUSALS: usize = 200;
/// Maximum number of different calls that are remembered, so that they are classified once.
const MAX_REMEMBERED_CALLS: usize = 20_000;
/// Maximum number of calls that wait to be classified.
const MAX_QUEUED_CALLS: usize = 4_096;
/// How long the supervisor waits for the last refusals after all processes of the run have ended.
const END_TIMEOUT: Duration = Duration::from_secs(2);

/// What the run's rules say about a protected path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RefusalRuleText {
    /// Reason of the rule.
    pub reason: Option<String>,
    /// What the rule suggests instead.
    pub suggestion: Option<String>,
}

/// A refused access and what its rule says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusalReport {
    /// Access that the sandbox refused.
    pub access: RefusedAccess,
    /// Text of the rule that protects the path.
    pub text: RefusalRuleText,
}

/// Classifies the calls of one run.
pub(crate) struct RefusalWatch {
    pub(crate) sets: PathSets,
    pub(crate) visible: Vec<PathBuf>,
    pub(crate) texts: BTreeMap<String, RefusalRuleText>,
    pub(crate) found: RefusalList,
}

/// The refused accesses of a run so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct RefusalList {
    refused: Arc<Mutex<Vec<RefusedAccess>>>,
    ended: Arc<Mutex<Option<Receiver<()>>>>,
}

impl RefusalList {
    /// Waits until the calls of an ended run are classified, and returns the refused ones.
    pub(crate) fn take(&self) -> Vec<RefusedAccess> {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(ended) = ended {
            // The sender is dropped at the end.
            let _ = ended.recv_timeout(END_TIMEOUT);
        }
        std::mem::take(&mut *self.refused.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Adds an access. Returns whether it is new.
    fn add(&self, access: &RefusedAccess) -> bool {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        let is_new = refused.len() < MAX_REFUSALS && !refused.contains(access);
        if is_new {
            refused.push(access.clone());
        }
        is_new
    }

    /// Returns a value that is dropped when all calls are classified.
    pub(crate) fn expect_calls(&self) -> Sender<()> {
        let (sender, receiver) = channel();
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(receiver);
        sender
    }
}

impl RefusalWatch {
    /// Lets the calls of a run continue, and reports the refused ones, until the run has ended.
    pub(crate) fn watch(
        self,
        observer: &CallObserver,
        ended: Sender<()>,
        report: impl Fn(RefusalReport) + Send + 'static,
    ) {
        let (calls, queued) = sync_channel::<ObservedCall>(MAX_QUEUED_CALLS);
        // Held calls wait for this thread, so it does nothing else.
        std::thread::spawn(move || {
            self.classify(&queued, report);
            drop(ended);
        });
        let mut seen = HashSet::new();
        while let Ok(Some(observed)) = observer.next_calls() {
            for call in observed {
                if seen.len() >= MAX_REMEMBERED_CALLS {
                    seen.clear();
                }
                if seen.insert((call.operation, call.path.clone())) {
                    offer(&calls, call);
                }
            }
        }
    }

    fn classify(&self, queued: &Receiver<ObservedCall>, report: impl Fn(RefusalReport) + Send + 'static) {
        let (reports, unsent) = channel();
        // A report waits for the daemon.
        let reporter = std::thread::spawn(move || unsent.into_iter().for_each(report));
        let mut reported = HashSet::new();
        while let Ok(call) = queued.recv() {
            let Some(access) = self.sets.refused_access(&call, &self.visible) else { continue };
            // One report is enough for the files of a directory that is merely not writable.
            let key = match &access.protected_by {
                Some(_) => access.path.clone(),
                None => access.path.parent().unwrap_or(&access.path).to_owned(),
            };
            if !self.found.add(&access) || !reported.insert((key, access.operation)) {
                continue;
            }
            let text = access.protected_by.as_ref().and_then(|rule| self.texts.get(rule));
            let text = text.cloned().unwrap_or_default();
            let _ = reports.send(RefusalReport { access, text });
        }
        drop(reports);
        let _ = reporter.join();
    }
}

/// Queues a call. With a full queue, its refusal is not reported: the run waits for the caller, and must not fill its memory.
fn offer(queue: &SyncSender<ObservedCall>, call: ObservedCall) {
    let _ = queue.try_send(call);
}

#[cfg(test)]
mod tests {
    use tenterhook_sandbox::call_observer::PathOperation;

    use super::*;

    #[test]
    fn a_flood_of_calls_neither_waits_nor_fills_the_memory() {
        let (calls, queued) = sync_channel::<ObservedCall>(MAX_QUEUED_CALLS);
        for number in 0..MAX_QUEUED_CALLS * 3 {
            let path = PathBuf::from(format!("/{number}"));
            offer(&calls, ObservedCall { operation: PathOperation::Write, path });
        }
        assert_eq!(queued.try_iter().count(), MAX_QUEUED_CALLS);
    }
}
