// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A leaf: the normal form, plus what was decided and why.

use serde::{Deserialize, Serialize};
use tenterhook_event::{Decided, Decision, Event, Outcome};

/// The record of one event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Leaf {
    /// The event, in its normal form.
    #[serde(flatten)]
    pub event: Event,
    /// The decision that stood. `none`: nobody objected.
    pub verdict: Decision,
    /// Why, without the nudge.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The rule that decided, if it was a rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy_rule_id: Option<String>,
    /// The whole outcome: who said what, and what became of each hook and rule.
    pub outcome: Outcome,
    /// The configuration that decided.
    pub generation: String,
    /// From the door to the fold, in microseconds.
    pub took_us: u64,
}

impl From<Decided<'_>> for Leaf {
    fn from(decided: Decided<'_>) -> Self {
        let outcome = decided.outcome;
        Self {
            event: decided.call.event.clone(),
            verdict: outcome.decision,
            reason: outcome.reason(),
            policy_rule_id: outcome.deciding_rule().map(ToOwned::to_owned),
            outcome: outcome.clone(),
            generation: decided.generation.to_owned(),
            took_us: decided.took_us,
        }
    }
}
