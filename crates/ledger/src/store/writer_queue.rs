// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The writer's queue. A caller that finds the writer free commits in its own thread. If the writer is in use, entries
//! are queued, and the ledger's thread commits all of them together. If the last commit was shared, the thread first
//! waits briefly for more entries (the gather time), because a commit of fifty leaves costs as much as a commit of one.
//! If the process reports busy threads ([`BusyCallers`]), the ledger's thread waits only while one of them is busy.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::busy_callers::BusyCallers;
use super::error::AppendError;
use super::ledger::{Appended, Command, WriterReply};
use super::writer::Writer;
use crate::entry::SealedEntry;

/// Number of entries that are committed without waiting for more, because the cost per entry is small by then.
const BATCH_TARGET: usize = 24;
/// Number of checks during the gather time. Gathering ends when no entry has arrived between two checks.
const GATHER_CHECKS: u32 = 5;
/// After a shared commit, further entries are expected for the gather time multiplied by this factor.
const EXPECT_BATCH_FACTOR: u32 = 20;

/// The writer and the commands that wait for it.
pub(crate) struct WriterQueue {
    state: Mutex<QueueState>,
    /// Signals work for the ledger's thread.
    work_ready: Condvar,
    /// Signals that the queue has room.
    room_ready: Condvar,
    /// Maximum length of the queue.
    limit: usize,
    /// Maximum number of appends in a commit, and how long the first one waits for others.
    max_batch: usize,
    gather_time: Duration,
    callers: Option<Arc<BusyCallers>>,
}

struct QueueState {
    writer: Option<Box<Writer>>,
    queue: VecDeque<Command>,
    closed: bool,
    thread: ThreadState,
    /// Whether a caller is waiting for room.
    is_caller_waiting: bool,
    /// Time of the last commit, if several appends shared it.
    last_shared_commit: Option<Instant>,
}

/// State of the ledger's thread.
enum ThreadState {
    Awake,
    /// Sleeping, at most until this time.
    Asleep {
        until: Option<Instant>,
    },
    /// Waiting for more entries; the thread checks the queue periodically.
    Gathering,
}

/// Exclusive access to the writer. Dropping the guard returns the writer to the queue.
pub(crate) struct WriterGuard<'q> {
    queue: &'q WriterQueue,
    writer: Option<Box<Writer>>,
}

/// Work for the ledger's thread.
pub(crate) enum WriterWork {
    Appends(Vec<(Box<SealedEntry>, WriterReply<Appended>)>),
    Other(Command),
    /// Maintenance is due.
    Due,
}

impl WriterQueue {
    pub(crate) fn new(
        writer: Writer,
        limit: usize,
        (max_batch, gather_time): (usize, Duration),
        callers: Option<Arc<BusyCallers>>,
    ) -> Self {
        let state = QueueState {
            writer: Some(Box::new(writer)),
            queue: VecDeque::new(),
            closed: false,
            thread: ThreadState::Awake,
            is_caller_waiting: false,
            last_shared_commit: None,
        };
        Self {
            state: Mutex::new(state),
            work_ready: Condvar::new(),
            room_ready: Condvar::new(),
            limit: limit.max(1),
            max_batch: max_batch.max(1),
            gather_time,
            callers,
        }
    }

    /// Commits the waiting entries now, because no caller is working on another entry.
    pub(crate) fn stop_gathering(&self) {
        let is_gathering = matches!(self.lock().thread, ThreadState::Gathering);
        if is_gathering {
            self.work_ready.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Acquires the writer if it is free and the queue is empty.
    pub(crate) fn try_acquire(&self) -> Option<WriterGuard<'_>> {
        let mut state = self.lock();
        if !state.queue.is_empty() {
            return None;
        }
        state.writer.take().map(|writer| WriterGuard { queue: self, writer: Some(writer) })
    }

    /// Acquires the writer for one entry, unless further entries that could share its commit are expected.
    pub(crate) fn try_acquire_unbatched(&self) -> Option<WriterGuard<'_>> {
        if self.expects_batch(&self.lock()) { None } else { self.try_acquire() }
    }

    /// Whether further entries are expected, because the last commit was shared.
    fn expects_batch(&self, state: &QueueState) -> bool {
        state
            .last_shared_commit
            .is_some_and(|commit| commit.elapsed() < self.gather_time * EXPECT_BATCH_FACTOR)
    }

    /// Adds a command, or returns it if the queue is full. A closed queue drops the command, which reports
    /// [`AppendError::Closed`].
    pub(crate) fn try_push(&self, command: Command) -> Result<(), Command> {
        let state = self.lock();
        if state.queue.len() >= self.limit && !state.closed {
            return Err(command);
        }
        self.push_locked(state, command);
        Ok(())
    }

    /// Adds a command. Waits for room if the queue is full.
    pub(crate) fn push_blocking(&self, command: Command) {
        let mut state = self.lock();
        while state.queue.len() >= self.limit && !state.closed {
            state.is_caller_waiting = true;
            state = self.room_ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.push_locked(state, command);
    }

    fn push_locked(&self, mut state: MutexGuard<'_, QueueState>, command: Command) {
        if state.closed {
            // Dropping the command sends the reply, which must happen without holding the lock.
            drop(state);
            drop(command);
            return;
        }
        state.queue.push_back(command);
        // If the writer is in use, returning it wakes the thread. The thread needs the lock, so it is woken after the
        // lock is released.
        let is_asleep = state.writer.is_some() && matches!(state.thread, ThreadState::Asleep { .. });
        drop(state);
        if is_asleep {
            self.work_ready.notify_one();
        }
    }

    /// Waits for work. Returns `None` when the ledger is closed.
    pub(crate) fn next_work(&self) -> Option<(WriterGuard<'_>, WriterWork)> {
        let (mut state, mut timed_out) = (self.lock(), false);
        loop {
            if state.closed {
                return None;
            }
            let mut due = None;
            if let Some(writer) = &state.writer {
                due = writer.next_due();
                let is_due = timed_out || due.is_some_and(|due| due <= Instant::now());
                if !state.queue.is_empty() && self.expects_batch(&state) {
                    state = self.gather_entries(state);
                }
                if (!state.queue.is_empty() || is_due)
                    && let Some(writer) = state.writer.take()
                {
                    let work = self.take_work(&mut state);
                    return Some((WriterGuard { queue: self, writer: Some(writer) }, work));
                }
            }
            state.thread = ThreadState::Asleep { until: due };
            state = match due {
                Some(due) => {
                    let limit = due.saturating_duration_since(Instant::now());
                    let woken = self.work_ready.wait_timeout(state, limit);
                    let (state, waited) = woken.unwrap_or_else(PoisonError::into_inner);
                    timed_out = waited.timed_out();
                    state
                }
                None => self.work_ready.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
            state.thread = ThreadState::Awake;
        }
    }

    /// Waits for more entries for as long as they keep arriving.
    fn gather_entries<'s>(&'s self, mut state: MutexGuard<'s, QueueState>) -> MutexGuard<'s, QueueState> {
        let began = Instant::now();
        loop {
            let before = state.queue.len();
            let left = self.gather_time.saturating_sub(began.elapsed());
            let only_appends = state.queue.iter().all(|command| matches!(command, Command::Append(..)));
            let is_enough = before >= self.max_batch.min(BATCH_TARGET);
            let are_idle = self.callers.as_ref().is_some_and(|callers| callers.are_idle());
            if left.is_zero() || is_enough || !only_appends || state.closed || are_idle {
                return state;
            }
            state.thread = ThreadState::Gathering;
            let woken = self.work_ready.wait_timeout(state, left.min(self.gather_time / GATHER_CHECKS));
            let waited;
            (state, waited) = woken.unwrap_or_else(PoisonError::into_inner);
            state.thread = ThreadState::Awake;
            if waited.timed_out() && state.queue.len() == before {
                return state;
            }
        }
    }

    /// Takes all waiting appends or one other command.
    fn take_work(&self, state: &mut QueueState) -> WriterWork {
        let mut appends = Vec::new();
        while appends.len() < self.max_batch {
            match state.queue.pop_front() {
                Some(Command::Append(entry, reply)) => appends.push((entry, reply)),
                Some(command) if appends.is_empty() => return WriterWork::Other(command),
                Some(command) => {
                    state.queue.push_front(command);
                    break;
                }
                None => break,
            }
        }
        if std::mem::take(&mut state.is_caller_waiting) {
            self.room_ready.notify_all();
        }
        state.last_shared_commit = (appends.len() > 1).then(Instant::now);
        if appends.is_empty() { WriterWork::Due } else { WriterWork::Appends(appends) }
    }

    /// Closes the queue. Waiting commands are dropped, which reports that the ledger is closed.
    fn close(&self, mut state: MutexGuard<'_, QueueState>) {
        state.closed = true;
        let waiting = std::mem::take(&mut state.queue);
        self.work_ready.notify_all();
        self.room_ready.notify_all();
        drop(state);
        drop(waiting);
    }
}

impl WriterGuard<'_> {
    pub(crate) fn with_writer<T>(
        &mut self,
        work: impl FnOnce(&mut Writer) -> Result<T, AppendError>,
    ) -> Result<T, AppendError> {
        self.writer.as_deref_mut().map_or(Err(AppendError::Closed), work)
    }

    /// Closes the writer and the ledger.
    pub(crate) fn close(mut self) -> Result<(), AppendError> {
        let result = self.with_writer(Writer::finish);
        // The lock file is released before callers learn that the ledger is closed.
        drop(self.writer.take());
        result
    }
}

impl Drop for WriterGuard<'_> {
    fn drop(&mut self) {
        // A writer that panicked may have an open transaction; dropping the writer rolls it back.
        let writer = self.writer.take().filter(|_| !std::thread::panicking());
        let mut state = self.queue.lock();
        match writer {
            Some(writer) => {
                let due = writer.next_due();
                state.writer = Some(writer);
                let is_woken = match state.thread {
                    ThreadState::Asleep { until } => {
                        !state.queue.is_empty()
                            || due.is_some_and(|due| until.is_none_or(|until| due < until))
                    }
                    ThreadState::Awake | ThreadState::Gathering => false,
                };
                drop(state);
                if is_woken {
                    self.queue.work_ready.notify_one();
                }
            }
            None => self.queue.close(state),
        }
    }
}
