// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a person approved for a whole session: `<state>/approvals.json`, for its owner only.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tenterhook_error::Failure;
use tenterhook_event::{Call, EventId, Origin, SessionCheck};
use tenterhook_home::{Home, call_meta, state_file, write_whole};

/// How many are remembered; the oldest go first.
const MOST: usize = 1024;
/// A session that lasts longer than this asks again, in milliseconds.
const KEPT: u64 = 7 * 24 * 60 * 60 * 1000;

/// All that counts for whole sessions.
#[derive(Debug)]
pub(super) struct Remembered {
    path: PathBuf,
    all: Vec<One>,
}

/// One rule or hook that need not ask again in one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct One {
    source: String,
    session: String,
    asker: Origin,
    /// The event it was approved at, and when.
    of: EventId,
    at: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    v: u32,
    approved: Vec<One>,
}

impl Remembered {
    /// What is remembered in a home. What cannot be read counts for nothing: people are asked again.
    pub(super) fn read(home: &Home) -> Self {
        let path = home.approvals();
        let kept = state_file(&path).and_then(|text| {
            let kept = text.map(|text| serde_json::from_str::<Kept>(&text)).transpose()?;
            Ok(kept.map(|kept| kept.approved).unwrap_or_default())
        });
        let all = kept.unwrap_or_else(|error| {
            tracing::warn!(file = %path.display(), %error, "session approvals cannot be read; people are asked again");
            Vec::new()
        });
        Self { path, all }
    }

    /// Whether everybody who asks about this call need not, in its session; by which approval.
    pub(super) fn covers(&self, call: &Call, askers: &[Origin]) -> Option<EventId> {
        // The session's approvals are for the agent that the person saw, not for every caller that names it.
        let own = call.event.session_check != Some(SessionCheck::Unverified);
        let session = call.event.harness_session_id.as_deref().filter(|_| own)?;
        let now = call_meta::now_ms();
        let known = |asker: &Origin| {
            self.all.iter().find(|one| {
                one.source == call.event.source
                    && one.session == session
                    && one.asker == *asker
                    && now.saturating_sub(one.at) < KEPT
            })
        };
        let found: Option<Vec<&One>> = askers.iter().map(known).collect();
        found?.first().map(|one| one.of)
    }

    /// Remembers an approval. Why it counts until the daemon ends only, if it cannot be written.
    pub(super) fn add(&mut self, call: &Call, askers: &[Origin]) -> Result<(), Failure> {
        let Some(session) = &call.event.harness_session_id else {
            return Err(Failure::user("the call has no session"));
        };
        let (of, at) = (call.event.id, call_meta::now_ms());
        self.all.retain(|one| at.saturating_sub(one.at) < KEPT);
        for asker in askers {
            let (source, session, asker) = (call.event.source.clone(), session.clone(), asker.clone());
            self.all.push(One { source, session, asker, of, at });
        }
        let beyond = self.all.len().saturating_sub(MOST);
        self.all.drain(..beyond);
        let kept = Kept { v: 1, approved: self.all.clone() };
        let text = serde_json::to_vec_pretty(&kept).map_err(|error| Failure::internal(error.to_string()))?;
        write_whole(&self.path, &text, 0o600)
    }
}

#[cfg(test)]
mod tests {
    use tenterhook_event::{Event, EventKind, Timestamp};

    use super::*;

    fn call(session: Option<&str>) -> Call {
        let (id, ts) = (EventId::from_parts(1, 2), Timestamp::from_unix_ms(1));
        let mut event = Event::new(id, ts, "codex", EventKind::PreTool, "PreToolUse");
        event.harness_session_id = session.map(ToOwned::to_owned);
        Call { event, native: None }
    }

    fn rules(ids: &[&str]) -> Vec<Origin> {
        ids.iter().map(|id| Origin::rule(id)).collect()
    }

    #[test]
    fn only_the_same_session_and_the_same_rules_are_covered() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::whole(dir.path().to_owned());
        let mut remembered = Remembered::read(&home);
        let first = call(Some("s"));
        assert_eq!(remembered.covers(&first, &rules(&["a"])), None);
        remembered.add(&first, &rules(&["a"])).unwrap();
        for remembered in [remembered, Remembered::read(&home)] {
            assert_eq!(remembered.covers(&first, &rules(&["a"])), Some(first.event.id));
            assert_eq!(remembered.covers(&first, &rules(&["a", "b"])), None, "one more asks");
            assert_eq!(remembered.covers(&first, &rules(&[])), None, "nobody knows who asks");
            assert_eq!(remembered.covers(&call(Some("t")), &rules(&["a"])), None);
            assert_eq!(remembered.covers(&call(None), &rules(&["a"])), None);
            let mut foreign = call(Some("s"));
            foreign.event.session_check = Some(SessionCheck::Unverified);
            assert_eq!(
                remembered.covers(&foreign, &rules(&["a"])),
                None,
                "another process names the session"
            );
        }
        std::fs::write(home.approvals(), "{").unwrap();
        assert_eq!(Remembered::read(&home).covers(&first, &rules(&["a"])), None);
    }
}
