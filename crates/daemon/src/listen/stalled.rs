// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Detects threads that a disk or a lock blocks during a call. Other threads replace them, so other calls are served.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// Time after which a thread that works on one call counts as stalled.
const STALLED_AFTER: Duration = Duration::from_secs(1);
/// Interval between checks for stalled threads.
pub(super) const STALL_CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// Maximum number of stalled threads that are replaced.
pub(super) const MAX_STALLED_THREADS: usize = 256;

/// Busy times of all threads.
pub(super) struct BusyTimes {
    began: Instant,
    threads: Mutex<Vec<Weak<BusySince>>>,
}

/// Start of the current call in milliseconds since `began`, or 0 while the thread waits for a connection.
pub(super) struct BusySince(AtomicU64);

/// Signals that no thread is waiting for connections. Threads are checked only then.
#[derive(Debug, Default)]
pub(super) struct CrowdedSignal {
    is_crowded: Mutex<bool>,
    changed: Condvar,
}

impl CrowdedSignal {
    pub(super) fn signal(&self) {
        *self.is_crowded.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.changed.notify_one();
    }

    /// Waits for the next signal, or returns at once if there already was one.
    pub(super) fn wait(&self) {
        let crowded = self.is_crowded.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_while(crowded, |crowded| !*crowded);
        *waited.unwrap_or_else(PoisonError::into_inner) = false;
    }
}

impl BusyTimes {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), threads: Mutex::default() }
    }

    /// Adds a thread, which is checked until it drops the returned value.
    pub(super) fn add(&self) -> Arc<BusySince> {
        let since = Arc::new(BusySince(AtomicU64::new(0)));
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| thread.strong_count() > 0);
        threads.push(Arc::downgrade(&since));
        since
    }

    pub(super) fn begin(&self, since: &BusySince) {
        since.0.store(self.now().max(1), Ordering::Relaxed);
    }

    pub(super) fn count_stalled(&self) -> usize {
        let limit = u64::try_from(STALLED_AFTER.as_millis()).unwrap_or(u64::MAX);
        let now = self.now();
        let is_stalled = |thread: &&Weak<BusySince>| {
            let since = thread.upgrade().map_or(0, |thread| thread.0.load(Ordering::Relaxed));
            since > 0 && now.saturating_sub(since) > limit
        };
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).iter().filter(is_stalled).count()
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

impl BusySince {
    /// Marks the thread as waiting for connections.
    pub(super) fn end(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}
