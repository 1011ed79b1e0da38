// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a machine does when its bundle is stale.

use tenterhook_event::Timestamp;

use crate::bundle::Bundle;
use crate::manifest::StaleBehaviour;

impl Bundle {
    /// Whether the bundle is stale.
    pub fn is_stale(&self, now: Timestamp) -> bool {
        now > self.manifest.not_after
    }

    /// Returns the rule that applies once the bundle is stale, as the text of a rule file; `None` if nothing changes.
    ///
    /// The rule compares the time of each event itself, so neither a reload nor a running daemon is needed.
    pub(crate) fn stale_rule(&self) -> Option<String> {
        let verdict = match self.manifest.when_stale {
            StaleBehaviour::Keep => return None,
            StaleBehaviour::Ask => "ask",
            StaleBehaviour::Deny => "deny",
        };
        let since = self.manifest.not_after;
        Some(format!(
            "version: 1\nrules:\n  - id: {}\n    description: The organisation's policy is out of date\n    \
             severity: high\n    locked: true\n    match: {{}}\n    when: event.ts > \"{since}\"\n    \
             verdict: {verdict}\n    reason: The organisation's policy was valid until {since} and has not been renewed.\n    \
             nudge: tell the user that this machine has to reach its fleet server (`tenterhook fleet status`)\n",
            crate::rules::STALE_RULE
        ))
    }
}
