// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Who writes now. There is one writer, and whoever holds it writes: a caller who finds it free
//! commits on the spot, without waking anybody. When it is taken, entries queue, and the ledger's
//! thread commits all that wait at once. Where several came at once before, it waits a moment for more:
//! a commit costs as much as deciding several calls, whether it has one leaf or fifty. It waits only while
//! a thread is at work that may append, if the process reports that ([`BusyCallers`]).

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::append::Writer;
use super::busy_callers::BusyCallers;
use super::error::AppendError;
use super::ledger::{Appended, Command, Reply};
use crate::entry::Sealed;

/// This many entries are committed without waiting for more: each of them bears a small part of the commit, and other
/// callers continue meanwhile.
const ENOUGH: usize = 24;
/// In how many looks the time passes in which entries come together; when nobody came between two, nobody comes.
const LOOKS: u32 = 5;
/// For so many times that time after a commit that several shared, several are expected.
const EXPECTED: u32 = 20;

/// The writer, and what waits for it.
pub(crate) struct Desk {
    state: Mutex<State>,
    /// There is something to do for the ledger's thread.
    work: Condvar,
    /// The queue is shorter, or the writer is back.
    room: Condvar,
    /// How long the queue may get.
    limit: usize,
    /// How many appends share a commit, and how long the first of them waits for others.
    batch: usize,
    gather: Duration,
    callers: Option<Arc<BusyCallers>>,
}

struct State {
    writer: Option<Box<Writer>>,
    queue: VecDeque<Command>,
    closed: bool,
    thread: Thread,
    /// Somebody waits for room.
    crowded: bool,
    /// When several appends shared a commit, if that was the last one.
    shared: Option<Instant>,
}

/// What the ledger's thread does.
enum Thread {
    Awake,
    /// It sleeps, at most until then.
    Asleep {
        until: Option<Instant>,
    },
    /// It lets entries come together, and looks by itself whether more came.
    Gathers,
}

/// The writer in somebody's hands. It goes back when this goes.
pub(crate) struct Turn<'d> {
    desk: &'d Desk,
    writer: Option<Box<Writer>>,
}

/// What the ledger's thread is to do.
pub(crate) enum Work {
    Appends(Vec<(Box<Sealed>, Reply<Appended>)>),
    Other(Command),
    /// What is due by the clock.
    Due,
}

// === impl Desk ===

impl Desk {
    pub(crate) fn new(
        writer: Writer,
        limit: usize,
        (batch, gather): (usize, Duration),
        callers: Option<Arc<BusyCallers>>,
    ) -> Self {
        let state = State {
            writer: Some(Box::new(writer)),
            queue: VecDeque::new(),
            closed: false,
            thread: Thread::Awake,
            crowded: false,
            shared: None,
        };
        Self {
            state: Mutex::new(state),
            work: Condvar::new(),
            room: Condvar::new(),
            limit: limit.max(1),
            batch: batch.max(1),
            gather,
            callers,
        }
    }

    /// Commits the waiting entries now, because no caller is working on another one.
    pub(crate) fn stop_gathering(&self) {
        let is_gathering = matches!(self.lock().thread, Thread::Gathers);
        if is_gathering {
            self.work.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The writer, if it is free and nobody waits for it.
    pub(crate) fn take(&self) -> Option<Turn<'_>> {
        let mut state = self.lock();
        if !state.queue.is_empty() {
            return None;
        }
        state.writer.take().map(|writer| Turn { desk: self, writer: Some(writer) })
    }

    /// The same for one entry, unless others are expected, which could share its commit.
    pub(crate) fn take_for_one(&self) -> Option<Turn<'_>> {
        if self.expects(&self.lock()) { None } else { self.take() }
    }

    /// Whether several entries at once are expected.
    fn expects(&self, state: &State) -> bool {
        state.shared.is_some_and(|shared| shared.elapsed() < self.gather * EXPECTED)
    }

    /// Puts a command in the queue, unless that is full; then it comes back. One that is put on a
    /// closed desk is dropped, and its reply says so.
    pub(crate) fn put(&self, command: Command) -> Result<(), Command> {
        let state = self.lock();
        if state.queue.len() >= self.limit && !state.closed {
            return Err(command);
        }
        self.push(state, command);
        Ok(())
    }

    /// The same, but waits for room.
    pub(crate) fn put_when_room(&self, command: Command) {
        let mut state = self.lock();
        while state.queue.len() >= self.limit && !state.closed {
            state.crowded = true;
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        self.push(state, command);
    }

    fn push(&self, mut state: MutexGuard<'_, State>, command: Command) {
        if state.closed {
            // Its reply is told outside of the lock.
            drop(state);
            drop(command);
            return;
        }
        state.queue.push_back(command);
        // If the writer is in use, its return wakes the thread. The thread needs the lock, so it is woken after the lock
        // is released.
        let is_asleep = state.writer.is_some() && matches!(state.thread, Thread::Asleep { .. });
        drop(state);
        if is_asleep {
            self.work.notify_one();
        }
    }

    /// Waits for something to do. Nothing when the ledger is closed.
    pub(crate) fn next(&self) -> Option<(Turn<'_>, Work)> {
        let (mut state, mut overslept) = (self.lock(), false);
        loop {
            if state.closed {
                return None;
            }
            let mut due = None;
            if let Some(writer) = &state.writer {
                due = writer.due();
                let is_due = overslept || due.is_some_and(|due| due <= Instant::now());
                if !state.queue.is_empty() && self.expects(&state) {
                    state = self.gathered(state);
                }
                if (!state.queue.is_empty() || is_due)
                    && let Some(writer) = state.writer.take()
                {
                    let work = self.work(&mut state);
                    return Some((Turn { desk: self, writer: Some(writer) }, work));
                }
            }
            state.thread = Thread::Asleep { until: due };
            state = match due {
                Some(due) => {
                    let limit = due.saturating_duration_since(Instant::now());
                    let woken = self.work.wait_timeout(state, limit);
                    let (state, waited) = woken.unwrap_or_else(PoisonError::into_inner);
                    overslept = waited.timed_out();
                    state
                }
                None => self.work.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
            state.thread = Thread::Awake;
        }
    }

    /// Lets entries come together, as long as they come.
    fn gathered<'s>(&'s self, mut state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        let began = Instant::now();
        loop {
            let before = state.queue.len();
            let left = self.gather.saturating_sub(began.elapsed());
            let only_appends = state.queue.iter().all(|command| matches!(command, Command::Append(..)));
            let enough = before >= self.batch.min(ENOUGH);
            let are_idle = self.callers.as_ref().is_some_and(|callers| callers.are_idle());
            if left.is_zero() || enough || !only_appends || state.closed || are_idle {
                return state;
            }
            state.thread = Thread::Gathers;
            let woken = self.work.wait_timeout(state, left.min(self.gather / LOOKS));
            let waited;
            (state, waited) = woken.unwrap_or_else(PoisonError::into_inner);
            state.thread = Thread::Awake;
            if waited.timed_out() && state.queue.len() == before {
                return state;
            }
        }
    }

    /// Takes all appends that wait, or one other command.
    fn work(&self, state: &mut State) -> Work {
        let mut appends = Vec::new();
        while appends.len() < self.batch {
            match state.queue.pop_front() {
                Some(Command::Append(entry, reply)) => appends.push((entry, reply)),
                Some(command) if appends.is_empty() => return Work::Other(command),
                Some(command) => {
                    state.queue.push_front(command);
                    break;
                }
                None => break,
            }
        }
        if std::mem::take(&mut state.crowded) {
            self.room.notify_all();
        }
        state.shared = (appends.len() > 1).then(Instant::now);
        if appends.is_empty() { Work::Due } else { Work::Appends(appends) }
    }

    /// Nothing is taken any more; who waits is told.
    fn close(&self, mut state: MutexGuard<'_, State>) {
        state.closed = true;
        let waiting = std::mem::take(&mut state.queue);
        self.work.notify_all();
        self.room.notify_all();
        drop(state);
        drop(waiting);
    }
}

// === impl Turn ===

impl Turn<'_> {
    /// Lets the writer do something.
    pub(crate) fn write<T>(
        &mut self,
        work: impl FnOnce(&mut Writer) -> Result<T, AppendError>,
    ) -> Result<T, AppendError> {
        self.writer.as_deref_mut().map_or(Err(AppendError::Closed), work)
    }

    /// Ends the writer, and with it the ledger.
    pub(crate) fn close(mut self) -> Result<(), AppendError> {
        let result = self.write(Writer::finish);
        // The lock on the directory goes before anybody hears that the ledger is closed.
        drop(self.writer.take());
        result
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // A writer that panicked may stand in the middle of something: its end undoes that.
        let writer = self.writer.take().filter(|_| !std::thread::panicking());
        let mut state = self.desk.lock();
        match writer {
            Some(writer) => {
                let due = writer.due();
                state.writer = Some(writer);
                let is_woken = match state.thread {
                    Thread::Asleep { until } => {
                        !state.queue.is_empty()
                            || due.is_some_and(|due| until.is_none_or(|until| due < until))
                    }
                    Thread::Awake | Thread::Gathers => false,
                };
                drop(state);
                if is_woken {
                    self.desk.work.notify_one();
                }
            }
            None => self.desk.close(state),
        }
    }
}
