// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Messages other than batches, as JSON.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::machine_id::{InstanceId, MachineId};
use crate::subject::Ring;

/// Maximum length of a message in JSON.
pub const MAX_MESSAGE_BYTES: usize = 256 << 10;

/// Error for a message that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum MessageError {
    /// The message is longer than [`MAX_MESSAGE_BYTES`].
    #[error("the message has {0} bytes, more than allowed")]
    TooLarge(usize),
    /// The message is invalid.
    #[error("invalid message: {0}")]
    Form(#[from] serde_json::Error),
}

/// A message in JSON with a limited length. Readers ignore unknown fields.
pub trait FleetMessage: Serialize + DeserializeOwned {
    /// Encodes the message.
    fn encode(&self) -> Result<Vec<u8>, MessageError> {
        let bytes = serde_json::to_vec(self)?;
        if bytes.len() <= MAX_MESSAGE_BYTES { Ok(bytes) } else { Err(MessageError::TooLarge(bytes.len())) }
    }

    /// Decodes a message.
    fn decode(bytes: &[u8]) -> Result<Self, MessageError> {
        if bytes.len() > MAX_MESSAGE_BYTES {
            return Err(MessageError::TooLarge(bytes.len()));
        }
        Ok(serde_json::from_slice(bytes)?)
    }
}

/// What a machine reports about itself, on `th.st.<machine>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineStatus {
    /// The machine that reports.
    pub machine: MachineId,
    /// The copy of the machine.
    pub instance: InstanceId,
    /// Time of the report, in Unix milliseconds.
    pub sent_ms: u64,
    /// Version of Tenterhook.
    pub version: String,
    /// Name of the host.
    pub host: String,
    /// Operating system and architecture.
    pub os: String,
    /// Number of records in the ledger.
    pub ledger_size: u64,
    /// Number of records that are stored on the message bus.
    pub uploaded: u64,
    /// Number of records that the server acknowledged.
    pub acknowledged: u64,
    /// Mode of the rules: `enforce` or `monitor`.
    #[serde(default)]
    pub mode: Option<String>,
    /// Whether the daemon answers.
    #[serde(default)]
    pub daemon_running: bool,
    /// Sandbox levels of the runs that are open.
    #[serde(default)]
    pub sandbox_levels: Vec<String>,
    /// Coverage of each harness on the machine.
    #[serde(default)]
    pub harnesses: Vec<HarnessReport>,
    /// The policy bundle of the machine.
    #[serde(default)]
    pub bundle: Option<BundleReport>,
    /// Problems that an operator should know.
    #[serde(default)]
    pub problems: Vec<String>,
}

/// Coverage of one harness on a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HarnessReport {
    /// Id of the harness.
    pub harness: String,
    /// State of the hooks, as in `tenterhook status --json`.
    pub state: String,
    /// Whether calls of this harness are guarded.
    pub guarded: bool,
}

/// State of the policy bundle on a machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleReport {
    /// Version in force; zero if there is none.
    pub version: u64,
    /// SHA-256 of the bundle in force, in hexadecimal.
    #[serde(default)]
    pub sha256: Option<String>,
    /// Whether the bundle is older than its `not_after`.
    #[serde(default)]
    pub stale: bool,
    /// The refused bundle, if the last one was refused.
    #[serde(default)]
    pub refused: Option<RefusedBundle>,
    /// Counts of the backtest of a candidate.
    #[serde(default)]
    pub backtest: Option<BacktestCounts>,
}

/// A bundle that a machine refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedBundle {
    /// SHA-256 of the bundle, in hexadecimal.
    pub sha256: String,
    /// Version that the bundle states, if it could be read.
    #[serde(default)]
    pub version: Option<u64>,
    /// Cause of the refusal.
    pub reason: String,
}

/// Counts of a backtest: how a candidate would have decided the machine's own last calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BacktestCounts {
    /// Version of the candidate.
    pub version: u64,
    /// Number of calls.
    pub calls: u64,
    /// Calls that the policy in force denies.
    pub denied_before: u64,
    /// Calls that the candidate denies.
    pub denied_after: u64,
    /// Calls that the policy in force asks about.
    pub asked_before: u64,
    /// Calls that the candidate asks about.
    pub asked_after: u64,
    /// Calls that the candidate denies and that the policy in force did not deny.
    #[serde(default)]
    pub newly_denied: u64,
}

/// A command from the server to a machine, on `th.cmd.<machine>`. A machine trusts nothing in it: the worst that a
/// false command can do is that records are uploaded again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "kebab-case")]
pub enum MachineCommand {
    /// Upload again, starting at this record, which is the server's cursor.
    Resend {
        /// Number of the first record.
        from: u64,
    },
    /// Send a status.
    Report,
    /// Look for a policy now.
    RefreshPolicy,
}

/// The acknowledgement of a machine's records, on `th.cosign.<machine>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CosignMessage {
    /// The machine whose records are acknowledged.
    pub machine: MachineId,
    /// The server's cursor: number of records that are stored.
    pub cursor: u64,
    /// The machine's last checkpoint with the cosignature of the witness. Its size is at most `cursor`, because the
    /// witness only cosigns roots whose records it has seen; empty if there is none yet.
    pub note: String,
    /// What the organisation collects beyond the envelopes of records; shown to the user.
    #[serde(default)]
    pub collects: Vec<String>,
}

/// A waiting approval, on `th.ask.<machine>`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalRequest {
    /// The machine that asks.
    pub machine: MachineId,
    /// Id of the approval on this machine.
    pub approval: String,
    /// The call as JSON text. Its bytes are what [`crate::call_digest`] hashes.
    pub call: String,
    /// Time at which the approval expires, in Unix seconds.
    pub expires: u64,
    /// Whether the approval no longer waits: answered on the machine, or expired.
    #[serde(default)]
    pub closed: bool,
}

/// The policy of a ring, on `th.pol.<ring>`. The bundle's own signatures decide whether a machine accepts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyPointer {
    /// Ring that the policy is for.
    pub ring: Ring,
    /// Version of the bundle.
    pub version: u64,
    /// SHA-256 of the bundle, in hexadecimal.
    pub sha256: String,
    /// Whether machines only backtest the bundle and report the counts.
    #[serde(default)]
    pub candidate: bool,
    /// Time over which machines spread the download, in seconds.
    #[serde(default)]
    pub jitter_seconds: u32,
}

impl FleetMessage for MachineStatus {}
impl FleetMessage for MachineCommand {}
impl FleetMessage for CosignMessage {}
impl FleetMessage for ApprovalRequest {}
impl FleetMessage for PolicyPointer {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_back_and_unknown_ones_are_refused() {
        let resend = MachineCommand::Resend { from: 7 };
        assert_eq!(resend.encode().unwrap(), br#"{"command":"resend","from":7}"#);
        assert_eq!(MachineCommand::decode(&resend.encode().unwrap()).unwrap(), resend);
        assert!(MachineCommand::decode(br#"{"command":"approve"}"#).is_err());
        let long = format!(r#"{{"command":"report","x":"{}"}}"#, "a".repeat(MAX_MESSAGE_BYTES));
        assert!(matches!(MachineCommand::decode(long.as_bytes()), Err(MessageError::TooLarge(_))));
    }
}
