// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Returns free memory to the system after a burst of calls. Allocators keep freed memory: after 2,000 concurrent
//! calls that is several hundred megabytes, which a daemon would otherwise keep for weeks.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

use crate::daemon::Daemon;

/// Number of concurrent calls that counts as a burst.
const BURST_CALLS: usize = 32;
/// Request size that leaves as much memory behind as a burst.
const LARGE_REQUEST_BYTES: usize = 4 * 1024 * 1024;
/// Time without new activity after which a burst is over.
const QUIET_AFTER_BURST: Duration = Duration::from_secs(5);

/// Functions that return free memory to the system. They depend on the allocator, which the program chooses.
#[derive(Debug, Clone, Copy)]
pub struct MemoryRelease {
    /// Returns free memory of the whole process to the system. Called once after each burst.
    pub of_process: fn(),
    /// Returns free memory of the calling thread's heap, for allocators where no other thread can do that. Called on
    /// each thread of the runtime after each burst.
    pub of_thread: fn(),
}

/// Notices bursts of calls. It costs nothing between bursts, because no timer runs.
#[derive(Debug, Default)]
pub(crate) struct BurstWatch {
    is_seen: AtomicBool,
    seen: Notify,
}

impl BurstWatch {
    /// Notes the current number of running calls.
    pub(crate) fn note_calls(&self, calls: usize) {
        if calls >= BURST_CALLS {
            self.note();
        }
    }

    pub(crate) fn note_request(&self, bytes: usize) {
        if bytes >= LARGE_REQUEST_BYTES {
            self.note();
        }
    }

    /// Notes that much memory was used for a moment.
    pub(crate) fn note(&self) {
        if !self.is_seen.swap(true, Ordering::Relaxed) {
            self.seen.notify_one();
        }
    }

    /// Returns once a burst is over.
    async fn wait_for_end(&self) {
        self.seen.notified().await;
        while self.is_seen.swap(false, Ordering::Relaxed) {
            tokio::time::sleep(QUIET_AFTER_BURST).await;
        }
    }
}

/// Counts releases, so that each thread of the runtime takes part in each release once.
#[derive(Debug, Default)]
pub(crate) struct ReleaseCount(AtomicU64);

impl ReleaseCount {
    /// Releases the thread's memory if a release is due. Called when a thread of the runtime has nothing to do.
    pub(crate) fn release_if_due(&self, release: MemoryRelease) {
        thread_local!(static RELEASED: Cell<u64> = const { Cell::new(0) });
        let due = self.0.load(Ordering::Relaxed);
        if RELEASED.replace(due) != due {
            (release.of_thread)();
        }
    }
}

/// Returns memory to the system after each burst.
pub(crate) async fn watch(daemon: Arc<Daemon>, release: MemoryRelease, count: Arc<ReleaseCount>) {
    loop {
        daemon.bursts.wait_for_end().await;
        count.0.fetch_add(1, Ordering::Relaxed);
        // Each task wakes a thread, which releases its memory before it waits again.
        for _ in 0..tokio::runtime::Handle::current().metrics().num_workers() {
            tokio::spawn(tokio::task::yield_now());
        }
        if tokio::task::spawn_blocking(release.of_process).await.is_err() {
            tracing::warn!("free memory could not be returned to the system");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_over_when_nothing_of_it_was_seen_for_a_while() {
        let bursts = Arc::new(BurstWatch::default());
        bursts.note_calls(BURST_CALLS - 1);
        bursts.note_request(LARGE_REQUEST_BYTES - 1);
        let quiet = tokio::time::timeout(QUIET_AFTER_BURST * 10, bursts.wait_for_end()).await;
        assert!(quiet.is_err(), "a few calls are no burst");
        let began = tokio::time::Instant::now();
        let watching = Arc::clone(&bursts);
        let watched = tokio::spawn(async move { watching.wait_for_end().await });
        for _ in 0..4 {
            bursts.note_calls(BURST_CALLS);
            tokio::time::sleep(QUIET_AFTER_BURST / 2).await;
        }
        assert!(!watched.is_finished(), "it goes on");
        watched.await.unwrap();
        assert!(began.elapsed() >= QUIET_AFTER_BURST * 2 && began.elapsed() <= QUIET_AFTER_BURST * 4);
    }

    #[test]
    fn each_thread_takes_part_in_each_release_once() {
        static CALLED: AtomicU64 = AtomicU64::new(0);
        let of_thread = || {
            CALLED.fetch_add(1, Ordering::Relaxed);
        };
        let (release, count) = (MemoryRelease { of_process: || (), of_thread }, ReleaseCount::default());
        count.release_if_due(release);
        assert_eq!(CALLED.load(Ordering::Relaxed), 0, "nothing is due");
        count.0.fetch_add(1, Ordering::Relaxed);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| (0..3).for_each(|_| count.release_if_due(release)));
            }
        });
        assert_eq!(CALLED.load(Ordering::Relaxed), 2);
    }
}
