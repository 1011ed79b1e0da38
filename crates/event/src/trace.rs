// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The trace of an outcome: the hooks and rules that took part, and the result of each.

use serde::{Deserialize, Serialize};

use crate::{Decision, Origin};

/// Result of running one hook or evaluating one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Status"))]
pub enum TraceStatus {
    /// The hook ran and answered.
    Ran,
    /// The rule matched.
    Matched,
    /// The rule matched, but is in monitor mode (`mode: monitor`) and decides nothing.
    Monitored,
    /// The rule matched, but another rule overrides it (`overrides`).
    Overridden,
    /// The rule matched, but has expired (`expires`).
    Expired,
    /// The hook did not answer before its deadline.
    TimedOut,
    /// The hook could not run, or its answer could not be parsed.
    Failed,
    /// The hook or rule was skipped by an earlier one, cannot act on this event, or is not active yet.
    Skipped,
    /// The hook runs in the background; its answer is ignored.
    Detached,
}

/// One hook or rule that took part in a decision.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Step"))]
pub struct TraceEntry {
    /// The hook or rule.
    pub by: Origin,
    /// Result of running the hook or evaluating the rule.
    pub status: TraceStatus,
    /// Decision of the hook or rule; `none` if there is none.
    #[serde(default, skip_serializing_if = "is_none")]
    pub decision: Decision,
    /// Run time in microseconds.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub took_us: u64,
    /// Details, such as an error, an exit code, or why the hook or rule was skipped.
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
