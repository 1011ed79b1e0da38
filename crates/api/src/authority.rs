// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Privileged actions, and the mode of the rules.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Proof of the user for a privileged action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AuthorityProof {
    /// Whether the name of the action was typed on a terminal.
    #[serde(default)]
    pub tty: bool,
    /// A code of the authenticator app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A request that needs a proof and nothing else.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProofRequest {
    /// Proof of the user.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// Whether rules are enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum EnforcementMode {
    /// Rules are enforced.
    Enforce,
    /// Rules are evaluated and recorded; locked rules are enforced.
    Monitor,
}

/// Mode of the rules.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModeState {
    /// The current mode.
    pub mode: EnforcementMode,
    /// Whether the request changed it; absent if it was only read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
}

/// Mode to set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ModeRequest {
    /// The mode to set.
    pub mode: EnforcementMode,
    /// Proof of the user; needed for `monitor`.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// A privileged action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuthorityQuery {
    /// Name of the action, such as `mode monitor` or `policy change`.
    pub action: String,
}

/// What a privileged action needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuthorityNeeds {
    /// Name of the action.
    pub action: String,
    /// The required proof.
    pub needs: RequiredProof,
    /// Whether the caller is, or may be, a process of a guarded agent. Then only a code is accepted.
    pub guarded: bool,
}

/// Proof that a caller needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RequiredProof {
    /// A code of the authenticator app.
    Code,
    /// The name of the action, typed on a terminal.
    Tty,
    /// Nothing is needed.
    Nothing,
}

/// Request for a privileged action that the caller then performs itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AuthorityRequest {
    /// Name of the action.
    pub action: String,
    /// Details for the record.
    #[serde(default)]
    pub detail: Value,
    /// Proof of the user.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// A privileged action that was permitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuthorityGrant {
    /// Name of the action.
    pub action: String,
    /// The accepted proof: `code`, `tty` (a terminal that the kernel confirmed), `unverified` (typed, on a platform
    /// that cannot confirm terminals), `root` or `none`.
    pub proof: String,
}

/// Processes that are marked as guarded agents.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkedAgentList {
    /// The marked processes.
    pub agents: Vec<MarkedAgent>,
}

/// A process that is marked as a guarded agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkedAgent {
    /// Process id; 0 for a process in a pid namespace that is not visible.
    pub pid: i32,
    /// Start time in clock ticks since boot.
    pub start: u64,
    /// Name of the process.
    pub name: String,
    /// Harness that the process claims to be.
    pub harness: String,
    /// Pid namespace of the process id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<u64>,
    /// Boot in which the mark was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
}

/// A process whose mark was cleared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgottenAgent {
    /// Id of the process.
    pub pid: i32,
    /// Name of the process.
    pub name: String,
}
