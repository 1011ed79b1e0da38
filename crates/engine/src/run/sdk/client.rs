// SPDX-License-Identifier: Apache-2.0 OR MIT

//! One program with hooks: whether it is there, what it was asked, and what waits for its answers.

mod unnumbered;

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::question::{FunctionError, Question, Reply, Sent, Why};
use super::{Answer, Failure};
use crate::HookId;

/// How long after a client went away its calls wait for it to come back, if their time allows.
pub const GRACE: Duration = Duration::from_millis(500);
/// How many questions may wait for one client.
pub const MOST: usize = 4096;
/// How many events are kept for the observers of a client that is away.
pub const KEPT: usize = 256;

/// How many messages a client may be behind. A new stream begins with all that waits and all that was
/// kept, so there has to be room for both.
const ROOM: usize = 2 * MOST;
/// How many questions that are over are remembered, to tell a late answer from nonsense.
const OVER: usize = 1024;

/// A program with hooks.
pub struct Client {
    name: Arc<str>,
    made: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    stream: Option<mpsc::Sender<Sent>>,
    /// How many streams there have been: a number names the one that is open.
    streams: u64,
    /// When the last stream ended.
    away: Option<Instant>,
    pending: BTreeMap<u64, Pending>,
    kept: VecDeque<Question>,
    missed: u64,
    over: VecDeque<Finished>,
    /// Whether it answers without `call_id`: its hooks are then asked one question at a time.
    unnumbered: bool,
    turns: BTreeMap<HookId, Arc<tokio::sync::Mutex<()>>>,
}

struct Pending {
    question: Question,
    answer: oneshot::Sender<Result<Answer, Failure>>,
}

/// A question that is over.
struct Finished {
    call_id: u64,
    hook: HookId,
    over: Over,
    /// The stream that was open then.
    stream: u64,
}

/// How a question ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    Answered,
    Cancelled,
}

/// What became of a message.
enum Offered {
    Taken,
    /// The client does not keep up.
    Full,
    /// There is no stream, or it has just ended.
    Nobody,
}

/// An answer that nobody wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unwanted {
    /// There was no such question.
    #[error("there is no such question")]
    Unknown,
    /// It was answered before.
    #[error("this question was answered already; the first answer counts")]
    Twice,
    /// Nobody waits for it any more.
    #[error("nobody waits for this answer any more")]
    TooLate,
    /// The hook or the event is another one than was asked about.
    #[error("the answer is for another hook or event than was asked about, so the hook has failed")]
    Mismatch,
    /// It names no question, and could be meant for several.
    #[error(
        "the answer has no `call_id`, and more than one question of the hook is open or was given up; send `call_id` back"
    )]
    Ambiguous,
}

/// A stream that was opened.
#[derive(Debug)]
pub struct Attached {
    /// What goes to the client. It ends when a newer stream takes over.
    pub messages: mpsc::Receiver<Sent>,
    /// The number of the stream, for [`Client::detach`].
    pub number: u64,
    /// How many events for observers could not be kept meanwhile.
    pub missed: u64,
}

/// Takes a question off the list, however its waiting ends, and tells the client.
struct Waiting<'a> {
    client: &'a Client,
    call_id: u64,
    why: Why,
}

impl Client {
    /// A client that has no stream yet.
    pub fn new(name: &str) -> Arc<Self> {
        Arc::new(Self { name: name.into(), made: Instant::now(), state: Mutex::default() })
    }

    /// What people know it by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it has a stream open.
    pub fn is_there(&self) -> bool {
        self.lock().stream.is_some()
    }

    /// How long it has had no stream; `None`: it has one.
    pub fn away_for(&self) -> Option<Duration> {
        let state = self.lock();
        state.stream.is_none().then(|| state.away.unwrap_or(self.made).elapsed())
    }

    /// How many questions wait for its answers.
    pub fn under_way(&self) -> usize {
        self.lock().pending.len()
    }

    /// Opens a stream. An older one ends; what waits is sent again.
    pub fn attach(&self) -> Attached {
        let (sender, messages) = mpsc::channel(ROOM);
        let mut state = self.lock();
        state.streams += 1;
        let waiting = state.pending.values().map(|pending| pending.question.clone());
        let again: Vec<_> = waiting.chain(state.kept.iter().cloned()).collect();
        for question in again {
            // There is room: this is what it was made for.
            let _ = sender.try_send(Sent::Asked(Question { redelivered: true, ..question }));
        }
        state.kept.clear();
        state.stream = Some(sender);
        state.away = None;
        Attached { messages, number: state.streams, missed: std::mem::take(&mut state.missed) }
    }

    /// A stream has ended. What waits goes on waiting for [`GRACE`], then it has failed. Whether it was the
    /// stream in use.
    pub fn detach(self: &Arc<Self>, number: u64) -> bool {
        let mut state = self.lock();
        if state.streams != number || state.stream.is_none() {
            return false;
        }
        state.leave();
        drop(state);
        let client = Arc::clone(self);
        tokio::spawn(async move {
            tokio::time::sleep(GRACE).await;
            let mut state = client.lock();
            if state.streams == number {
                // Whoever waits hears that nobody will answer.
                state.pending.clear();
            }
        });
        true
    }

    /// An answer has come.
    pub fn answer(&self, reply: Reply) -> Result<(), Unwanted> {
        let mut state = self.lock();
        let call_id = match reply.call_id {
            Some(call_id) => call_id,
            None => state.open_question(&reply)?,
        };
        let Some(Pending { question, answer }) = state.pending.remove(&call_id) else {
            let over = state.over.iter().find(|finished| finished.call_id == call_id);
            return Err(match over.map(|finished| finished.over) {
                Some(Over::Answered) => Unwanted::Twice,
                Some(Over::Cancelled) => Unwanted::TooLate,
                None => Unwanted::Unknown,
            });
        };
        state.remember(call_id, &question.hook, Over::Answered);
        drop(state);
        let fits = *question.hook == *reply.hook && reply.is_about(&question);
        let said = match reply.said {
            _ if !fits => Err(Failure::Failed(Unwanted::Mismatch.to_string())),
            Ok(said) => Ok(said),
            Err(FunctionError(why)) => Err(Failure::Failed(why)),
        };
        // Whoever asked may have gone in this moment.
        let _ = answer.send(said);
        if fits { Ok(()) } else { Err(Unwanted::Mismatch) }
    }

    /// A hook is no longer registered: whoever waits for it hears that nobody will answer.
    pub fn forget(&self, hook: &str) {
        let mut state = self.lock();
        let gone: Vec<_> = state
            .pending
            .iter()
            .filter(|(_, pending)| *pending.question.hook == *hook)
            .map(|(id, _)| *id)
            .collect();
        for call_id in gone {
            if let Some(Pending { question, .. }) = state.pending.remove(&call_id) {
                state.cancelled(call_id, &question.hook, Why::Unregistered);
            }
        }
        state.turns.remove(hook);
        state.kept.retain(|question| *question.hook != *hook);
    }

    /// Asks, and waits for the answer.
    pub(super) async fn ask(&self, question: Question, limit: Duration) -> Result<Answer, Failure> {
        let began = Instant::now();
        let turn = self.lock().turn(&question.hook);
        let _turn = match turn.map(|turn| tokio::time::timeout(limit, turn.lock_owned())) {
            Some(turn) => Some(turn.await.map_err(|_| Failure::TimedOut)?),
            None => None,
        };
        let limit = limit.saturating_sub(began.elapsed());
        let mut waiting = Waiting { client: self, call_id: question.call_id, why: Why::Gone };
        let answer = self.put(question).map_err(|why| Failure::Unreachable(why.to_owned()))?;
        match tokio::time::timeout(limit, answer).await {
            Ok(Ok(said)) => said,
            Ok(Err(_)) => Err(Failure::Unreachable("its program went away".to_owned())),
            Err(_) => {
                waiting.why = Why::TimedOut;
                Err(Failure::TimedOut)
            }
        }
    }

    /// Tells it, and waits for nothing.
    pub(super) fn tell(&self, news: Question) {
        let mut state = self.lock();
        match state.offer(Sent::Asked(news.clone())) {
            Offered::Taken => {}
            Offered::Nobody if state.kept.len() < KEPT => state.kept.push_back(news),
            // What it misses it is told the number of.
            Offered::Full | Offered::Nobody => state.missed += 1,
        }
    }

    /// Says that an answer was of no use.
    pub(super) fn refuse(&self, call_id: u64, why: &str) {
        let _ = self.lock().offer(Sent::Refused { call_id, why: why.to_owned() });
    }

    fn put(&self, question: Question) -> Result<oneshot::Receiver<Result<Answer, Failure>>, &'static str> {
        let mut state = self.lock();
        if state.pending.len() >= MOST {
            return Err("too many questions wait for its program");
        }
        let soon = state.stream.is_some() || state.away.is_some_and(|away| away.elapsed() < GRACE);
        match state.offer(Sent::Asked(question.clone())) {
            Offered::Taken => {}
            // Its stream has just ended; if it comes back in time it is asked then.
            Offered::Nobody if soon => {}
            Offered::Nobody => return Err("its program is not connected"),
            Offered::Full => return Err("its program does not keep up"),
        }
        let (answer, answered) = oneshot::channel();
        state.pending.insert(question.call_id, Pending { question, answer });
        Ok(answered)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn leave(&mut self) {
        self.stream = None;
        self.away = Some(Instant::now());
    }

    fn cancelled(&mut self, call_id: u64, hook: &HookId, why: Why) {
        self.remember(call_id, hook, Over::Cancelled);
        // What nobody waits for may get lost where a client does not keep up.
        let _ = self.offer(Sent::Cancelled { call_id, why });
    }

    fn offer(&self, message: Sent) -> Offered {
        let Some(stream) = &self.stream else { return Offered::Nobody };
        match stream.try_reserve() {
            Ok(room) => {
                room.send(message);
                Offered::Taken
            }
            Err(mpsc::error::TrySendError::Full(())) => Offered::Full,
            Err(mpsc::error::TrySendError::Closed(())) => Offered::Nobody,
        }
    }

    fn remember(&mut self, call_id: u64, hook: &HookId, over: Over) {
        if self.over.len() >= OVER {
            self.over.pop_front();
        }
        self.over.push_back(Finished { call_id, hook: Arc::clone(hook), over, stream: self.streams });
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let mut state = self.client.lock();
        if let Some(Pending { question, .. }) = state.pending.remove(&self.call_id) {
            state.cancelled(self.call_id, &question.hook, self.why);
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("name", &self.name).finish_non_exhaustive()
    }
}
