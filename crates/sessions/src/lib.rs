// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Projects decided events onto sessions. A session contains everything that happened in one agent's conversation.
//!
//! ```text
//! live event ───────────────▶ decided_event ─┐
//!                                            ├─▶ apply ─▶ session ─▶ session_update
//! ledger ─▶ recorded_event ─▶ decided_event ─┘                  └─▶ session_cache
//! ```
//!
//! A session that is rebuilt from the ledger ([`rebuild`]) equals the session that was projected live. For this
//! reason the projection depends only on events, never on the disk or the clock. Live events are applied at once,
//! under a lock that is held for microseconds. The judge supplies the files that a live command touches; for
//! recorded events they are derived again ([`touched_files`]).

mod apply;
mod decided_event;
mod denial;
mod diff;
mod file_activity;
mod offline;
mod outside_change;
mod rebuild;
mod rebuild_pool;
mod recorded_event;
mod session;
mod session_cache;
mod session_list;
mod session_update;
mod text_change;
mod timeline;
mod todo_list;
mod tool_events;
mod touched_files;
mod unfinished_calls;
mod usage_totals;

use std::collections::{BTreeSet, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tenterhook_api::{SessionDetails, SessionFiles, SessionSummary, SessionTodos};
use tenterhook_event::{Event, EventKind, Timestamp};
use tenterhook_harness::dialect::a3s::A3sSessionContext as SdkSession;
use tenterhook_policy::PriceTable;

use apply::ProjectionContext;
pub use decided_event::DecidedEvent;
pub use diff::{FileChangeRecords, diff};
pub use offline::{RecordedSessions, SessionFollower};
pub use rebuild_pool::RebuildPool;
pub use recorded_event::RecordedEvent;
use session::ProjectedSession;
use session_cache::SessionCache;
pub use session_list::SessionFilter;
pub use session_update::SessionUpdate;
pub use timeline::timeline;

/// Maximum number of live events buffered while sessions are rebuilt from the ledger.
const MAX_BUFFERED_EVENTS: usize = 8192;

/// Identifies a session by its harness and the harness's session id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionKey {
    /// Name of the harness.
    pub harness: String,
    /// Session id of the harness.
    pub id: String,
}

/// Builds sessions from events and keeps a limited number of them in memory.
pub struct SessionProjector {
    state: Mutex<ProjectorState>,
    /// Number of live events so far. The threads of a rebuild compare it to notice hook calls and yield to
    /// them.
    calls: AtomicU64,
    /// Home directory that `~` refers to.
    person: Option<String>,
    prices: Arc<PriceTable>,
    /// Called when an event arrives for a session whose body (its details) was dropped from memory.
    signal: Box<dyn Fn() + Send + Sync>,
}

#[derive(Default)]
struct ProjectorState {
    cache: SessionCache,
    /// Records with a lower sequence number are already in the cache.
    from: u64,
    /// Live events that arrived during a rebuild.
    buffered: Option<VecDeque<RecordedEvent>>,
    /// Incremented when all sessions are cleared, so that an older rebuild is discarded.
    generation: u64,
    /// Sessions to reload from the ledger: they received an event while they had no body, or were reloaded during a
    /// rebuild.
    stale: HashSet<SessionKey>,
    /// Sessions that were reloaded during a rebuild.
    reloaded: HashSet<SessionKey>,
}

impl SessionKey {
    /// The session of an event, if the event has a session id.
    pub fn of(event: &Event) -> Option<Self> {
        let id = event.harness_session_id.clone().filter(|id| !id.is_empty())?;
        Some(Self { harness: event.source.clone(), id })
    }
}

impl SessionProjector {
    /// Creates a projector without sessions. `person` is the home directory that `~` refers to.
    pub fn new(person: Option<String>, prices: Arc<PriceTable>) -> Arc<Self> {
        Self::with_signal(person, prices, || ())
    }

    /// Creates a projector with a signal. `signal` is called under the lock when a session without a body receives an
    /// event ([`SessionProjector::take_stale`]). It must return at once and must not call the projector.
    pub fn with_signal(
        person: Option<String>,
        prices: Arc<PriceTable>,
        signal: impl Fn() + Send + Sync + 'static,
    ) -> Arc<Self> {
        let (state, calls, signal) = (Mutex::default(), AtomicU64::new(0), Box::new(signal));
        Arc::new(Self { state, calls, person, prices, signal })
    }

    /// Applies a decided event. Returns the session it belongs to.
    pub fn apply(&self, decided: &DecidedEvent<'_>, update: &mut SessionUpdate) -> Option<SessionKey> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let key = SessionKey::of(decided.event)?;
        let mut state = self.lock();
        if decided.seq < state.from {
            // The rebuild has already read this event from the ledger.
            return Some(key);
        }
        if let Some(buffered) = &mut state.buffered {
            if buffered.len() >= MAX_BUFFERED_EVENTS {
                buffered.pop_front();
            }
            buffered.push_back(RecordedEvent::from_decided(decided));
        }
        let session = state.cache.entry(key.clone(), decided.event.ts);
        session.apply(decided, self.context(), update);
        if session.body.is_none() {
            state.stale.insert(key.clone());
            (self.signal)();
        }
        Some(key)
    }

    /// Whether a session is in memory.
    pub fn contains(&self, key: &SessionKey) -> bool {
        self.lock().cache.sessions.contains_key(key)
    }

    /// Completes an event from its session: sets the model if the event has none. Some harnesses report the end of a
    /// session twice. The second event gets the kind `Other`, so that it is recorded but runs no session-end hooks.
    pub fn fill_from_session(&self, event: &mut Event) {
        let is_end = event.event == EventKind::SessionEnd;
        if (event.agent.model.is_none() || is_end)
            && let Some(key) = SessionKey::of(event)
            && let Some(session) = self.lock().cache.sessions.get(&key)
        {
            if event.agent.model.is_none() {
                event.agent.model.clone_from(&session.model);
            }
            if is_end && session.ended.is_some() {
                event.event = EventKind::Other;
            }
        }
    }

    /// Marks the session as no longer waiting, because the approval for this event has ended. Returns the session if
    /// it changed.
    pub fn approval_ended(&self, event: &Event) -> Option<SessionKey> {
        let key = SessionKey::of(event)?;
        let mut state = self.lock();
        let session = state.cache.sessions.get_mut(&key).filter(|session| session.last == event.ts)?;
        session.status = session::AgentStatus::Working;
        Some(key)
    }

    /// Harnesses that sent an event since the given time.
    pub fn harnesses_since(&self, since: Timestamp) -> BTreeSet<String> {
        let state = self.lock();
        let recent = state.cache.sessions.values().filter(|session| session.last >= since);
        recent.map(|session| session.key.harness.clone()).collect()
    }

    /// Session data for the hooks of SDK programs.
    pub fn sdk_session(&self, event: &Event) -> SdkSession {
        let state = self.lock();
        let Some(session) = SessionKey::of(event).and_then(|key| state.cache.sessions.get(&key)) else {
            return SdkSession::default();
        };
        SdkSession {
            recent_tools: session.recent.clone(),
            input_tokens: session.usage.input_tokens,
            output_tokens: session.usage.output_tokens,
        }
    }

    /// Summary of one session, for a live view.
    pub fn summary(&self, key: &SessionKey) -> Option<SessionSummary> {
        let state = self.lock();
        state.cache.sessions.get(key).map(|session| session.summary(session.last))
    }

    /// Number of sessions in memory.
    pub fn count(&self) -> usize {
        self.lock().cache.sessions.len()
    }

    /// Finds a session by `<harness>:<id>`, or the latest session with this id. The flag is true if the
    /// session's body is in memory.
    pub fn find(&self, id: &str) -> Option<(SessionKey, bool)> {
        let state = self.lock();
        let sessions = &state.cache.sessions;
        let exact = |(harness, id): (&str, &str)| {
            sessions.get(&SessionKey { harness: harness.to_owned(), id: id.to_owned() })
        };
        let any =
            || sessions.values().filter(|session| session.key.id == id).max_by_key(|session| session.last);
        let found = id.split_once(':').and_then(exact).or_else(any)?;
        Some((found.key.clone(), found.body.is_some()))
    }

    /// Calls `view` with a session, if it is in memory.
    pub fn with_session<T>(&self, key: &SessionKey, view: impl FnOnce(&SessionView<'_>) -> T) -> Option<T> {
        self.lock().cache.sessions.get(key).map(|session| view(&SessionView(session)))
    }

    fn context(&self) -> ProjectionContext<'_> {
        ProjectionContext { person: self.person.as_deref(), prices: &self.prices }
    }

    fn lock(&self) -> MutexGuard<'_, ProjectorState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Read access to a session.
pub struct SessionView<'a>(&'a ProjectedSession);

impl SessionView<'_> {
    /// Summary of the session.
    pub fn summary(&self, now: Timestamp) -> SessionSummary {
        self.0.summary(now)
    }

    /// All details of the session.
    pub fn details(&self, now: Timestamp) -> SessionDetails {
        self.0.details(now)
    }

    /// Files that the session changed.
    pub fn files(&self) -> SessionFiles {
        self.0.files()
    }

    /// The session's todo list.
    pub fn todos(&self) -> SessionTodos {
        self.0.todos()
    }
}

#[cfg(test)]
mod tests;
