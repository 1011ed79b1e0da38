// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What became of each hook and rule: the trace in every outcome.

use serde::{Deserialize, Serialize};

use crate::{Decision, Origin};

/// What became of one hook or rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Status {
    /// It ran and answered.
    Ran,
    /// A rule's conditions held.
    Matched,
    /// A rule would have decided, but only watches (`mode: monitor`).
    Monitored,
    /// A rule's conditions held, but another rule sets aside what it says (`overrides`).
    Overridden,
    /// A rule's conditions held, but its time is over (`expires`).
    Expired,
    /// It did not answer before its deadline.
    TimedOut,
    /// It could not be run, or its answer could not be read.
    Failed,
    /// An earlier hook or rule passes over it, it cannot act here, or its time has not come.
    Skipped,
    /// It goes on by itself, and nothing it says counts.
    Detached,
}

/// One hook or rule that took part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// Who.
    pub by: Origin,
    /// What became of it.
    pub status: Status,
    /// What it decided, if it did.
    #[serde(default, skip_serializing_if = "is_none")]
    pub decision: Decision,
    /// How long it took, in microseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub took_us: u64,
    /// What there is to say about it: an error, an exit code, why it was skipped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(decision: &Decision) -> bool {
    *decision == Decision::None
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
