// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Requests that change the ledger or its key.

use serde::{Deserialize, Serialize};
use tenterhook_event::Timestamp;

use crate::AuthorityProof;

/// A checkpoint that was signed on request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SignedCheckpoint {
    /// The signed note.
    pub checkpoint: String,
}

/// Payloads to erase.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct EraseRequest {
    /// The first record.
    pub from: u64,
    /// The last record; `from` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// Reason for the record.
    pub reason: String,
    /// Proof of the user.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// Records to prune: exactly one of `to` and `before`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PruneRequest {
    /// The last record to prune.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<u64>,
    /// Prune records from before this day or time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Reason for the record.
    pub reason: String,
    /// Proof of the user.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// Records whose content was removed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RemovedRecords {
    /// The first record.
    pub from: u64,
    /// The last record; null if there was nothing to remove.
    pub to: Option<u64>,
    /// The record of the removal.
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
    /// File of the private key.
    pub file: String,
}

/// A new key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RotatedKey {
    /// The public key that signs from now on.
    pub key: String,
    /// A note that both keys signed.
    pub checkpoint: String,
}

/// Passphrase of the private key.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct PassphraseRequest {
    /// Passphrase of the key.
    pub passphrase: String,
    /// Proof of the user.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// Whether the private key is encrypted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KeySealState {
    /// Whether it is encrypted under a passphrase.
    pub sealed: bool,
}

/// What the ledger is compared with.
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

/// Limits of retention. A limit that is null removes nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetentionSetting {
    /// Records older than this are removed, in days (`90d`).
    pub max_age: Option<String>,
    /// The oldest records are removed when their content exceeds this (`2GB`).
    pub max_size: Option<String>,
}

/// New limits of retention. A limit that is absent removes nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RetentionRequest {
    /// Days or weeks, such as `90d` or `12w`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_age: Option<String>,
    /// A size such as `500MB` or `2GB`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_size: Option<String>,
    /// Proof of the user; needed if records would be removed earlier than before.
    #[serde(default)]
    pub proof: AuthorityProof,
}

/// How long records are kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetentionStatus {
    /// Limits in the settings file.
    pub configured: RetentionSetting,
    /// Limits that were authorized last.
    pub authorized: RetentionSetting,
    /// Limits that records are removed by: for each, the longer one of both.
    pub applied: RetentionSetting,
    /// Reason why the configured limits are not applied as they are.
    pub problem: Option<String>,
    /// The last removal; null if there was none since the daemon started.
    pub last_run: Option<RetentionRun>,
}

/// One removal of records by retention.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RetentionRun {
    /// Time of its end.
    pub ended: Timestamp,
    /// Number of records that were removed.
    pub removed: u64,
    /// Error that ended it early.
    pub error: Option<String>,
}
