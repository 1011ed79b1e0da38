// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a machine does when its bundle is stale or lost.

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
        let verdict = self.manifest.when_stale.verdict()?;
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

impl StaleBehaviour {
    /// Returns the rule that applies while an accepted bundle is lost, as the text of a rule file; `None` if nothing changes.
    pub fn lost_rule(self) -> Option<String> {
        let verdict = self.verdict()?;
        Some(format!(
            "version: 1\nrules:\n  - id: {}\n    description: The organisation's policy is lost\n    severity: high\n    \
             locked: true\n    match: {{}}\n    verdict: {verdict}\n    \
             reason: The organisation's policy was accepted on this machine and cannot be read any more.\n    \
             nudge: tell the user that this machine has to reach its fleet server (`tenterhook fleet status`)\n",
            crate::rules::LOST_RULE
        ))
    }

    /// The verdict about every tool call; `None` if the rules stay as they are.
    fn verdict(self) -> Option<&'static str> {
        match self {
            Self::Keep => None,
            Self::Ask => Some("ask"),
            Self::Deny => Some("deny"),
        }
    }
}
