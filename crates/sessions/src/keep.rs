// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Keeping sessions within bounds: a few whole, many in short, the oldest not at all. The ledger has
//! all of them.

use std::cmp::Reverse;
use std::collections::HashMap;

use tenterhook_event::Timestamp;

use super::SessionKey;
use super::session::Session;

/// How many sessions are kept.
pub(super) const MOST: usize = 20_000;
/// How many are kept whole; of the others only what a list shows.
pub(super) const WHOLE: usize = 300;

/// Sessions, by their names.
#[derive(Debug)]
pub(super) struct Shelf {
    pub(super) sessions: HashMap<SessionKey, Session>,
    /// How many are whole, at most.
    whole: usize,
    most: usize,
    whole_now: usize,
}

impl Default for Shelf {
    fn default() -> Self {
        Self::of(1)
    }
}

impl Shelf {
    /// One of so many that share the room.
    pub(super) fn of(number: usize) -> Self {
        let number = number.max(1);
        Self { sessions: HashMap::new(), whole: WHOLE / number, most: MOST / number, whole_now: 0 }
    }

    /// The session of this name, new if there is none.
    pub(super) fn session(&mut self, key: SessionKey, ts: Timestamp) -> &mut Session {
        if !self.sessions.contains_key(&key) {
            self.make_room();
            self.whole_now += 1;
        }
        self.sessions.entry(key).or_insert_with_key(|key| Session::new(key.clone(), ts))
    }

    /// Puts a whole session in the place of what was kept of it.
    pub(super) fn put(&mut self, session: Session) {
        self.make_room();
        self.whole_now += 1;
        self.sessions.insert(session.key.clone(), session);
    }

    /// Takes in another shelf's sessions.
    pub(super) fn add(&mut self, other: Self) {
        self.sessions.extend(other.sessions);
        self.whole_now = self.sessions.values().filter(|session| session.body.is_some()).count();
        self.make_room();
    }

    /// Another session comes. The oldest go a few at a time, so that making room is rare.
    fn make_room(&mut self) {
        if self.sessions.len() >= self.most
            && let Some(border) = newest(self.sessions.values(), self.most - self.most / 20)
        {
            self.sessions.retain(|_, session| session.last > border);
        }
        if self.whole_now > self.whole + self.whole / 8 {
            let whole = || self.sessions.values().filter(|session| session.body.is_some());
            if let Some(border) = newest(whole(), self.whole) {
                let old = |session: &&mut Session| session.body.is_some() && session.last <= border;
                self.sessions.values_mut().filter(old).for_each(Session::shrink);
            }
            self.whole_now = self.sessions.values().filter(|session| session.body.is_some()).count();
        }
    }
}

/// The moment after which so many sessions had their last event.
fn newest<'a>(sessions: impl Iterator<Item = &'a Session>, number: usize) -> Option<Timestamp> {
    let mut ages: Vec<_> = sessions.map(|session| Reverse(session.last)).collect();
    if ages.is_empty() {
        return None;
    }
    let at = number.min(ages.len() - 1);
    Some(ages.select_nth_unstable(at).1.0)
}
