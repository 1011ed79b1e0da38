// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Stores approvals for whole sessions in `<state>/approvals.json`, which only its owner can read.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tenterhook_error::Failure;
use tenterhook_event::{EventId, HookCall, Origin, SessionCheck};
use tenterhook_home::{Home, call_meta, state_file, write_atomic};

/// Maximum number of approvals remembered; the oldest are dropped first.
const MAX_REMEMBERED_APPROVALS: usize = 1024;
/// Maximum age of an approval; after this time the session asks again.
const MAX_APPROVAL_AGE_MS: u64 = 7 * 24 * 60 * 60 * 1000;

/// All approvals for whole sessions.
#[derive(Debug)]
pub(super) struct SessionApprovals {
    path: PathBuf,
    all: Vec<SessionApproval>,
}

/// An approval for one session: this rule or hook does not ask again in the session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SessionApproval {
    source: String,
    session: String,
    asker: Origin,
    /// The event at which the call was approved, and the time of the approval.
    of: EventId,
    at: u64,
}

#[derive(Debug, Serialize, Deserialize)]
struct ApprovalsFile {
    v: u32,
    approved: Vec<SessionApproval>,
}

impl SessionApprovals {
    /// Reads the file. If the file cannot be read, users are asked again.
    pub(super) fn read(home: &Home) -> Self {
        let path = home.approvals();
        let stored = state_file(&path).and_then(|text| {
            let stored = text.map(|text| serde_json::from_str::<ApprovalsFile>(&text)).transpose()?;
            Ok(stored.map(|stored| stored.approved).unwrap_or_default())
        });
        let all = stored.unwrap_or_else(|error| {
            tracing::warn!(file = %path.display(), %error, "session approvals cannot be read; users are asked again");
            Vec::new()
        });
        Self { path, all }
    }

    /// Returns the approval that covers this call, if every rule and hook that asks was approved in its session.
    pub(super) fn covers(&self, call: &HookCall, origins_that_ask: &[Origin]) -> Option<EventId> {
        // An approval is valid for the agent that the user saw, not for every caller that uses the session id.
        let own = call.event.session_check != Some(SessionCheck::Unverified);
        let session = call.event.harness_session_id.as_deref().filter(|_| own)?;
        let now = call_meta::now_ms();
        let known = |asker: &Origin| {
            self.all.iter().find(|one| {
                one.source == call.event.source
                    && one.session == session
                    && one.asker == *asker
                    && now.saturating_sub(one.at) < MAX_APPROVAL_AGE_MS
            })
        };
        let found: Option<Vec<&SessionApproval>> = origins_that_ask.iter().map(known).collect();
        found?.first().map(|one| one.of)
    }

    /// Remembers an approval. After an error, the approval is valid only until the daemon shuts down.
    pub(super) fn add(&mut self, call: &HookCall, origins_that_ask: &[Origin]) -> Result<(), Failure> {
        let Some(session) = &call.event.harness_session_id else {
            return Err(Failure::user("the call has no session"));
        };
        let (of, at) = (call.event.id, call_meta::now_ms());
        self.all.retain(|one| at.saturating_sub(one.at) < MAX_APPROVAL_AGE_MS);
        for asker in origins_that_ask {
            let (source, session, asker) = (call.event.source.clone(), session.clone(), asker.clone());
            self.all.push(SessionApproval { source, session, asker, of, at });
        }
        let beyond = self.all.len().saturating_sub(MAX_REMEMBERED_APPROVALS);
        self.all.drain(..beyond);
        let stored = ApprovalsFile { v: 1, approved: self.all.clone() };
        let text =
            serde_json::to_vec_pretty(&stored).map_err(|error| Failure::internal(error.to_string()))?;
        write_atomic(&self.path, &text, 0o600)
    }
}

#[cfg(test)]
mod tests {
    use tenterhook_event::{Event, EventKind, Timestamp};

    use super::*;

    fn call(session: Option<&str>) -> HookCall {
        let (id, ts) = (EventId::from_parts(1, 2), Timestamp::from_unix_ms(1));
        let mut event = Event::new(id, ts, "codex", EventKind::PreTool, "PreToolUse");
        event.harness_session_id = session.map(ToOwned::to_owned);
        HookCall { event, native: None }
    }

    fn rules(ids: &[&str]) -> Vec<Origin> {
        ids.iter().map(|id| Origin::rule(id)).collect()
    }

    #[test]
    fn only_the_same_session_and_the_same_rules_are_covered() {
        let dir = tempfile::tempdir().unwrap();
        let home = Home::in_dir(dir.path().to_owned());
        let mut remembered = SessionApprovals::read(&home);
        let first = call(Some("s"));
        assert_eq!(remembered.covers(&first, &rules(&["a"])), None);
        remembered.add(&first, &rules(&["a"])).unwrap();
        for remembered in [remembered, SessionApprovals::read(&home)] {
            assert_eq!(remembered.covers(&first, &rules(&["a"])), Some(first.event.id));
            assert_eq!(remembered.covers(&first, &rules(&["a", "b"])), None, "one more asks");
            assert_eq!(remembered.covers(&first, &rules(&[])), None, "no rule is named");
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
        assert_eq!(SessionApprovals::read(&home).covers(&first, &rules(&["a"])), None);
    }
}
