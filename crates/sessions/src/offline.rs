// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads sessions from the ledger, without a daemon.

use std::path::PathBuf;
use std::sync::Arc;

use tenterhook_api::{SessionDetails, SessionDiff, SessionEvent, SessionList, Timeline};
use tenterhook_error::Failure;
use tenterhook_event::Timestamp;
use tenterhook_ledger::{ReadError, Reader};
use tenterhook_policy::PriceTable;

use super::timeline::timeline;
use super::{
    RebuildPool, RecordedEvent, SessionFilter, SessionKey, SessionProjector, SessionUpdate, SessionView, diff,
};

/// Sessions in a ledger that is opened for reading only.
pub struct RecordedSessions {
    dir: PathBuf,
    reader: Reader,
    sessions: Arc<SessionProjector>,
}

impl RecordedSessions {
    /// Opens a ledger for reading. `person` is the home directory that `~` refers to.
    pub fn open(dir: PathBuf, person: Option<String>, prices: PriceTable) -> Result<Self, Failure> {
        let reader = Reader::open(&dir).map_err(read_failure)?;
        Ok(Self { dir, reader, sessions: SessionProjector::new(person, Arc::new(prices)) })
    }

    /// Follows one session or all sessions from now on.
    pub fn follow(&self, id: Option<&str>) -> Result<SessionFollower<'_>, Failure> {
        let wanted = match id {
            Some(id) => self.find(id)?,
            None => None,
        };
        self.rebuild()?;
        Ok(SessionFollower { ledger: self, wanted, next: self.sessions.rebuilt_until() })
    }

    /// Lists sessions as `GET /v1/sessions` does.
    pub fn list(&self, wanted: &SessionFilter, now: Timestamp) -> Result<SessionList, Failure> {
        self.rebuild()?;
        Ok(self.sessions.list(wanted, now))
    }

    /// Details of a session; `None` if it does not exist.
    pub fn show(&self, id: &str, now: Timestamp) -> Result<Option<SessionDetails>, Failure> {
        self.with_session(id, |view| view.details(now))
    }

    /// Changes to one file, with their diffs; `None` if the session does not exist.
    pub fn diff(&self, id: &str, path: &str) -> Result<Option<SessionDiff>, Failure> {
        let Some(changes) = self.with_session(id, |view| view.changes_of(path))? else { return Ok(None) };
        let changes = diff(changes, &self.reader).map_err(read_failure)?;
        Ok(Some(SessionDiff { path: path.to_owned(), changes }))
    }

    /// A page of a session's timeline.
    pub fn timeline(&self, id: &str, before: Option<u64>, limit: u64) -> Result<Option<Timeline>, Failure> {
        let Some(key) = self.find(id)? else { return Ok(None) };
        timeline(&self.reader, &key, before, limit).map(Some).map_err(read_failure)
    }

    /// Finds a session by id.
    pub fn find(&self, id: &str) -> Result<Option<SessionKey>, Failure> {
        SessionProjector::find_recorded(id, &self.reader).map_err(read_failure)
    }

    /// Rebuilds all sessions.
    fn rebuild(&self) -> Result<u64, Failure> {
        let dir = &self.dir;
        self.sessions.rebuild(|| Reader::open(dir), RebuildPool::all())
    }

    fn with_session<T>(
        &self,
        id: &str,
        view: impl FnOnce(&SessionView<'_>) -> T,
    ) -> Result<Option<T>, Failure> {
        let Some(key) = self.find(id)? else { return Ok(None) };
        self.sessions.reload(&key, &self.reader, view).map_err(read_failure)
    }
}

/// Follows sessions in a ledger that another process writes.
pub struct SessionFollower<'a> {
    ledger: &'a RecordedSessions,
    wanted: Option<SessionKey>,
    next: u64,
}

impl SessionFollower<'_> {
    /// Returns the changes since the last call.
    pub fn poll(&mut self) -> Result<Vec<SessionEvent>, Failure> {
        let mut events = Vec::new();
        let range = self.next..u64::MAX;
        let (reader, sessions) = (&self.ledger.reader, &self.ledger.sessions);
        let end = reader.scan_decisions(
            range,
            |_, _| true,
            |glance| {
                let Some(recorded) = RecordedEvent::read(glance) else { return };
                let mut update = SessionUpdate::new(true);
                let Some(key) = sessions.apply(&recorded.as_decided(), &mut update) else { return };
                if self.wanted.as_ref().is_none_or(|wanted| *wanted == key) {
                    events.extend(update.into_events(&key, &recorded.event, recorded.seq));
                }
            },
        );
        self.next = end.map_err(read_failure)?;
        Ok(events)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
pub(super) fn read_failure(error: ReadError) -> Failure {
    Failure::internal(error.to_string()).hint("run `tenterhook ledger verify` to check the ledger")
}
