// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Privileged actions and the enforcement mode.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenterhook_event::Timestamp;

/// Proof that a user requests a privileged action.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AuthorityProof {
    /// Whether the user typed the action's name on a terminal.
    #[serde(default)]
    pub tty: bool,
    /// A code from the user's authenticator app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

/// A request that contains only a proof.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ProofRequest {
    /// Proof that a user sends the request.
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
    /// Rules are evaluated and recorded, but only locked rules are enforced.
    Monitor,
}

/// The enforcement mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModeState {
    /// The current mode.
    pub mode: EnforcementMode,
    /// Whether the request changed the mode; absent if the request only read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<bool>,
    /// When monitor mode ends by itself; absent without a time limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
}

/// Request to set the enforcement mode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ModeRequest {
    /// The mode to set.
    pub mode: EnforcementMode,
    /// For `monitor`: seconds after which rules are enforced again. At most seven days.
    #[serde(default, rename = "for_s", skip_serializing_if = "Option::is_none")]
    pub time_s: Option<u64>,
    /// Proof that a user sends the request; required for `monitor`.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// Query for the proof that a privileged action needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuthorityQuery {
    /// Name of the action, such as `mode monitor` or `policy change`.
    pub action: String,
}

/// The proof that a privileged action needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuthorityNeeds {
    /// Name of the action.
    pub action: String,
    /// The required proof.
    pub needs: RequiredProof,
    /// Whether the caller is, or may be, a process of a guarded agent. Such a caller needs a code.
    pub guarded: bool,
}

/// Kind of proof that a caller needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum RequiredProof {
    /// A code from the authenticator app.
    Code,
    /// The action's name, typed on a terminal.
    Tty,
    /// No proof is needed.
    Nothing,
}

/// Request for permission to perform a privileged action. The caller performs the action itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct AuthorityRequest {
    /// Name of the action.
    pub action: String,
    /// Details for the record.
    #[serde(default)]
    pub detail: Value,
    /// Proof that a user sends the request.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// Permission for a privileged action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AuthorityGrant {
    /// Name of the action.
    pub action: String,
    /// The accepted proof: `code`, `tty` (a terminal that the kernel confirmed), `unverified` (typed, on a platform
    /// that cannot confirm terminals), `root` or `none`.
    pub proof: String,
}

/// A new secret for an authenticator app. It is not active before its first code is typed in a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CodeEnrolment {
    /// The secret, in base32.
    pub secret: String,
    /// The secret as an `otpauth://` address.
    pub uri: String,
    /// The address as a QR code: rows of `1` for dark and `0` for light modules.
    pub qr: Vec<String>,
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
    /// Process id; 0 if the process is in a pid namespace that the daemon cannot see.
    pub pid: i32,
    /// Start time in clock ticks since boot.
    pub start: u64,
    /// Name of the process.
    pub name: String,
    /// Harness that the process identified itself as.
    pub harness: String,
    /// Pid namespace that `pid` belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<u64>,
    /// Id of the boot during which the process was marked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub boot: Option<String>,
}

/// A process that is no longer marked as a guarded agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ForgottenAgent {
    /// Id of the process.
    pub pid: i32,
    /// Name of the process.
    pub name: String,
}
