// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The threads that rebuild sessions: their number, and how they yield to hook calls.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// How long a yielding thread sleeps before it checks for new calls.
const YIELD_INTERVAL: Duration = Duration::from_millis(20);

/// Configuration of the threads that rebuild sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildPool {
    pub(super) threads: usize,
    /// Number of threads that do not yield to calls.
    steady: usize,
    /// Whether the threads run at the lowest priority.
    low_priority: bool,
}

impl RebuildPool {
    /// A fixed number of threads that do not yield.
    pub fn new(threads: usize) -> Self {
        Self { threads, steady: threads, low_priority: false }
    }

    /// One thread per processor, for a caller that waits for the result.
    pub fn all() -> Self {
        Self::new(std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// Threads for a rebuild that must not slow down hook calls. On Linux, one thread per processor runs at the lowest
    /// priority, and half of the threads pause while calls arrive. Other systems have no thread priorities; there, half
    /// as many threads run.
    pub fn alongside_calls() -> Self {
        let Self { threads, .. } = Self::all();
        if cfg!(target_os = "linux") {
            Self { threads, steady: (threads / 2).max(1), low_priority: true }
        } else {
            Self::new(threads / 2)
        }
    }

    /// Runs work on a new thread, because a lowered priority lasts for the thread's lifetime and is inherited by the
    /// threads it starts. `None` if the thread panicked.
    pub(super) fn run<T: Send>(self, work: impl FnOnce() -> T + Send) -> Option<T> {
        let begin = || {
            if self.low_priority {
                lower_priority();
            }
            work()
        };
        std::thread::scope(|scope| scope.spawn(begin).join().ok())
    }
}

/// The threads of one rebuild, and the counter of hook calls.
pub(super) struct ReadThreads<'a> {
    steady: usize,
    /// Number of threads that are still reading.
    reading: AtomicUsize,
    calls: &'a AtomicU64,
}

/// One thread of a rebuild. Dropping it marks it as finished.
pub(super) struct ReaderThread<'a> {
    threads: &'a ReadThreads<'a>,
    number: usize,
    /// Number of calls at the last check.
    seen: u64,
}

impl<'a> ReadThreads<'a> {
    pub(super) fn new(pool: RebuildPool, threads: usize, calls: &'a AtomicU64) -> Self {
        Self { steady: pool.steady, reading: AtomicUsize::new(threads), calls }
    }

    pub(super) fn start_thread(&'a self, number: usize) -> ReaderThread<'a> {
        ReaderThread { threads: self, number, seen: self.calls.load(Ordering::Relaxed) }
    }
}

impl ReaderThread<'_> {
    /// Waits while hook calls arrive and enough other threads keep reading.
    pub(super) fn yield_to_calls(&mut self) {
        let ReadThreads { steady, reading, calls } = self.threads;
        while self.number >= *steady && reading.load(Ordering::Acquire) > *steady {
            let before = std::mem::replace(&mut self.seen, calls.load(Ordering::Relaxed));
            if before == self.seen {
                return;
            }
            std::thread::sleep(YIELD_INTERVAL);
        }
    }
}

impl Drop for ReaderThread<'_> {
    fn drop(&mut self) {
        self.threads.reading.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Lowers the priority of this thread.
#[cfg(target_os = "linux")]
fn lower_priority() {
    if let Err(error) = rustix::process::nice(LOWEST_NICE) {
        tracing::debug!(%error, "cannot lower the priority of the session rebuild");
    }
}

#[cfg(not(target_os = "linux"))]
fn lower_priority() {}

/// Nice value of the lowest priority.
#[cfg(target_os = "linux")]
const LOWEST_NICE: i32 = 19;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::getpriority_process;

    use super::*;

    #[test]
    fn only_the_threads_of_the_pool_have_a_lower_priority() {
        let mine = || getpriority_process(None).expect("priority");
        let before = mine();
        let seen = RebuildPool::alongside_calls()
            .run(|| (mine(), std::thread::spawn(mine).join().expect("a thread")))
            .expect("it ends");
        assert_eq!(seen, (LOWEST_NICE, LOWEST_NICE));
        assert_eq!(mine(), before);
        assert_eq!(RebuildPool::all().run(mine), Some(before));
        assert_eq!(RebuildPool::new(1).run(|| panic!("broken")), None::<()>);
    }

    #[test]
    fn while_calls_arrive_some_threads_wait_until_the_others_have_finished() {
        let calls = AtomicU64::new(0);
        let threads = ReadThreads::new(RebuildPool { threads: 2, steady: 1, low_priority: false }, 2, &calls);
        let (mut first, mut second) = (threads.start_thread(0), threads.start_thread(1));
        second.yield_to_calls();
        let (waiting, resumed) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while resumed.load(Ordering::Acquire) == 0 {
                    calls.fetch_add(1, Ordering::Relaxed);
                    waiting.store(1, Ordering::Release);
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            while waiting.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
            scope.spawn(|| {
                second.yield_to_calls();
                resumed.store(1, Ordering::Release);
            });
            std::thread::sleep(YIELD_INTERVAL / 2);
            first.yield_to_calls();
            assert_eq!(resumed.load(Ordering::Acquire), 0, "the second thread waits while the first reads");
            drop(first);
        });
        assert_eq!(resumed.into_inner(), 1);
    }
}
