// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Sessions where no daemon runs: from the ledger, which is only read.

use std::path::PathBuf;
use std::sync::Arc;

use tenterhook_api::{SessionDetails, SessionDiff, SessionEvent, SessionList, Timeline};
use tenterhook_error::Failure;
use tenterhook_event::Timestamp;
use tenterhook_ledger::{ReadFailed, Reader};
use tenterhook_policy::Prices;

use super::step::timeline;
use super::{
    Projector, RebuildPool, RecordedEvent, SessionFilter, SessionKey, SessionUpdate, SessionView, diff,
};

/// The sessions of a ledger.
pub struct RecordedSessions {
    dir: PathBuf,
    reader: Reader,
    sessions: Arc<Projector>,
}

impl RecordedSessions {
    /// Opens a ledger for reading. `person` is whose home `~` is.
    pub fn open(dir: PathBuf, person: Option<String>, prices: Prices) -> Result<Self, Failure> {
        let reader = Reader::open(&dir).map_err(unread)?;
        Ok(Self { dir, reader, sessions: Projector::new(person, Arc::new(prices)) })
    }

    /// Follows a session, or all of them, from now on.
    pub fn follow(&self, id: Option<&str>) -> Result<Following<'_>, Failure> {
        let wanted = match id {
            Some(id) => self.find(id)?,
            None => None,
        };
        self.read()?;
        Ok(Following { ledger: self, wanted, next: self.sessions.read_until() })
    }

    /// Sessions that are meant, as `GET /v1/sessions` gives them.
    pub fn list(&self, wanted: &SessionFilter, now: Timestamp) -> Result<SessionList, Failure> {
        self.read()?;
        Ok(self.sessions.list(wanted, now))
    }

    /// One session, whole. `None`: there is none.
    pub fn show(&self, id: &str, now: Timestamp) -> Result<Option<SessionDetails>, Failure> {
        self.look(id, |view| view.whole(now))
    }

    /// The changes of one file, with diffs.
    pub fn diff(&self, id: &str, path: &str) -> Result<Option<SessionDiff>, Failure> {
        let Some(changes) = self.look(id, |view| view.changes_of(path))? else { return Ok(None) };
        let changes = diff(changes, &self.reader).map_err(unread)?;
        Ok(Some(SessionDiff { path: path.to_owned(), changes }))
    }

    /// A page of a session's timeline.
    pub fn timeline(&self, id: &str, before: Option<u64>, limit: u64) -> Result<Option<Timeline>, Failure> {
        let Some(key) = self.find(id)? else { return Ok(None) };
        timeline(&self.reader, &key, before, limit).map(Some).map_err(unread)
    }

    /// The session that an id means.
    pub fn find(&self, id: &str) -> Result<Option<SessionKey>, Failure> {
        Projector::find_recorded(id, &self.reader).map_err(unread)
    }

    /// Reads all sessions.
    fn read(&self) -> Result<u64, Failure> {
        let dir = &self.dir;
        self.sessions.rebuild(|| Reader::open(dir), RebuildPool::all())
    }

    fn look<T>(&self, id: &str, look: impl FnOnce(&SessionView<'_>) -> T) -> Result<Option<T>, Failure> {
        let Some(key) = self.find(id)? else { return Ok(None) };
        self.sessions.bring_back(&key, &self.reader, look).map_err(unread)
    }
}

/// Sessions as they go on in a ledger that somebody else writes.
pub struct Following<'a> {
    ledger: &'a RecordedSessions,
    wanted: Option<SessionKey>,
    next: u64,
}

impl Following<'_> {
    /// What is new since the last time.
    pub fn news(&mut self) -> Result<Vec<SessionEvent>, Failure> {
        let mut news = Vec::new();
        let range = self.next..u64::MAX;
        let (reader, sessions) = (&self.ledger.reader, &self.ledger.sessions);
        let end = reader.scan(
            range,
            |_, _| true,
            |glance| {
                let Some(past) = RecordedEvent::read(glance) else { return };
                let mut told = SessionUpdate::listening(true);
                let Some(key) = sessions.apply(&past.happened(), &mut told) else { return };
                if self.wanted.as_ref().is_none_or(|wanted| *wanted == key) {
                    news.extend(told.named(&key, &past.event, past.seq));
                }
            },
        );
        self.next = end.map_err(unread)?;
        Ok(news)
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is passed to `map_err`")]
pub(super) fn unread(error: ReadFailed) -> Failure {
    Failure::internal(error.to_string()).hint("`tenterhook ledger verify` says whether the ledger is whole")
}
