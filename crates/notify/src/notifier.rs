// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Delivers notices from one thread per target. A call only adds its notice to bounded queues.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::deliver::{DeliveryContext, deliver};
use crate::{Notice, NoticeKind, NotifySettings, NotifyTarget};

/// Maximum number of notices that wait for a target. If there are more, the oldest is dropped.
const MAX_WAITING_NOTICES: usize = 32;

/// Delivers notices to the targets of the settings.
#[derive(Default)]
pub struct Notifier {
    queues: Vec<Arc<TargetQueue>>,
    counts: Arc<DeliveryCounts>,
}

/// Numbers since the start of the daemon.
#[derive(Debug, Default)]
struct DeliveryCounts {
    dropped: AtomicU64,
    failed: AtomicU64,
}

/// Notices that wait for one target.
struct TargetQueue {
    target: NotifyTarget,
    waiting: Mutex<WaitingNotices>,
    changed: Condvar,
}

#[derive(Default)]
struct WaitingNotices {
    notices: VecDeque<Notice>,
    is_closed: bool,
}

impl Notifier {
    /// Starts a thread for each target. `previous` ends, and its counts are continued.
    pub fn start(settings: &NotifySettings, context: &DeliveryContext, previous: &Self) -> Self {
        previous.close();
        let counts = Arc::clone(&previous.counts);
        let mut queues = Vec::with_capacity(settings.targets.len());
        for target in &settings.targets {
            let queue = Arc::new(TargetQueue {
                target: target.clone(),
                waiting: Mutex::default(),
                changed: Condvar::new(),
            });
            let (worker, context, counts) = (Arc::clone(&queue), context.clone(), Arc::clone(&counts));
            let thread = std::thread::Builder::new().name("notify".into());
            match thread.spawn(move || worker.run(&context, &counts)) {
                Ok(_) => queues.push(queue),
                Err(error) => {
                    tracing::warn!(target = target.name(), %error, "notifications are not delivered");
                }
            }
        }
        Self { queues, counts }
    }

    /// Whether a target wants notices of this kind.
    pub fn wants(&self, kind: NoticeKind) -> bool {
        self.queues.iter().any(|queue| queue.target.on.contains(&kind))
    }

    /// Queues a notice for each target that wants it. Never waits for a delivery.
    pub fn notify(&self, notice: &Notice) {
        for queue in self.queues.iter().filter(|queue| queue.target.on.contains(&notice.kind)) {
            let mut waiting = queue.lock();
            if waiting.notices.len() >= MAX_WAITING_NOTICES {
                waiting.notices.pop_front();
                self.counts.dropped.fetch_add(1, Ordering::Relaxed);
            }
            waiting.notices.push_back(notice.clone());
            drop(waiting);
            queue.changed.notify_one();
        }
    }

    /// Number of notices that were dropped because a target was too slow.
    pub fn dropped(&self) -> u64 {
        self.counts.dropped.load(Ordering::Relaxed)
    }

    /// Number of deliveries that failed.
    pub fn failed(&self) -> u64 {
        self.counts.failed.load(Ordering::Relaxed)
    }

    /// Ends the threads once their current delivery has ended. Waiting notices are not delivered.
    pub fn close(&self) {
        for queue in &self.queues {
            queue.lock().is_closed = true;
            queue.changed.notify_one();
        }
    }
}

impl Drop for Notifier {
    fn drop(&mut self) {
        self.close();
    }
}

impl TargetQueue {
    /// Delivers notices until the queue is closed. A failed delivery is not repeated: the notice would be late, and a
    /// target that is down would receive all of them at once when it returns.
    fn run(&self, context: &DeliveryContext, counts: &DeliveryCounts) {
        let mut last: Option<Instant> = None;
        let mut is_working = true;
        while let Some(notice) = self.next_notice(last) {
            last = Some(Instant::now());
            match deliver(&self.target.kind, &notice, context) {
                Ok(()) => is_working = true,
                Err(error) => {
                    counts.failed.fetch_add(1, Ordering::Relaxed);
                    // Only the first of several failures is logged as a warning.
                    if std::mem::take(&mut is_working) {
                        tracing::warn!(target = self.target.name(), %error, "a notification was not delivered");
                    }
                }
            }
        }
    }

    /// Waits for the next notice that is due; `None` if the queue was closed. Notices that arrive within the target's
    /// interval are merged into the newest.
    fn next_notice(&self, last: Option<Instant>) -> Option<Notice> {
        let mut waiting = self.lock();
        loop {
            if waiting.is_closed {
                return None;
            }
            let left =
                last.map_or(Duration::ZERO, |last| self.target.interval.saturating_sub(last.elapsed()));
            if waiting.notices.is_empty() {
                waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
            } else if !left.is_zero() {
                let waited = self.changed.wait_timeout(waiting, left);
                waiting = waited.unwrap_or_else(PoisonError::into_inner).0;
            } else if self.target.interval.is_zero() {
                return waiting.notices.pop_front();
            } else {
                let more = waiting.notices.len().saturating_sub(1);
                let mut newest = waiting.notices.pop_back()?;
                waiting.notices.clear();
                newest.more = u64::try_from(more).unwrap_or(u64::MAX);
                return Some(newest);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, WaitingNotices> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
