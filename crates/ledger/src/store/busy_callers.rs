// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Tracks threads that may append soon. While one of them is working, the ledger waits for its entry. When all of
//! them are idle, the ledger does not wait.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the threads that are working on something they will append. The process that has the ledger open reports
/// when one of its threads runs out of work and when it has work again.
#[derive(Default)]
pub struct BusyCallers {
    busy: AtomicUsize,
    when_idle: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

impl BusyCallers {
    /// Creates the counter for this many threads, all of them working.
    pub fn new(threads: usize) -> Self {
        Self { busy: AtomicUsize::new(threads), when_idle: OnceLock::new() }
    }

    /// Reports that a thread ran out of work.
    pub fn end_work(&self) {
        if self.busy.fetch_sub(1, Ordering::AcqRel) == 1
            && let Some(when_idle) = self.when_idle.get()
        {
            when_idle();
        }
    }

    /// Reports that a thread has work again.
    pub fn begin_work(&self) {
        self.busy.fetch_add(1, Ordering::AcqRel);
    }

    pub(super) fn are_idle(&self) -> bool {
        self.busy.load(Ordering::Acquire) == 0
    }

    /// Sets the function that is called when the last thread runs out of work. Only the first call has an effect.
    pub(super) fn set_when_idle(&self, when_idle: impl Fn() + Send + Sync + 'static) {
        let _ = self.when_idle.set(Box::new(when_idle));
    }
}

impl std::fmt::Debug for BusyCallers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("BusyCallers").field(&self.busy).finish()
    }
}
