// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The signed policy of the fleet that the machine belongs to.

use serde::{Deserialize, Serialize};
use tenterhook_event::Timestamp;

use crate::FileProblem;

/// The policy of the fleet on this machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetPolicyView {
    /// Whether the machine is part of a fleet that signs policy.
    pub enrolled: bool,
    /// Name of the fleet.
    pub fleet: Option<String>,
    /// Ring of the machine.
    pub ring: Option<String>,
    /// The bundle in force.
    pub bundle: Option<FleetBundle>,
    /// Bundles that were refused when they were read.
    pub problems: Vec<FileProblem>,
}

/// A policy bundle of a fleet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FleetBundle {
    /// Version of the bundle.
    pub version: u64,
    /// SHA-256 of the bundle, in hexadecimal.
    pub sha256: String,
    /// The git commit that its files come from.
    pub commit: Option<String>,
    /// Names of the signers that signed it.
    pub signed_by: Vec<String>,
    /// Time after which the bundle is stale.
    pub not_after: Timestamp,
    /// What the machine does with a stale bundle: `keep`, `ask` or `deny`.
    pub when_stale: String,
    /// Whether the bundle is stale.
    pub stale: bool,
    /// Names of those who may answer approvals remotely.
    pub approvers: Vec<String>,
}

/// A policy bundle that the daemon should verify.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BundleRequest {
    /// The bundle, in base 64.
    pub bundle: String,
    /// Start of the records that are replayed, for a backtest: `7d`, `24h` or a date. Default: seven days ago.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// Result of an accepted bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BundleAccepted {
    /// The bundle in force.
    pub bundle: FleetBundle,
    /// Version that was in force before.
    pub replaces: Option<u64>,
    /// The changes that weaken protection.
    pub weakening: Vec<String>,
    /// Whether the bundle was in force before.
    pub known: bool,
}

/// Counts of a backtest of a bundle: how its rules would have decided the last calls of this machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BundleCounts {
    /// Version of the bundle.
    pub version: u64,
    /// Number of calls.
    pub calls: u64,
    /// Calls that the rules denied when they were recorded.
    pub denied_before: u64,
    /// Calls that the bundle denies.
    pub denied_after: u64,
    /// Calls that the rules asked about when they were recorded.
    pub asked_before: u64,
    /// Calls that the bundle asks about.
    pub asked_after: u64,
    /// Calls that the bundle denies and that were not denied.
    pub newly_denied: u64,
    /// Records that could not be replayed.
    pub left_out: u64,
}

/// An answer to an approval that an approver of the fleet signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SignedApprovalAnswer {
    /// The machine that asked.
    pub machine: String,
    /// Id of the approval.
    pub approval: String,
    /// Digest of the call as it was shown to the approver, in hexadecimal.
    pub digest: String,
    /// The decision: `allow` or `deny`.
    pub decision: String,
    /// Time after which the answer is not valid, in Unix seconds.
    pub not_after: u64,
    /// Name of the approver's key.
    pub approver: String,
    /// Signature of the approver's key, in base 64.
    pub signature: String,
}
