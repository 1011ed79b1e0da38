// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Who reads the ledger when all sessions are put together: how many threads, and who goes first.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// How long whoever stands aside waits for the next call.
const ASIDE: Duration = Duration::from_millis(20);

/// The threads that put sessions together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RebuildPool {
    pub(super) threads: usize,
    /// How many of them go on while calls come in.
    steady: usize,
    /// Whether everybody else on the machine goes first.
    yielding: bool,
}

impl RebuildPool {
    /// So many threads.
    pub fn new(threads: usize) -> Self {
        Self { threads, steady: threads, yielding: false }
    }

    /// Every processor, for somebody who waits for it.
    pub fn all() -> Self {
        Self::new(std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// Beside hook calls, which must not feel it: every processor while nobody calls, half of them while
    /// somebody does, and each only while nobody else wants it. Where a thread has no priority of its own,
    /// half of the processors.
    pub fn beside_calls() -> Self {
        let Self { threads, .. } = Self::all();
        if cfg!(target_os = "linux") {
            Self { threads, steady: (threads / 2).max(1), yielding: true }
        } else {
            Self::new(threads / 2)
        }
    }

    /// Works on a thread of its own. A thread that yields does so for the rest of its life, and so does every
    /// thread that it starts. `None`: it broke off.
    pub(super) fn work<T: Send>(self, work: impl FnOnce() -> T + Send) -> Option<T> {
        let begin = || {
            if self.yielding {
                yield_always();
            }
            work()
        };
        std::thread::scope(|scope| scope.spawn(begin).join().ok())
    }
}

/// The threads of one reading, and the calls that come in meanwhile.
pub(super) struct Beside<'a> {
    steady: usize,
    /// How many read.
    reading: AtomicUsize,
    calls: &'a AtomicU64,
}

/// One of the threads, until it has finished.
pub(super) struct Turn<'a> {
    beside: &'a Beside<'a>,
    number: usize,
    /// How many calls there were when it looked last.
    seen: u64,
}

impl<'a> Beside<'a> {
    pub(super) fn new(hands: RebuildPool, threads: usize, calls: &'a AtomicU64) -> Self {
        Self { steady: hands.steady, reading: AtomicUsize::new(threads), calls }
    }

    pub(super) fn turn(&'a self, number: usize) -> Turn<'a> {
        Turn { beside: self, number, seen: self.calls.load(Ordering::Relaxed) }
    }
}

impl Turn<'_> {
    /// Lets the calls of the last moment go first, as long as enough others read on. Some always do.
    pub(super) fn stand_aside(&mut self) {
        let Beside { steady, reading, calls } = self.beside;
        while self.number >= *steady && reading.load(Ordering::Acquire) > *steady {
            let before = std::mem::replace(&mut self.seen, calls.load(Ordering::Relaxed));
            if before == self.seen {
                return;
            }
            std::thread::sleep(ASIDE);
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.beside.reading.fetch_sub(1, Ordering::AcqRel);
    }
}

/// From now on this thread runs when nobody else wants to.
#[cfg(target_os = "linux")]
fn yield_always() {
    if let Err(error) = rustix::process::nice(LOWEST) {
        tracing::debug!(%error, "sessions are put together at the usual priority");
    }
}

#[cfg(not(target_os = "linux"))]
fn yield_always() {}

/// The lowest priority there is.
#[cfg(target_os = "linux")]
const LOWEST: i32 = 19;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use rustix::process::getpriority_process;

    use super::*;

    #[test]
    fn whoever_yields_does_so_alone() {
        let mine = || getpriority_process(None).expect("priority");
        let before = mine();
        let seen = RebuildPool::beside_calls()
            .work(|| (mine(), std::thread::spawn(mine).join().expect("a thread")))
            .expect("it ends");
        assert_eq!(seen, (LOWEST, LOWEST));
        assert_eq!(mine(), before);
        assert_eq!(RebuildPool::all().work(mine), Some(before));
        assert_eq!(RebuildPool::new(1).work(|| panic!("broken")), None::<()>);
    }

    #[test]
    fn while_calls_come_in_some_stand_aside_until_the_others_have_finished() {
        let calls = AtomicU64::new(0);
        let beside = Beside::new(RebuildPool { threads: 2, steady: 1, yielding: false }, 2, &calls);
        let (mut first, mut second) = (beside.turn(0), beside.turn(1));
        second.stand_aside();
        let (waiting, gone_on) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while gone_on.load(Ordering::Acquire) == 0 {
                    calls.fetch_add(1, Ordering::Relaxed);
                    waiting.store(1, Ordering::Release);
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            while waiting.load(Ordering::Acquire) == 0 {
                std::thread::yield_now();
            }
            scope.spawn(|| {
                second.stand_aside();
                gone_on.store(1, Ordering::Release);
            });
            std::thread::sleep(ASIDE / 2);
            first.stand_aside();
            assert_eq!(gone_on.load(Ordering::Acquire), 0, "calls come in, and the first reads on");
            drop(first);
        });
        assert_eq!(gone_on.into_inner(), 1);
    }
}
