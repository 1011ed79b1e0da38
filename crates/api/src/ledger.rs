// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Ledger records, statistics and verification.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenterhook_event::Timestamp;

use crate::{SpoolCounts, ToolGist};

/// A page of records, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerPage {
    /// The records on this page.
    pub leaves: Vec<LedgerRecord>,
    /// Value of `before` that requests the next page.
    pub next: Option<u64>,
}

/// One ledger record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerRecord {
    /// Number of the record.
    pub seq: u64,
    /// Short name of a call that was denied or asked about, for users; absent for other records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The record's hash in the Merkle tree, in base64.
    pub hash: String,
    /// The record's envelope (docs/spec/leaf.schema.json); null if the record was pruned.
    pub leaf: Value,
    /// The event's content (arguments, prompts, outputs); null if it was removed.
    pub payload: Value,
    /// Whether the payload was erased.
    pub erased: bool,
    /// Whether the record was pruned.
    pub pruned: bool,
    /// Whether this decision did not reach the harness, because the hook had timed out and decided without the daemon.
    /// A later record of the same event contains the decision that the harness received.
    pub undelivered: bool,
}

/// A record with its exact bytes and the reply sent to its harness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerRecordDetails {
    /// The record itself.
    #[serde(flatten)]
    pub record: LedgerRecord,
    /// The bytes that are hashed.
    pub raw: RawRecord,
    /// The reply that the harness receives for this decision. It is encoded again from the record.
    pub reply: Option<HarnessReply>,
}

/// The hashed bytes of a record, as text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RawRecord {
    /// The envelope as JSON text.
    pub leaf: Option<String>,
    /// The payload as JSON text.
    pub payload: Option<String>,
    /// Salt of the payload hash, in hexadecimal.
    pub salt: Option<String>,
}

/// Reply to a hook call, in the form of a process result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HarnessReply {
    /// Text on standard output.
    pub stdout: String,
    /// Text on standard error.
    pub stderr: String,
    /// Exit code of the process.
    pub exit: u8,
    /// Parts of the outcome that the harness does not support.
    pub lost: Vec<String>,
}

/// A page of one-line record summaries.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerLines {
    /// The records, newest first.
    pub lines: Vec<LedgerLine>,
    /// Value of `before` that requests the next page.
    pub next: Option<u64>,
    /// Total number of records.
    pub size: u64,
}

/// A one-line summary of a record.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerLine {
    /// Number of the record.
    pub seq: u64,
    /// Kind of the record.
    pub kind: Option<String>,
    /// Time of the event.
    pub ts: Option<Timestamp>,
    /// Id of the harness.
    pub harness: Option<String>,
    /// Kind of the event.
    pub event: Option<String>,
    /// Id of the session.
    pub session: Option<String>,
    /// The tool call.
    pub tool: Option<ToolGist>,
    /// Text of the prompt, response, message or error.
    pub said: Option<String>,
    /// Verdict of the decision.
    pub verdict: Option<String>,
    /// Id of the rule that decided.
    pub rule: Option<String>,
    /// What decided: a rule id or `hook:<id>`.
    pub by: Option<String>,
    /// Reason shown to the model.
    pub reason: Option<String>,
    /// Name of the change, in a record of kind `change`.
    pub what: Option<String>,
    /// Who made the change.
    pub who: Option<String>,
    /// Time that the decision took, in microseconds.
    pub took_us: Option<u64>,
    /// Whether the record was pruned.
    pub pruned: bool,
}

/// Statistics for the matching records and for the whole ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerStats {
    /// Number of matching records.
    pub leaves: u64,
    /// Number of sessions.
    pub sessions: u64,
    /// Time of the first record.
    pub first: Option<Timestamp>,
    /// Time of the last record.
    pub last: Option<Timestamp>,
    /// Number of records by kind.
    pub kinds: BTreeMap<String, u64>,
    /// Number of records by verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Number of records by harness.
    pub harnesses: BTreeMap<String, u64>,
    /// Number of records by tool.
    pub tools: BTreeMap<String, u64>,
    /// Number of records by rule.
    pub rules: BTreeMap<String, u64>,
    /// Number of records by day and verdict.
    pub days: Vec<DayCount>,
    /// Number of payloads.
    pub payloads: u64,
    /// Size of the payloads, in bytes.
    pub payload_bytes: u64,
    /// Number of erased payloads.
    pub erased: u64,
    /// Number of pruned records.
    pub pruned: u64,
    /// Total number of records in the ledger.
    pub size: u64,
    /// Number of records covered by a checkpoint.
    pub signed: u64,
    /// Size of the ledger's files, in bytes.
    pub bytes_on_disk: u64,
    /// Size of SQLite's journal in bytes. `bytes_on_disk` includes it. The journal is emptied while the ledger is
    /// idle.
    pub journal_bytes: u64,
    /// Decisions made by hooks without the daemon.
    pub spool: SpoolCounts,
}

/// Number of records with one verdict on one day.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DayCount {
    /// Start of the day.
    pub day: Timestamp,
    /// Verdict of the records.
    pub verdict: String,
    /// Number of records.
    pub count: u64,
}

/// The latest checkpoint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerCheckpoint {
    /// Number of records that the checkpoint covers.
    pub size: u64,
    /// The signed note (c2sp.org/tlog-checkpoint).
    pub note: String,
    /// Total number of records in the ledger.
    pub leaves: u64,
    /// The public key that verifies the checkpoint.
    pub key: Option<String>,
}

/// Progress or result of a verification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerificationStatus {
    /// Whether the verification is still running.
    pub running: bool,
    /// When the verification started.
    pub started: Timestamp,
    /// When the verification ended.
    pub ended: Option<Timestamp>,
    /// Number of records checked so far.
    pub checked: u64,
    /// Total number of records to check.
    pub of: Option<u64>,
    /// Result of the verification.
    pub result: Option<VerificationResult>,
}

/// Result of a verification. The value of `verified` selects the variant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum VerificationResult {
    /// The ledger is intact.
    Intact(IntactLedger),
    /// The ledger is damaged.
    Damaged(DamagedLedger),
}

/// Result for an intact ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IntactLedger {
    /// Always true in this variant.
    pub verified: bool,
    /// Name of the ledger.
    pub origin: String,
    /// Number of records.
    pub size: u64,
    /// Root hash of the Merkle tree.
    pub root: String,
    /// Number of records not covered by any checkpoint.
    pub unpublished: u64,
    /// Number of pruned records.
    pub pruned: u64,
    /// Number of erased payloads.
    pub erased: u64,
    /// Number of checkpoints.
    pub checkpoints: u64,
    /// The public keys that signed the ledger's checkpoints.
    pub keys: Vec<String>,
    /// Whether the first key was accepted without comparing it with a key from the caller.
    pub trusted_on_first_use: bool,
}

/// Result for a damaged ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DamagedLedger {
    /// Always false in this variant.
    pub verified: bool,
    /// Number of the first damaged record.
    pub leaf: Option<u64>,
    /// Description of the damage.
    pub problem: String,
}
