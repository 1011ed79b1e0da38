// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Records of the ledger, its statistics and its verification.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use tenterhook_event::Timestamp;

use crate::{SpoolCounts, ToolGist};

/// A page of records, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerPage {
    /// Records of this page.
    pub leaves: Vec<LedgerRecord>,
    /// Value of `before` for the next page.
    pub next: Option<u64>,
}

/// One record of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerRecord {
    /// Number of the record.
    pub seq: u64,
    /// Its hash in the Merkle tree, in base 64.
    pub hash: String,
    /// The envelope (docs/spec/leaf.schema.json); null if the record was pruned.
    pub leaf: Value,
    /// Content of the event: arguments, prompts, outputs; null if it was removed.
    pub payload: Value,
    /// Whether the payload was erased.
    pub erased: bool,
    /// Whether the record was pruned.
    pub pruned: bool,
    /// Whether the hook decided without the daemon; another record of the event counts.
    pub undelivered: bool,
}

/// A record with its exact bytes and the reply of its harness.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerRecordDetails {
    /// The whole record.
    #[serde(flatten)]
    pub record: LedgerRecord,
    /// The bytes that are hashed.
    pub raw: RawRecord,
    /// Reply that the harness receives for this decision, encoded again from the record.
    pub reply: Option<HarnessReply>,
}

/// Bytes of a record, as text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RawRecord {
    /// Envelope as JSON text.
    pub leaf: Option<String>,
    /// Payload as JSON text.
    pub payload: Option<String>,
    /// The salt of the payload's hash, in hexadecimal digits.
    pub salt: Option<String>,
}

/// Reply to a hook call, as a process would give it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HarnessReply {
    /// Text on standard output.
    pub stdout: String,
    /// Text on standard error.
    pub stderr: String,
    /// Exit code of the process.
    pub exit: u8,
    /// Parts of the outcome that the harness cannot receive.
    pub lost: Vec<String>,
}

/// A page of records, each in one line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerLines {
    /// The records, newest first.
    pub lines: Vec<LedgerLine>,
    /// Value of `before` for the next page.
    pub next: Option<u64>,
    /// Number of all records.
    pub size: u64,
}

/// A record in one line.
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
    /// The prompt, response, message or error.
    pub said: Option<String>,
    /// Verdict of the decision.
    pub verdict: Option<String>,
    /// Id of the rule that decided.
    pub rule: Option<String>,
    /// Id of the rule, or `hook:<id>`.
    pub by: Option<String>,
    /// Reason shown to the model.
    pub reason: Option<String>,
    /// Name of the change.
    pub what: Option<String>,
    /// Who changed it.
    pub who: Option<String>,
    /// Time that the decision took.
    pub took_us: Option<u64>,
    /// Whether the record was pruned.
    pub pruned: bool,
}

/// Statistics of records, and of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LedgerStats {
    /// Number of records that match.
    pub leaves: u64,
    /// Number of sessions.
    pub sessions: u64,
    /// Time of the first record.
    pub first: Option<Timestamp>,
    /// Time of the last record.
    pub last: Option<Timestamp>,
    /// Records by kind.
    pub kinds: BTreeMap<String, u64>,
    /// Records by verdict.
    pub verdicts: BTreeMap<String, u64>,
    /// Records by harness.
    pub harnesses: BTreeMap<String, u64>,
    /// Records by tool.
    pub tools: BTreeMap<String, u64>,
    /// Records by rule.
    pub rules: BTreeMap<String, u64>,
    /// Records by day and verdict.
    pub days: Vec<DayCount>,
    /// Number of payloads.
    pub payloads: u64,
    /// Size of the payloads.
    pub payload_bytes: u64,
    /// Number of erased payloads.
    pub erased: u64,
    /// Number of pruned records.
    pub pruned: u64,
    /// Number of all records.
    pub size: u64,
    /// Number of records that a checkpoint covers.
    pub signed: u64,
    /// Size of the ledger's files.
    pub bytes_on_disk: u64,
    /// Size of SQLite's journal, which `bytes_on_disk` includes; it is emptied while the ledger is idle.
    pub journal_bytes: u64,
    /// Decisions that hooks made without the daemon.
    pub spool: SpoolCounts,
}

/// Records of one day with one verdict.
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
    /// Number of records that it covers.
    pub size: u64,
    /// The signed note (c2sp.org/tlog-checkpoint).
    pub note: String,
    /// Number of all records.
    pub leaves: u64,
    /// The public key that signs.
    pub key: Option<String>,
}

/// State of a verification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerificationStatus {
    /// Whether it runs.
    pub running: bool,
    /// Time at which it started.
    pub started: Timestamp,
    /// Time at which it ended.
    pub ended: Option<Timestamp>,
    /// Number of records that were checked.
    pub checked: u64,
    /// Number of records to check.
    pub of: Option<u64>,
    /// Result of the verification.
    pub result: Option<VerificationResult>,
}

/// Result of a verification; distinguished by `verified`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum VerificationResult {
    /// The ledger is intact.
    Intact(IntactLedger),
    /// The ledger is damaged.
    Damaged(DamagedLedger),
}

/// An intact ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IntactLedger {
    /// Always true here.
    pub verified: bool,
    /// Name of the ledger.
    pub origin: String,
    /// Number of records.
    pub size: u64,
    /// Root hash of the Merkle tree.
    pub root: String,
    /// Number of records that no checkpoint covers.
    pub unpublished: u64,
    /// Number of pruned records.
    pub pruned: u64,
    /// Number of erased payloads.
    pub erased: u64,
    /// Number of checkpoints.
    pub checkpoints: u64,
    /// The public keys that signed.
    pub keys: Vec<String>,
    /// Whether the first key was not compared with a given one.
    pub trusted_on_first_use: bool,
}

/// A damaged ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DamagedLedger {
    /// Always false here.
    pub verified: bool,
    /// Number of the first record that is wrong.
    pub leaf: Option<u64>,
    /// What is wrong.
    pub problem: String,
}
