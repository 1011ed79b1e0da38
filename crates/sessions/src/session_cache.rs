// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Bounded store of sessions. The latest sessions keep their body, older ones lose it, and the oldest are removed. The
//! ledger has all of them.

use std::cmp::Reverse;
use std::collections::HashMap;

use tenterhook_event::Timestamp;

use super::SessionKey;
use super::session::ProjectedSession;

/// Maximum number of sessions in memory.
pub(super) const MAX_SESSIONS: usize = 20_000;
/// Maximum number of sessions with their body; the others keep only the fields that lists show.
pub(super) const MAX_FULL_SESSIONS: usize = 300;

/// Sessions by key.
#[derive(Debug)]
pub(super) struct SessionCache {
    pub(super) sessions: HashMap<SessionKey, ProjectedSession>,
    /// Maximum number of sessions with a body.
    max_full: usize,
    max_sessions: usize,
    full_count: usize,
}

impl Default for SessionCache {
    fn default() -> Self {
        Self::with_share(1)
    }
}

impl SessionCache {
    /// Creates one of `number` caches that share the limits.
    pub(super) fn with_share(number: usize) -> Self {
        let number = number.max(1);
        Self {
            sessions: HashMap::new(),
            max_full: MAX_FULL_SESSIONS / number,
            max_sessions: MAX_SESSIONS / number,
            full_count: 0,
        }
    }

    /// Returns the session with this key, and creates it if it does not exist.
    pub(super) fn entry(&mut self, key: SessionKey, ts: Timestamp) -> &mut ProjectedSession {
        if !self.sessions.contains_key(&key) {
            self.make_room();
            self.full_count += 1;
        }
        self.sessions.entry(key).or_insert_with_key(|key| ProjectedSession::new(key.clone(), ts))
    }

    /// Inserts a session, or replaces the one with the same key.
    pub(super) fn insert(&mut self, session: ProjectedSession) {
        self.make_room();
        self.full_count += 1;
        self.sessions.insert(session.key.clone(), session);
    }

    /// Adds the sessions of another cache.
    pub(super) fn merge(&mut self, other: Self) {
        self.sessions.extend(other.sessions);
        self.full_count = self.sessions.values().filter(|session| session.body.is_some()).count();
        self.make_room();
    }

    /// Makes room for another session. Several of the oldest sessions are removed at once, so that this work
    /// is rare.
    fn make_room(&mut self) {
        if self.sessions.len() >= self.max_sessions
            && let Some(border) =
                nth_newest(self.sessions.values(), self.max_sessions - self.max_sessions / 20)
        {
            self.sessions.retain(|_, session| session.last > border);
        }
        if self.full_count > self.max_full + self.max_full / 8 {
            let whole = || self.sessions.values().filter(|session| session.body.is_some());
            if let Some(border) = nth_newest(whole(), self.max_full) {
                let old = |session: &&mut ProjectedSession| session.body.is_some() && session.last <= border;
                self.sessions.values_mut().filter(old).for_each(ProjectedSession::shrink);
            }
            self.full_count = self.sessions.values().filter(|session| session.body.is_some()).count();
        }
    }
}

/// Time of the last event of the session at position `number`, latest first.
fn nth_newest<'a>(sessions: impl Iterator<Item = &'a ProjectedSession>, number: usize) -> Option<Timestamp> {
    let mut ages: Vec<_> = sessions.map(|session| Reverse(session.last)).collect();
    if ages.is_empty() {
        return None;
    }
    let at = number.min(ages.len() - 1);
    Some(ages.select_nth_unstable(at).1.0)
}
