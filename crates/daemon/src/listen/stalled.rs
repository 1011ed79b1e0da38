// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Threads that wait for a disk or a lock in the middle of a call do not count: others take their place, so
//! that no request keeps the socket from being answered.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

/// A thread that has been busy with one call for so long is stalled.
const STALLED_AFTER: Duration = Duration::from_secs(1);
/// How often threads are looked at.
pub(super) const STALL_CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// How many stalled threads are replaced at most.
pub(super) const MAX_STALLED_THREADS: usize = 256;

/// Since when each thread is busy.
pub(super) struct BusyTimes {
    began: Instant,
    threads: Mutex<Vec<Weak<BusySince>>>,
}

/// Milliseconds after the beginning, or 0 while the thread waits for a connection.
pub(super) struct BusySince(AtomicU64);

/// Says that threads have to be looked at. While there are threads that wait for connections, nothing is looked at.
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

    /// Returns after the next signal, or at once if there was one.
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

    /// Another thread is looked at, as long as it holds this.
    pub(super) fn add(&self) -> Arc<BusySince> {
        let since = Arc::new(BusySince(AtomicU64::new(0)));
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        threads.retain(|thread| thread.strong_count() > 0);
        threads.push(Arc::downgrade(&since));
        since
    }

    /// A thread takes a call.
    pub(super) fn begin(&self, since: &BusySince) {
        since.0.store(self.now().max(1), Ordering::Relaxed);
    }

    /// How many threads are stalled.
    pub(super) fn stalled(&self) -> usize {
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
    /// The thread waits for connections again.
    pub(super) fn end(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}
