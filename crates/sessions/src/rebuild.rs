// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rebuilds sessions from the ledger: all of them when the daemon starts, one when it is viewed.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::ops::Range;

use tenterhook_error::Failure;
use tenterhook_ledger::{Filter, ReadError, Reader};

use super::offline::read_failure;
use super::rebuild_pool::{ReadThreads, RebuildPool};
use super::recorded_event::RecordedEvent;
use super::session::ProjectedSession;
use super::session_cache::SessionCache;
use super::session_update::SessionUpdate;
use super::{SessionKey, SessionProjector, SessionView};

/// Maximum number of records read by a full rebuild. Older ones are read when their session is viewed.
const MAX_REBUILD_RECORDS: u64 = 4_000_000;
/// Number of records per read. A long read would prevent checkpoints of the database's write-ahead log.
const REBUILD_PAGE_RECORDS: u64 = 4096;
/// Number of records from which a rebuild uses several threads.
const PARALLEL_REBUILD_MIN_RECORDS: u64 = 20_000;

impl SessionProjector {
    /// Starts buffering live events, until [`SessionProjector::rebuild`] has read the earlier ones.
    pub fn begin_rebuild(&self) {
        self.lock().buffered.get_or_insert_default();
    }

    /// Rebuilds all sessions from the ledger. Returns the number of records read.
    pub fn rebuild(
        &self,
        open: impl Fn() -> Result<Reader, ReadError> + Sync,
        pool: RebuildPool,
    ) -> Result<u64, Failure> {
        let generation = self.lock().generation;
        let size = open().and_then(|reader| reader.size()).map_err(read_failure)?;
        let from = size.saturating_sub(MAX_REBUILD_RECORDS);
        let read = pool.run(|| self.read_parallel(&open, from..size, pool));
        let broken = || Failure::internal("a thread that rebuilds sessions panicked");
        let (mut cache, end) = read.flatten().ok_or_else(broken)?.map_err(read_failure)?;
        // Reads the records that arrived in the meantime, which are few. This read does not yield to calls,
        // because otherwise it might never catch up.
        let reader = open().map_err(read_failure)?;
        let end =
            self.read_range(&reader, &mut cache, end..u64::MAX, |_, _| true, || ()).map_err(read_failure)?;
        self.adopt_rebuilt(cache, end, generation);
        Ok(end - from)
    }

    /// Reads records on several threads. Returns the sessions and the end of the range that was read. A session belongs
    /// to one thread, so that its events stay in order without locks. `None` if a thread panicked.
    fn read_parallel(
        &self,
        open: &(impl Fn() -> Result<Reader, ReadError> + Sync),
        range: Range<u64>,
        pool: RebuildPool,
    ) -> Option<Result<(SessionCache, u64), ReadError>> {
        let threads =
            if range.end - range.start < PARALLEL_REBUILD_MIN_RECORDS { 1 } else { pool.threads.clamp(1, 8) };
        let (range, end) = (&range, range.end);
        let read_threads = &ReadThreads::new(pool, threads, &self.calls);
        let part = move |number: usize| {
            let mut cache = SessionCache::with_share(threads);
            let mine = |_: &str, session: &str| thread_of(session, threads) == number;
            let mut thread = read_threads.start_thread(number);
            let end =
                self.read_range(&open()?, &mut cache, range.clone(), mine, || thread.yield_to_calls())?;
            Ok((cache, end))
        };
        let parts: Vec<_> = std::thread::scope(|scope| {
            let others: Vec<_> = (1..threads).map(|number| scope.spawn(move || part(number))).collect();
            let first = Some(part(0));
            std::iter::once(first).chain(others.into_iter().map(|other| other.join().ok())).collect()
        });
        let parts: Option<Result<Vec<_>, _>> = parts.into_iter().collect();
        let merge = |(mut all, end): (SessionCache, u64), (cache, upto): (SessionCache, u64)| {
            all.merge(cache);
            (all, end.min(upto))
        };
        Some(parts?.map(|parts| parts.into_iter().fold((SessionCache::default(), end), merge)))
    }

    fn read_range(
        &self,
        reader: &Reader,
        cache: &mut SessionCache,
        range: Range<u64>,
        wanted: impl Fn(&str, &str) -> bool,
        mut between: impl FnMut(),
    ) -> Result<u64, ReadError> {
        let mut next = range.start;
        while next < range.end {
            between();
            let page = next..range.end.min(next.saturating_add(REBUILD_PAGE_RECORDS));
            let end = reader.scan_decisions(page, &wanted, |glance| {
                if let Some(recorded) = RecordedEvent::read(glance)
                    && let Some(key) = SessionKey::of(&recorded.event)
                {
                    let session = cache.entry(key, recorded.event.ts);
                    session.apply(&recorded.as_decided(), self.context(), &mut SessionUpdate::default());
                }
            })?;
            if end == next {
                break;
            }
            next = end;
        }
        Ok(next)
    }

    /// Replaces the sessions with the rebuilt ones and applies the buffered events. Does nothing if the sessions were
    /// cleared meanwhile.
    fn adopt_rebuilt(&self, cache: SessionCache, end: u64, generation: u64) {
        let mut state = self.lock();
        if state.generation != generation {
            return;
        }
        let buffered = state.buffered.take().unwrap_or_default();
        let before = std::mem::replace(&mut state.cache, cache);
        state.from = end;
        let mut late: Vec<_> = buffered.into_iter().filter(|recorded| recorded.seq >= end).collect();
        late.sort_by_key(|recorded| recorded.seq);
        for recorded in late {
            if let Some(key) = SessionKey::of(&recorded.event) {
                let session = state.cache.entry(key, recorded.event.ts);
                session.apply(&recorded.as_decided(), self.context(), &mut SessionUpdate::default());
            }
        }
        // The rebuild may contain an older state of the sessions that were reloaded while it ran.
        let reloaded = std::mem::take(&mut state.reloaded);
        if !reloaded.is_empty() {
            state.stale.extend(reloaded);
            (self.signal)();
        }
        drop(state);
        // The old sessions are dropped without the lock, because dropping takes time and calls wait for the lock.
        drop(before);
    }

    /// Reloads one session from the ledger into memory and returns the result of `look`. `None` if the ledger does not
    /// contain the session.
    pub fn reload<T>(
        &self,
        key: &SessionKey,
        reader: &Reader,
        look: impl FnOnce(&SessionView<'_>) -> T,
    ) -> Result<Option<T>, ReadError> {
        let mut session: Option<ProjectedSession> = None;
        reader.scan_session(&key.harness, &key.id, |glance| {
            if let Some(recorded) = RecordedEvent::read(glance) {
                let session =
                    session.get_or_insert_with(|| ProjectedSession::new(key.clone(), recorded.event.ts));
                session.apply(&recorded.as_decided(), self.context(), &mut SessionUpdate::default());
            }
        })?;
        let Some(session) = session else { return Ok(None) };
        let seen = look(&SessionView(&session));
        let mut state = self.lock();
        let newer = |known: &ProjectedSession| known.last_seq > session.last_seq;
        // The session in memory may include events that are not yet in the ledger's file. Then it stays and is reloaded
        // later.
        if !state.cache.sessions.get(key).is_some_and(newer) {
            state.stale.remove(key);
            state.cache.insert(session);
        }
        if state.buffered.is_some() {
            state.reloaded.insert(key.clone());
        }
        Ok(Some(seen))
    }

    /// Finds a session in the ledger by `<harness>:<id>` or by id.
    pub fn find_recorded(id: &str, reader: &Reader) -> Result<Option<SessionKey>, ReadError> {
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

    /// The sequence number up to which the last rebuild has read.
    pub(super) fn rebuilt_until(&self) -> u64 {
        self.lock().from
    }

    /// Takes the sessions to reload from the ledger: they received events while they had no body, or were reloaded
    /// during a rebuild.
    pub fn take_stale(&self) -> HashSet<SessionKey> {
        std::mem::take(&mut self.lock().stale)
    }

    /// Removes all sessions until [`SessionProjector::rebuild`] has read them again.
    pub fn clear(&self) {
        let mut state = self.lock();
        let before = std::mem::take(&mut state.cache);
        state.generation += 1;
        state.buffered.get_or_insert_default();
        drop(state);
        drop(before);
    }
}

/// Number of the thread that a session belongs to.
fn thread_of(session: &str, threads: usize) -> usize {
    let mut hasher = DefaultHasher::new();
    session.hash(&mut hasher);
    usize::try_from(hasher.finish() % u64::try_from(threads.max(1)).unwrap_or(1)).unwrap_or(0)
}
