// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists of sessions: the latest first, a page at a time.

use std::cmp::Reverse;

use tenterhook_api::{SessionActivity, SessionList};
use tenterhook_event::Timestamp;

use super::Projector;
use super::session::Session;

/// Which sessions are meant.
#[derive(Debug, Default, Clone)]
pub struct SessionFilter {
    /// Of this harness.
    pub harness: Option<String>,
    /// In this state.
    pub state: Option<SessionActivity>,
    /// In this project or working directory.
    pub project: Option<String>,
    /// With an event at this moment or later.
    pub since: Option<Timestamp>,
    /// Behind this place: the `next` of the page before.
    pub after: Option<String>,
    /// At most so many.
    pub limit: usize,
}

/// Where a session stands in the list: the latest first, and no two at the same place.
type Rank<'a> = (Reverse<u64>, &'a str, &'a str);

impl SessionFilter {
    fn fits(&self, session: &Session, now: Timestamp) -> bool {
        let fits =
            |said: &Option<String>, is: Option<&str>| said.as_deref().is_none_or(|said| is == Some(said));
        fits(&self.harness, Some(&session.key.harness))
            && (fits(&self.project, session.project.as_deref())
                || fits(&self.project, session.cwd.as_deref()))
            && self.since.is_none_or(|since| session.last >= since)
            && self.state.is_none_or(|state| state == session.state(now))
    }

    /// The place behind which the page begins.
    fn place(&self) -> Option<Rank<'_>> {
        let (ms, name) = self.after.as_deref()?.split_once('~')?;
        let (harness, id) = name.split_once(':')?;
        Some((Reverse(ms.parse().ok()?), harness, id))
    }
}

impl Projector {
    /// Sessions that are meant, how many there are in all, and where the next page begins.
    pub fn list(&self, wanted: &SessionFilter, now: Timestamp) -> SessionList {
        let held = self.lock();
        let mut found: Vec<&Session> =
            held.shelf.sessions.values().filter(|session| wanted.fits(session, now)).collect();
        let all = found.len();
        if let Some(place) = wanted.place() {
            found.retain(|session| rank(session) > place);
        }
        let more = found.len() > wanted.limit;
        if more && wanted.limit > 0 {
            found.select_nth_unstable_by(wanted.limit - 1, |one, other| rank(one).cmp(&rank(other)));
        }
        found.truncate(wanted.limit);
        found.sort_unstable_by(|one, other| rank(one).cmp(&rank(other)));
        let next = found
            .last()
            .filter(|_| more)
            .map(|last| format!("{}~{}:{}", last.last.unix_ms(), last.key.harness, last.key.id));
        let sessions = found.iter().map(|session| session.summary(now)).collect();
        SessionList { sessions, all, next }
    }
}

fn rank(session: &Session) -> Rank<'_> {
    (Reverse(session.last.unix_ms()), &session.key.harness, &session.key.id)
}
