// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Who reads the ledger when all sessions are put together: how many threads, and who goes first.

/// The threads that put sessions together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hands {
    pub(super) threads: usize,
    /// Whether everybody else on the machine goes first.
    yielding: bool,
}

impl Hands {
    /// So many threads.
    pub fn new(threads: usize) -> Self {
        Self { threads, yielding: false }
    }

    /// Every processor, for somebody who waits for it.
    pub fn all() -> Self {
        Self::new(std::thread::available_parallelism().map_or(1, usize::from))
    }

    /// Beside hook calls, which must not feel it: every processor, but only while nobody else wants it. Where
    /// a thread has no priority of its own, half of the processors.
    pub fn beside_calls() -> Self {
        let Self { threads, .. } = Self::all();
        if cfg!(target_os = "linux") { Self { threads, yielding: true } } else { Self::new(threads / 2) }
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
        let seen = Hands::beside_calls()
            .work(|| (mine(), std::thread::spawn(mine).join().expect("a thread")))
            .expect("it ends");
        assert_eq!(seen, (LOWEST, LOWEST));
        assert_eq!(mine(), before);
        assert_eq!(Hands::all().work(mine), Some(before));
        assert_eq!(Hands::new(1).work(|| panic!("broken")), None::<()>);
    }
}
