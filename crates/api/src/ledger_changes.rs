// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Requests that change the ledger or its key.

use serde::{Deserialize, Serialize};
use tenterhook_event::Timestamp;

use crate::AuthorityProof;

/// A checkpoint signed on request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SignedCheckpoint {
    /// The signed note.
    pub checkpoint: String,
}

/// Request to erase payloads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EraseRequest {
    /// Number of the first record.
    pub from: u64,
    /// Number of the last record; `from` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// Reason to store in the record of the removal.
    pub reason: String,
    /// Proof that a user sends the request.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// Request to prune records: exactly one of `to` and `before`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PruneRequest {
    /// Number of the last record to prune.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// Prunes the records older than this day or time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Reason to store in the record of the removal.
    pub reason: String,
    /// Whether records that the fleet of this machine has not acknowledged may be removed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub force: bool,
    /// Proof that a user sends the request.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// Range of records whose content was removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemovedRecords {
    /// Number of the first record.
    pub from: u64,
    /// Number of the last record; null if nothing was removed.
    pub to: Option<u64>,
    /// Number of the record that documents the removal.
    pub leaf: Option<u64>,
}

/// The key that signs the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "SigningKeyInfo"))]
pub struct SigningKeyState {
    /// The public key.
    pub key: String,
    /// Id of the key.
    pub id: String,
    /// Whether the private key is encrypted under a passphrase.
    pub sealed: bool,
    /// Path of the private key file.
    pub file: String,
}

/// Result of a key rotation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RotatedKey {
    /// The new public key, valid from now on.
    pub key: String,
    /// The checkpoint signed by the old and the new key.
    pub checkpoint: String,
}

/// Request with the private key's passphrase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PassphraseRequest {
    /// The private key's passphrase.
    pub passphrase: String,
    /// Proof that a user sends the request.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// Whether the private key is encrypted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeySealState {
    /// Whether the private key is encrypted under a passphrase.
    pub sealed: bool,
}

/// Expectations that a verification compares the ledger with.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct VerifyRequest {
    /// A public key that must have signed the ledger.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// An earlier checkpoint, which the ledger must extend.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// Retention limits. A limit that is null removes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetentionSetting {
    /// Maximum age of records in days, such as `90d`. Older records are removed.
    pub max_age: Option<String>,
    /// Maximum size of the records' content, such as `2GB`. The oldest records are removed first.
    pub max_size: Option<String>,
}

/// New retention limits. A limit that is absent removes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RetentionRequest {
    /// Maximum age in days or weeks, such as `90d` or `12w`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age: Option<String>,
    /// Maximum size, such as `500MB` or `2GB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_size: Option<String>,
    /// Proof that a user sends the request; required if the new limits remove records earlier than before.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// How long records are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetentionStatus {
    /// The limits in the settings file.
    pub configured: RetentionSetting,
    /// The limits that a user authorized last.
    pub authorized: RetentionSetting,
    /// The limits in effect: for each limit, the longer of the configured and the authorized value.
    pub applied: RetentionSetting,
    /// Why the configured limits are not in effect.
    pub problem: Option<String>,
    /// The last removal; null if nothing has been removed since the daemon started.
    pub last_run: Option<RetentionRun>,
}

/// One removal of records by retention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetentionRun {
    /// When the removal ended.
    pub ended: Timestamp,
    /// Number of removed records.
    pub removed: u64,
    /// Error that ended the removal early.
    pub error: Option<String>,
}
