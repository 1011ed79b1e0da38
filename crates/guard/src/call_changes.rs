// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Identifies a call before and after it runs, and finds what it changes for later calls of its session.

use tenterhook_event::Event;
use tenterhook_facts::Facts;
use tenterhook_harness_install::receipt::FileFingerprint;
use tenterhook_policy::{SessionFileChange, SessionState, TreeOrigin};

use crate::{session_trees, shell_certainty, shell_definitions};

/// Returns what identifies a call before and after it runs.
pub(crate) fn call_key(event: &Event) -> String {
    let by_content = || {
        let tool =
            event.tool.as_ref().map(|tool| format!("{}\n{}", tool.name, tool.args)).unwrap_or_default();
        FileFingerprint::of(tool.as_bytes()).fnv1a
    };
    event.tool_use_id.clone().filter(|id| id.len() <= MAX_CALL_KEY_BYTES).unwrap_or_else(by_content)
}

/// Maximum length of an id of a call that is stored.
const MAX_CALL_KEY_BYTES: usize = 128;

/// Returns what later calls of the session need to know about the shell and about directories, if the call runs.
pub(crate) fn session_changes(event: &Event, facts: &Facts, state: &SessionState) -> Vec<SessionFileChange> {
    let mut changes = shell_certainty::find_uncertain(event, state);
    changes.extend(shell_definitions::find_definitions(event, facts));
    let trees = session_trees::find_trees(facts, state, event.cwd.as_deref()).into_iter();
    let is_new = |(path, origin): &(String, TreeOrigin)| state.trees.get(path) != Some(origin);
    changes.extend(trees.filter(is_new).map(|(path, origin)| SessionFileChange::Fetched(path, origin)));
    changes
}
