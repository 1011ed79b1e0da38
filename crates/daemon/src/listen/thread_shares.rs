// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Shares the hook threads of a machine-wide daemon between accounts. An account that has used up its share waits for
//! one of its own threads; the other threads serve other accounts in the meantime.

use std::collections::{HashMap, VecDeque};
use std::os::unix::net::UnixStream;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::shares::{Share, is_fair};

/// Number of threads and waiting connections per account.
#[derive(Debug)]
pub(super) struct ThreadShares {
    threads: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: HashMap<u32, usize>,
    waiting: HashMap<u32, VecDeque<WaitingConnection>>,
}

/// A connection that waits for a thread.
#[derive(Debug)]
pub(super) struct WaitingConnection {
    pub(super) stream: UnixStream,
    /// Counts the connection against its account.
    pub(super) _place: Option<Share<u32>>,
}

impl ThreadShares {
    pub(super) fn new(threads: usize) -> Self {
        Self { threads, state: Mutex::default() }
    }

    /// Returns the connection if this thread may serve it now. Otherwise it waits for another thread of its account.
    pub(super) fn begin(
        &self,
        uid: u32,
        stream: UnixStream,
        place: impl FnOnce() -> Option<Share<u32>>,
    ) -> Option<UnixStream> {
        let mut state = self.lock();
        let all = state.running.values().sum();
        let own = state.running.entry(uid).or_default();
        if *own == 0 || is_fair(*own, all, 1, self.threads) {
            *own += 1;
            return Some(stream);
        }
        // Without a permit the connection is closed, and its hook evaluates the call itself.
        let place = place()?;
        state.waiting.entry(uid).or_default().push_back(WaitingConnection { stream, _place: Some(place) });
        None
    }

    /// Returns the next waiting connection of the account, which this thread serves now.
    pub(super) fn finish(&self, uid: u32) -> Option<UnixStream> {
        let mut state = self.lock();
        if let Some(waiting) = state.waiting.get_mut(&uid) {
            if let Some(next) = waiting.pop_front() {
                return Some(next.stream);
            }
            state.waiting.remove(&uid);
        }
        if let Some(own) = state.running.get_mut(&uid) {
            *own = own.saturating_sub(1);
            if *own == 0 {
                state.running.remove(&uid);
            }
        }
        None
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shares::Shares;

    #[test]
    fn an_account_uses_half_of_the_threads_and_its_other_connections_wait() {
        let (threads, places) = (ThreadShares::new(16), Shares::new(200));
        let mut begun = 0;
        for _ in 0..100 {
            let (stream, _) = UnixStream::pair().unwrap();
            begun += usize::from(threads.begin(1, stream, || places.try_take(1, 1)).is_some());
        }
        assert_eq!((begun, places.in_use()), (8, 92));
        let (stream, _) = UnixStream::pair().unwrap();
        assert!(threads.begin(2, stream, || places.try_take(2, 1)).is_some(), "another account is served");
        for _ in 0..92 {
            assert!(threads.finish(1).is_some());
        }
        for _ in 0..8 {
            assert!(threads.finish(1).is_none());
        }
        assert!(threads.finish(2).is_none());
        let state = threads.lock();
        assert!(state.running.is_empty() && state.waiting.is_empty());
        assert_eq!(places.in_use(), 0);
    }
}
