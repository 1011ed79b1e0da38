// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sessions from the ledger: all of them when a daemon begins, one when somebody looks at it.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

use tenterhook_error::Failure;
use tenterhook_ledger::{Filter, ReadFailed, Reader};

use super::keep::Shelf;
use super::leaf::RecordedEvent;
use super::offline::unread;
use super::rebuild_pool::{Beside, RebuildPool};
use super::session::Session;
use super::session_update::SessionUpdate;
use super::{Projector, SessionKey, SessionView};

/// How many leaves are read at most; older ones are read when somebody looks at a session.
const MOST: u64 = 4_000_000;
/// How many leaves are read at a time: a reader that stays long keeps the journal from being emptied.
const PAGE: u64 = 4096;
/// From how many leaves on it is worth another thread.
const MANY: u64 = 20_000;

impl Projector {
    /// From now on live events are remembered until [`Projector::rebuild`] has read what was before.
    pub fn begin(&self) {
        self.lock().meanwhile.get_or_insert_default();
    }

    /// Puts all sessions together from the ledger, and says how many leaves there were.
    pub fn rebuild(
        &self,
        open: impl Fn() -> Result<Reader, ReadFailed> + Sync,
        hands: RebuildPool,
    ) -> Result<u64, Failure> {
        let asked = self.lock().asked;
        let size = open().and_then(|reader| reader.size()).map_err(unread)?;
        let from = size.saturating_sub(MOST);
        let read = hands.work(|| self.read(&open, from..size, hands));
        let broken = || Failure::internal("putting sessions together broke off");
        let (mut shelf, end) = read.flatten().ok_or_else(broken)?.map_err(unread)?;
        // What came in while we read. It is little, and whoever yields might never be done with it.
        let reader = open().map_err(unread)?;
        let end = self.fill(&reader, &mut shelf, end..u64::MAX, |_, _| true, || ()).map_err(unread)?;
        self.adopt(shelf, end, asked);
        Ok(end - from)
    }

    /// Reads leaves on several threads, and says where they end. A session belongs to one thread, so that its
    /// events stay in order and nobody waits for anybody. `None`: a thread broke off.
    fn read(
        &self,
        open: &(impl Fn() -> Result<Reader, ReadFailed> + Sync),
        range: Range<u64>,
        hands: RebuildPool,
    ) -> Option<Result<(Shelf, u64), ReadFailed>> {
        let threads = if range.end - range.start < MANY { 1 } else { hands.threads.clamp(1, 8) };
        let (range, end) = (&range, range.end);
        let beside = &Beside::new(hands, threads, &self.calls);
        let part = move |number: usize| {
            let mut shelf = Shelf::of(threads);
            let mine = |_: &str, session: &str| share(session, threads) == number;
            let mut turn = beside.turn(number);
            let end = self.fill(&open()?, &mut shelf, range.clone(), mine, || turn.stand_aside())?;
            Ok((shelf, end))
        };
        let parts: Vec<_> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|number| scope.spawn(move || part(number))).collect();
            let first = Some(part(0));
            std::iter::once(first).chain(others.into_iter().map(|other| other.join().ok())).collect()
        });
        let parts: Option<Result<Vec<_>, _>> = parts.into_iter().collect();
        let together = |(mut all, end): (Shelf, u64), (shelf, upto): (Shelf, u64)| {
            all.add(shelf);
            (all, end.min(upto))
        };
        Some(parts?.map(|parts| parts.into_iter().fold((Shelf::default(), end), together)))
    }

    fn fill(
        &self,
        reader: &Reader,
        shelf: &mut Shelf,
        range: Range<u64>,
        wanted: impl Fn(&str, &str) -> bool,
        mut between: impl FnMut(),
    ) -> Result<u64, ReadFailed> {
        let mut next = range.start;
        while next < range.end {
            between();
            let page = next..range.end.min(next.saturating_add(PAGE));
            let end = reader.scan(page, &wanted, |glance| {
                if let Some(past) = RecordedEvent::read(glance)
                    && let Some(key) = SessionKey::of(&past.event)
                {
                    let session = shelf.session(key, past.event.ts);
                    session.apply(&past.happened(), self.means(), &mut SessionUpdate::default());
                }
            })?;
            if end == next {
                break;
            }
            next = end;
        }
        Ok(next)
    }

    /// These sessions count from now on, unless others were asked for meanwhile. What is not in them yet is
    /// applied.
    fn adopt(&self, shelf: Shelf, end: u64, asked: u64) {
        let mut held = self.lock();
        if held.asked != asked {
            return;
        }
        let meanwhile = held.meanwhile.take().unwrap_or_default();
        let before = std::mem::replace(&mut held.shelf, shelf);
        held.from = end;
        let mut late: Vec<_> = meanwhile.into_iter().filter(|past| past.seq >= end).collect();
        late.sort_by_key(|past| past.seq);
        for past in late {
            if let Some(key) = SessionKey::of(&past.event) {
                let session = held.shelf.session(key, past.event.ts);
                session.apply(&past.happened(), self.means(), &mut SessionUpdate::default());
            }
        }
        // Sessions that were read anew for what nobody heard may be here as they were before.
        let anew = std::mem::take(&mut held.anew);
        if !anew.is_empty() {
            held.cold.extend(anew);
            (self.signal)();
        }
        drop(held);
        // It takes a moment, and calls wait for the lock.
        drop(before);
    }

    /// Puts one session together from the ledger and keeps it. `None`: the ledger has no such session.
    pub fn bring_back<T>(
        &self,
        key: &SessionKey,
        reader: &Reader,
        look: impl FnOnce(&SessionView<'_>) -> T,
    ) -> Result<Option<T>, ReadFailed> {
        let mut session: Option<Session> = None;
        reader.session(&key.harness, &key.id, |glance| {
            if let Some(past) = RecordedEvent::read(glance) {
                let session = session.get_or_insert_with(|| Session::new(key.clone(), past.event.ts));
                session.apply(&past.happened(), self.means(), &mut SessionUpdate::default());
            }
        })?;
        let Some(session) = session else { return Ok(None) };
        let seen = look(&SessionView(&session));
        let mut held = self.lock();
        let newer = |known: &Session| known.last_seq > session.last_seq;
        // What was sequenced a moment ago is not in the ledger's file yet: then it comes back later.
        if !held.shelf.sessions.get(key).is_some_and(newer) {
            held.cold.remove(key);
            held.shelf.put(session);
        }
        if held.meanwhile.is_some() {
            held.anew.insert(key.clone());
        }
        Ok(Some(seen))
    }

    /// The session that an id means, where memory does not know it.
    pub fn find_recorded(id: &str, reader: &Reader) -> Result<Option<SessionKey>, ReadFailed> {
        let exact = id.split_once(':').map(|(harness, id)| (Some(harness.to_owned()), id.to_owned()));
        for (harness, session) in exact.into_iter().chain([(None, id.to_owned())]) {
            let filter = Filter { session: Some(session.clone()), harness, ..Filter::default() };
            let found = reader.query(&filter, 1)?;
            let source =
                found.records.first().and_then(|record| record.envelope()?.ok()?.source.map(String::from));
            if let Some(harness) = source {
                return Ok(Some(SessionKey { harness, id: session }));
            }
        }
        Ok(None)
    }

    /// Leaves before this one were read from the ledger.
    pub(super) fn read_until(&self) -> u64 {
        self.lock().from
    }

    /// Sessions that are kept in short and have something new.
    pub fn take_cold(&self) -> HashSet<SessionKey> {
        std::mem::take(&mut self.lock().cold)
    }

    /// Forgets all sessions, until [`Projector::rebuild`] has read them anew.
    pub fn forget(&self) {
        let mut held = self.lock();
        let before = std::mem::take(&mut held.shelf);
        held.asked += 1;
        held.meanwhile.get_or_insert_default();
        drop(held);
        drop(before);
    }
}

/// Which of so many threads a session belongs to.
fn share(session: &str, threads: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    session.hash(&mut hasher);
    usize::try_from(hasher.finish() % u64::try_from(threads.max(1)).unwrap_or(1)).unwrap_or(0)
}
