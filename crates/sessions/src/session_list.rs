// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists sessions, latest first, page by page.

use std::cmp::Reverse;

use tenterhook_api::{SessionActivity, SessionList};
use tenterhook_event::Timestamp;

use super::SessionProjector;
use super::session::ProjectedSession;

/// Conditions that listed sessions meet.
#[derive(Debug, Default, Clone)]
pub struct SessionFilter {
    /// Only sessions of this harness.
    pub harness: Option<String>,
    /// Only sessions with this activity.
    pub state: Option<SessionActivity>,
    /// Only sessions in this project or working directory.
    pub project: Option<String>,
    /// Only sessions with an event at or after this time.
    pub since: Option<Timestamp>,
    /// Start after this position: `next` of the previous page.
    pub after: Option<String>,
    /// Maximum number of sessions.
    pub limit: usize,
}

/// Sort key of a session: latest first, unique.
type SessionRank<'a> = (Reverse<u64>, &'a str, &'a str);

impl SessionFilter {
    fn matches(&self, session: &ProjectedSession, now: Timestamp) -> bool {
        let is_unset_or = |wanted: &Option<String>, is: Option<&str>| {
            wanted.as_deref().is_none_or(|wanted| is == Some(wanted))
        };
        is_unset_or(&self.harness, Some(&session.key.harness))
            && (is_unset_or(&self.project, session.project.as_deref())
                || is_unset_or(&self.project, session.cwd.as_deref()))
            && self.since.is_none_or(|since| session.last >= since)
            && self.state.is_none_or(|state| state == session.state(now))
    }

    /// The position after which the page begins.
    fn start_position(&self) -> Option<SessionRank<'_>> {
        let (ms, name) = self.after.as_deref()?.split_once('~')?;
        let (harness, id) = name.split_once(':')?;
        Some((Reverse(ms.parse().ok()?), harness, id))
    }
}

impl SessionProjector {
    /// Returns a page of matching sessions, their total number and the position of the next page.
    pub fn list(&self, wanted: &SessionFilter, now: Timestamp) -> SessionList {
        let state = self.lock();
        let mut found: Vec<&ProjectedSession> =
            state.cache.sessions.values().filter(|session| wanted.matches(session, now)).collect();
        let all = found.len();
        if let Some(position) = wanted.start_position() {
            found.retain(|session| rank(session) > position);
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

fn rank(session: &ProjectedSession) -> SessionRank<'_> {
    (Reverse(session.last.unix_ms()), &session.key.harness, &session.key.id)
}
