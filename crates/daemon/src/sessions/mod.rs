// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sessions: everything one agent's conversation did, put together from the events that were decided.
//!
//! Every event is applied at once, under a lock that is held for microseconds. Which files a shell
//! command touches comes from whoever judged it; for events of the past it is read anew ([`look`]). At
//! the start of the daemon the leaves of the last day are applied ([`rebuild`]).

mod apply;
mod files;
mod look;
mod rebuild;
mod session;
mod todo;
mod usage;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Map, Value};
use tenterhook_event::{Decision, Event, Timestamp, Touch};
use tenterhook_harness::dialect::a3s::Session as Around;

use session::Session;

/// How many sessions are kept.
const MOST: usize = 10_000;
/// How many of the oldest are forgotten together, so that making room is rare.
const FORGOTTEN: usize = MOST / 20;

/// How many are kept with all they did; of older ones only what a list shows.
const WHOLE: usize = 500;
/// After how many new ones the others are looked through.
const NEW: usize = 50;

/// A session, by its harness and the harness's id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) harness: String,
    pub(crate) id: String,
}

/// Puts events together to sessions.
pub(crate) struct Projector {
    sessions: Mutex<HashMap<Key, Session>>,
    /// Whose home `~` is.
    person: Option<String>,
}

/// Which sessions are meant.
#[derive(Debug, Default)]
pub(crate) struct Wanted {
    pub(crate) harness: Option<String>,
    pub(crate) state: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) limit: usize,
}

impl Key {
    /// The session of an event, if it names one.
    pub(crate) fn of(event: &Event) -> Option<Self> {
        let id = event.harness_session_id.clone().filter(|id| !id.is_empty())?;
        Some(Self { harness: event.source.clone(), id })
    }
}

impl Projector {
    pub(crate) fn new(person: Option<String>) -> Arc<Self> {
        Arc::new(Self { sessions: Mutex::default(), person })
    }

    /// The event has been decided. Says which session it belongs to.
    pub(crate) fn apply(
        &self,
        event: &Event,
        decision: Decision,
        native: Option<&Map<String, Value>>,
        touched: &[Touch],
    ) -> Option<Key> {
        let key = Key::of(event)?;
        self.with(&key, event.ts, |session| {
            if session.apply(event, decision, native) {
                for touch in touched {
                    session.files.did(touch);
                }
            }
        });
        Some(key)
    }

    /// The same for an event of the past, of which only the record is there.
    pub(crate) fn apply_recorded(&self, event: &Event, decision: Decision) -> Option<Key> {
        let touched = look::touched(event, self.person.as_deref());
        let key = self.apply(event, decision, None, touched.as_deref().unwrap_or_default())?;
        if touched.is_none() {
            self.with(&key, event.ts, |session| session.files.leave_out(1));
        }
        Some(key)
    }

    /// Fills in what only an earlier event of the session said.
    pub(crate) fn complete(&self, event: &mut Event) {
        if event.agent.model.is_none()
            && let Some(key) = Key::of(event)
            && let Some(session) = self.lock().get(&key)
        {
            event.agent.model.clone_from(&session.model);
        }
    }

    /// What hooks of programs are told of the session of an event.
    pub(crate) fn around(&self, event: &Event) -> Around {
        let sessions = self.lock();
        let Some(session) = Key::of(event).and_then(|key| sessions.get(&key)) else {
            return Around::default();
        };
        Around {
            recent_tools: session.recent.clone(),
            input_tokens: session.usage.input_tokens,
            output_tokens: session.usage.output_tokens,
        }
    }

    /// Sessions that are meant, the latest first, and how many there are in all.
    pub(crate) fn list(&self, wanted: &Wanted, now: Timestamp) -> (Vec<Value>, usize) {
        let sessions = self.lock();
        let fits =
            |said: &Option<String>, is: Option<&str>| said.as_deref().is_none_or(|said| is == Some(said));
        let mut found: Vec<_> = sessions
            .values()
            .filter(|session| {
                fits(&wanted.harness, Some(&session.key.harness))
                    && fits(&wanted.project, session.project.as_deref().or(session.cwd.as_deref()))
                    && fits(&wanted.state, Some(session.state(now).word()))
            })
            .collect();
        found.sort_by(|one, other| (other.last, &other.key.id).cmp(&(one.last, &one.key.id)));
        let shown = found.iter().take(wanted.limit).map(|session| session.summary(now)).collect();
        (shown, found.len())
    }

    /// One session, whole. The id may be `<harness>:<id>`.
    pub(crate) fn whole(&self, id: &str, now: Timestamp) -> Option<(Key, Value)> {
        let sessions = self.lock();
        let exact = |(harness, id): (&str, &str)| {
            sessions.get(&Key { harness: harness.to_owned(), id: id.to_owned() })
        };
        let any =
            || sessions.values().filter(|session| session.key.id == id).max_by_key(|session| session.last);
        let found = any().or_else(|| id.split_once(':').and_then(exact))?;
        Some((found.key.clone(), found.whole(now)))
    }

    /// One session in short, for a live view.
    pub(crate) fn summary(&self, key: &Key) -> Value {
        self.lock().get(key).map(|session| session.summary(session.last)).unwrap_or_default()
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    fn with<T>(&self, key: &Key, ts: Timestamp, change: impl FnOnce(&mut Session) -> T) -> T {
        let mut sessions = self.lock();
        if !sessions.contains_key(key) {
            make_room(&mut sessions);
        }
        change(sessions.entry(key.clone()).or_insert_with(|| Session::new(key.clone(), ts)))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Session>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Another session comes.
fn make_room(sessions: &mut HashMap<Key, Session>) {
    if sessions.len() >= MOST {
        let border = newest(sessions, MOST - FORGOTTEN);
        sessions.retain(|_, session| session.last > border);
    }
    if sessions.len() >= WHOLE + NEW && sessions.len().is_multiple_of(NEW) {
        let border = newest(sessions, WHOLE);
        sessions.values_mut().filter(|session| session.last <= border).for_each(Session::shrink);
    }
}

/// The moment after which so many sessions had their last event.
fn newest(sessions: &HashMap<Key, Session>, number: usize) -> Timestamp {
    let mut ages: Vec<_> = sessions.values().map(|session| std::cmp::Reverse(session.last)).collect();
    let at = number.min(ages.len().saturating_sub(1));
    ages.select_nth_unstable(at).1.0
}

/// A text for people to see: short, and without the secrets that the policy knows.
pub(crate) fn clean(text: &str, most: usize) -> String {
    // A secret that begins before the cut is found even if its end is not shown.
    let searched = text.get(..text.floor_char_boundary(most * 4 + 4096)).unwrap_or(text);
    let mut out = String::new();
    let mut at = 0;
    for (span, kind) in tenterhook_home::secrets(searched) {
        out += searched.get(at..span.start).unwrap_or_default();
        out += &format!("[{kind}]");
        at = span.end.max(at);
    }
    out += searched.get(at..).unwrap_or_default();
    match out.char_indices().nth(most) {
        Some((cut, _)) => format!("{}…", out.get(..cut).unwrap_or_default()),
        None => out,
    }
}

#[cfg(test)]
mod tests;
