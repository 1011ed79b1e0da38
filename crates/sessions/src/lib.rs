// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sessions: everything one agent's conversation did, put together from the events that were decided.
//!
//! ```text
//! decided just now ─▶ happened ─┐
//!                               ├─▶ apply (tool, files, behind, todo, denial, usage) ─▶ session ─▶ session_update
//! ledger ─▶ leaf ─▶ happened ───┘                                                   └─▶ keep
//! ```
//!
//! Both ways are one: a session that is put together from the ledger ([`rebuild`]) is the one that was put
//! together live. So only events are asked, never the disk or the clock. Live events are applied at once,
//! under a lock that is held for microseconds; which files a command touches comes from whoever judged it,
//! and is read anew for events of the past ([`look`]).

mod apply;
mod behind;
mod calls;
mod denial;
mod diff;
mod files;
mod happened;
mod keep;
mod leaf;
mod list;
mod look;
mod offline;
mod rebuild;
mod rebuild_pool;
mod session;
mod session_update;
mod shape;
mod step;
mod todo;
mod tool;
mod usage;

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tenterhook_api::{SessionDetails, SessionFiles, SessionSummary, SessionTodos};
use tenterhook_event::{Event, EventKind, Timestamp};
use tenterhook_harness::dialect::a3s::Session as Known;
use tenterhook_policy::Prices;

use apply::Around;
pub use diff::{FileChangeRecords, diff};
pub use happened::DecidedEvent;
use keep::Shelf;
pub use leaf::RecordedEvent;
pub use list::SessionFilter;
pub use offline::{Following, RecordedSessions};
pub use rebuild_pool::RebuildPool;
use session::Session;
pub use session_update::SessionUpdate;
pub use step::timeline;

/// How many live events are remembered while sessions are put together from the ledger.
const MEANWHILE: usize = 8192;

/// A session, by its harness and the harness's id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionKey {
    /// The harness.
    pub harness: String,
    /// The harness's id.
    pub id: String,
}

/// Puts events together to sessions.
pub struct Projector {
    held: Mutex<Held>,
    /// How many events were decided live.
    calls: AtomicU64,
    /// Whose home `~` is.
    person: Option<String>,
    prices: Arc<Prices>,
    /// Called when a session that is kept in short has something new.
    signal: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct Held {
    shelf: Shelf,
    /// Leaves before this one are in it.
    from: u64,
    /// What came in while sessions are put together from the ledger.
    meanwhile: Option<VecDeque<RecordedEvent>>,
    /// How often all sessions were asked for anew.
    asked: u64,
    /// Sessions that are kept in short and have something new.
    cold: HashSet<SessionKey>,
    /// Sessions that were read anew while all are put together.
    anew: HashSet<SessionKey>,
}

impl SessionKey {
    /// The session of an event, if it names one.
    pub fn of(event: &Event) -> Option<Self> {
        let id = event.harness_session_id.clone().filter(|id| !id.is_empty())?;
        Some(Self { harness: event.source.clone(), id })
    }
}

impl Projector {
    /// Nothing is known yet.
    pub fn new(person: Option<String>, prices: Arc<Prices>) -> Arc<Self> {
        Self::with_signal(person, prices, || ())
    }

    /// The same. `signal` is called, under the lock, when a session that is kept in short has something new
    /// ([`Projector::take_cold`]): it must return at once and not call back.
    pub fn with_signal(
        person: Option<String>,
        prices: Arc<Prices>,
        signal: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Self> {
        let (held, calls, signal) = (Mutex::default(), AtomicU64::new(0), Box::new(signal));
        Arc::new(Self { held, calls, person, prices, signal })
    }

    /// The event has been decided. Says which session it belongs to.
    pub fn apply(&self, happened: &DecidedEvent<'_>, told: &mut SessionUpdate) -> Option<SessionKey> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let key = SessionKey::of(happened.event)?;
        let mut held = self.lock();
        if happened.seq < held.from {
            // It was in the ledger when that was read.
            return Some(key);
        }
        if let Some(meanwhile) = &mut held.meanwhile {
            if meanwhile.len() >= MEANWHILE {
                meanwhile.pop_front();
            }
            meanwhile.push_back(RecordedEvent::copy(happened));
        }
        let session = held.shelf.session(key.clone(), happened.event.ts);
        session.apply(happened, self.means(), told);
        if session.body.is_none() {
            held.cold.insert(key.clone());
            (self.signal)();
        }
        Some(key)
    }

    /// Whether there are events of a session.
    pub fn knows(&self, key: &SessionKey) -> bool {
        self.lock().shelf.sessions.contains_key(key)
    }

    /// Fills in what only an earlier event of the session said. A session ends once: some harnesses fire the end
    /// twice, and the second one is only recorded.
    pub fn complete(&self, event: &mut Event) {
        let is_end = event.event == EventKind::SessionEnd;
        if (event.agent.model.is_none() || is_end)
            && let Some(key) = SessionKey::of(event)
            && let Some(session) = self.lock().shelf.sessions.get(&key)
        {
            if event.agent.model.is_none() {
                event.agent.model.clone_from(&session.model);
            }
            if is_end && session.ended.is_some() {
                event.event = EventKind::Other;
            }
        }
    }

    /// The approval that this event waited for has ended: nothing waits any more. Returns the session, if
    /// it has changed.
    pub fn approval_ended(&self, event: &Event) -> Option<SessionKey> {
        let key = SessionKey::of(event)?;
        let mut held = self.lock();
        let session = held.shelf.sessions.get_mut(&key).filter(|session| session.last == event.ts)?;
        session.doing = session::Doing::Works;
        Some(key)
    }

    /// The harnesses that sent an event since then.
    pub fn harnesses_since(&self, since: Timestamp) -> BTreeSet<String> {
        let held = self.lock();
        let recent = held.shelf.sessions.values().filter(|session| session.last >= since);
        recent.map(|session| session.key.harness.clone()).collect()
    }

    /// What hooks of programs are told of the session of an event.
    pub fn around(&self, event: &Event) -> Known {
        let held = self.lock();
        let Some(session) = SessionKey::of(event).and_then(|key| held.shelf.sessions.get(&key)) else {
            return Known::default();
        };
        Known {
            recent_tools: session.recent.clone(),
            input_tokens: session.usage.input_tokens,
            output_tokens: session.usage.output_tokens,
        }
    }

    /// One session in short, for a live view.
    pub fn summary(&self, key: &SessionKey) -> Option<SessionSummary> {
        let held = self.lock();
        held.shelf.sessions.get(key).map(|session| session.summary(session.last))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.lock().shelf.sessions.len()
    }

    /// The session that an id means: `<harness>:<id>`, or the latest with this id. Also whether it is whole.
    pub fn find(&self, id: &str) -> Option<(SessionKey, bool)> {
        let held = self.lock();
        let sessions = &held.shelf.sessions;
        let exact = |(harness, id): (&str, &str)| {
            sessions.get(&SessionKey { harness: harness.to_owned(), id: id.to_owned() })
        };
        let any =
            || sessions.values().filter(|session| session.key.id == id).max_by_key(|session| session.last);
        let found = id.split_once(':').and_then(exact).or_else(any)?;
        Some((found.key.clone(), found.body.is_some()))
    }

    /// Looks at a session that is in memory, whole or not.
    pub fn look<T>(&self, key: &SessionKey, look: impl FnOnce(&SessionView<'_>) -> T) -> Option<T> {
        self.lock().shelf.sessions.get(key).map(|session| look(&SessionView(session)))
    }

    fn means(&self) -> Around<'_> {
        Around { person: self.person.as_deref(), prices: &self.prices }
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A session, for whoever looks at it.
pub struct SessionView<'a>(&'a Session);

impl SessionView<'_> {
    /// In short.
    pub fn summary(&self, now: Timestamp) -> SessionSummary {
        self.0.summary(now)
    }

    /// All of it.
    pub fn whole(&self, now: Timestamp) -> SessionDetails {
        self.0.whole(now)
    }

    /// The files it changed.
    pub fn files(&self) -> SessionFiles {
        self.0.files()
    }

    /// Its to-do list.
    pub fn todos(&self) -> SessionTodos {
        self.0.todos()
    }
}

#[cfg(test)]
mod tests;
