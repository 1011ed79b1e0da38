// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the server knows about a machine's ledger, and how a batch changes it. This file performs no IO.

use serde_json::{Value, json};
use tenterhook_fleet_protocol::{BatchRecord, InstanceId, MachineId, UploadBatch};
use tenterhook_ledger::checkpoint::Checkpoint;
use tenterhook_ledger::note::{Note, NoteError};
use tenterhook_ledger::proof::check_consistency;
use tenterhook_ledger::tree::Frontier;
use tenterhook_ledger::{Envelope, Hash, LeafKind, VerifierKey, rotated_key};

/// A machine's ledger as the server knows it.
#[derive(Debug, Clone)]
pub(crate) struct MachineState {
    pub(crate) machine: MachineId,
    pub(crate) host: String,
    pub(crate) instance: InstanceId,
    pub(crate) origin: String,
    /// Verifier keys of the ledger, oldest first.
    pub(crate) keys: Vec<VerifierKey>,
    /// The right edge of the stored records. Its size is the cursor.
    pub(crate) frontier: Frontier,
    /// The largest checkpoint that the machine signed.
    pub(crate) signed: (u64, String),
    /// A checkpoint beyond the cursor, to be cosigned when its records have arrived.
    pub(crate) pending: Option<KnownCheckpoint>,
    /// The last checkpoint whose records were all verified.
    pub(crate) witnessed: Option<KnownCheckpoint>,
    /// The last processed message: when its stream was created, and its sequence number.
    pub(crate) position: StreamPosition,
    /// Number of the first record that came under a key that the server does not know.
    pub(crate) unverified_from: Option<u64>,
    /// Number of bytes that were received since the state was loaded.
    pub(crate) received_bytes: u64,
}

/// A checkpoint with its signatures.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KnownCheckpoint {
    pub(crate) size: u64,
    pub(crate) root: Hash,
    pub(crate) note: String,
}

/// Position of a message. Sequence numbers of different epochs cannot be compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct StreamPosition {
    /// When the stream was created, in nanoseconds.
    pub(crate) epoch: i64,
    /// Sequence number in the stream.
    pub(crate) sequence: u64,
}

/// A message of a machine's evidence.
#[derive(Debug, Clone)]
pub(crate) struct EvidenceMessage<'a> {
    pub(crate) position: StreamPosition,
    /// Sequence number of the previous message of the same machine, as the publisher stated it.
    pub(crate) previous: Option<u64>,
    /// How often the message was delivered.
    pub(crate) deliveries: i64,
    pub(crate) payload: &'a [u8],
}

/// Result of applying a message.
#[derive(Debug)]
pub(crate) enum BatchOutcome {
    /// New records, which start at this number.
    Stored { from: u64, root: Hash, records: Vec<BatchRecord> },
    /// All records are stored already.
    Duplicate,
    /// The batch only has records below the cursor and no known tree: the stored messages have to be compared.
    Compare(Box<UploadBatch>),
    /// The message was processed before.
    AlreadyProcessed,
    /// An earlier message of the machine was not processed yet.
    TooEarly,
    /// Records before the batch are missing.
    Gap,
    /// The batch was refused, and an operator has to look at it.
    Alert(AlertKind, Value),
}

/// The kinds of alerts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AlertKind {
    /// The ledger does not continue what the server knows.
    HistoryRewritten,
    /// Two copies of a machine use one key.
    MachineKeyCloned,
    /// A machine has sent nothing for too long.
    MachineSilent,
    /// A batch that is not valid.
    EvidenceRefused,
    /// A machine refused a policy bundle.
    PolicyRefused,
    /// A rollout of policy stopped because of what machines reported.
    RolloutStopped,
    /// Many records came under a key that the server does not know.
    EvidenceUnverified,
    /// A machine uploaded more than it may in a day, and is suspended.
    UploadLimit,
}

impl AlertKind {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::HistoryRewritten => "history-rewritten",
            Self::MachineKeyCloned => "machine-key-cloned",
            Self::MachineSilent => "machine-silent",
            Self::EvidenceRefused => "evidence-refused",
            Self::PolicyRefused => "policy-refused",
            Self::RolloutStopped => "rollout-stopped",
            Self::EvidenceUnverified => "evidence-unverified",
            Self::UploadLimit => "upload-limit",
        }
    }
}

/// Number of deliveries after which a missing predecessor is treated as lost: half a minute. A predecessor that another
/// server received and did not acknowledge is delivered again long before.
const MAX_EARLY_DELIVERIES: i64 = 60;

/// Number of records under an unknown key above which an alert is raised. A rotation of the key is in one of the next
/// records, except after a long time offline.
const ALERT_UNVERIFIED_RECORDS: u64 = 16_384;
/// Number of records under an unknown key above which batches are refused.
const MAX_UNVERIFIED_RECORDS: u64 = 262_144;

/// Whether a checkpoint is signed by a known key.
#[derive(Clone, Copy)]
enum Signature {
    Known,
    /// A key that the server does not know yet: the record of its rotation may be in a later batch.
    Unknown,
}

impl MachineState {
    /// Returns the number of stored records.
    pub(crate) fn cursor(&self) -> u64 {
        self.frontier.size()
    }

    /// Applies a message. If the outcome is not `Stored`, only the position and the signed size change.
    pub(crate) fn apply(&mut self, message: &EvidenceMessage<'_>) -> BatchOutcome {
        let position = message.position;
        if position.epoch == self.position.epoch {
            if position.sequence <= self.position.sequence {
                return self.apply_again(message);
            }
            let is_early = message.previous.is_some_and(|previous| previous > self.position.sequence);
            if is_early && message.deliveries < MAX_EARLY_DELIVERIES {
                return BatchOutcome::TooEarly;
            }
        }
        self.position = position;
        self.received_bytes =
            self.received_bytes.saturating_add(u64::try_from(message.payload.len()).unwrap_or(u64::MAX));
        match UploadBatch::decode(message.payload) {
            Ok(batch) => self.apply_batch(batch),
            Err(error) => refuse(&error.to_string()),
        }
    }

    /// Decides about a message that was processed before. Records below the cursor are compared again, because the server
    /// that processed it may have ended before it compared them.
    fn apply_again(&self, message: &EvidenceMessage<'_>) -> BatchOutcome {
        match UploadBatch::decode(message.payload) {
            Ok(batch) if batch.machine == self.machine && batch.end() < self.cursor() => {
                BatchOutcome::Compare(Box::new(batch))
            }
            _ => BatchOutcome::AlreadyProcessed,
        }
    }

    /// Whether the number of records under an unknown key is worth an alert.
    pub(crate) fn has_many_unverified(&self) -> bool {
        self.unverified_from.is_some_and(|from| self.cursor().saturating_sub(from) > ALERT_UNVERIFIED_RECORDS)
    }

    fn apply_batch(&mut self, batch: UploadBatch) -> BatchOutcome {
        if batch.machine != self.machine {
            return refuse("the batch is of another machine");
        }
        if batch.instance != self.instance {
            let detail = json!({
                "registered_instance": self.instance, "instance": batch.instance,
                "first": batch.first, "checkpoint": batch.checkpoint,
            });
            return BatchOutcome::Alert(AlertKind::MachineKeyCloned, detail);
        }
        if batch.origin != self.origin {
            return self.rewritten("the ledger has another origin", &batch);
        }
        let (checkpoint, note) = match Checkpoint::parse(&batch.checkpoint) {
            Ok(parsed) => parsed,
            Err(error) => return refuse(&error.to_string()),
        };
        let end = batch.end();
        if checkpoint.origin != self.origin || checkpoint.size < end {
            return refuse("the checkpoint does not cover the batch");
        }
        let keys = self.keys_after(&batch);
        let signature = match check_signature(&note, &keys) {
            Ok(signature) => signature,
            Err(error) => return refuse(&error.to_string()),
        };
        if let Signature::Unknown = signature {
            let from = self.unverified_from.unwrap_or_else(|| self.cursor());
            if end.saturating_sub(from) > MAX_UNVERIFIED_RECORDS {
                let why = "too many records came under a key that the server does not know";
                let detail = json!({ "why": why, "from": from, "end": end, "checkpoint": batch.checkpoint });
                return BatchOutcome::Alert(AlertKind::EvidenceUnverified, detail);
            }
        }
        if matches!(signature, Signature::Known) {
            if checkpoint.size < self.signed.0 {
                return self.rewritten("the ledger was rolled back", &batch);
            }
            self.signed = (checkpoint.size, batch.checkpoint.clone());
        }
        if batch.first > self.cursor() {
            return BatchOutcome::Gap;
        }
        if end <= self.cursor() {
            return self.compare_known(batch, &checkpoint);
        }
        self.store(batch, &checkpoint, keys, signature)
    }

    /// Decides about a batch whose records are all below the cursor.
    fn compare_known(&self, batch: UploadBatch, checkpoint: &Checkpoint) -> BatchOutcome {
        if batch.end() < self.cursor() {
            return BatchOutcome::Compare(Box::new(batch));
        }
        let known = (self.cursor(), self.frontier.root());
        match check_consistency(known, (checkpoint.size, checkpoint.root), &batch.proof) {
            Ok(()) => BatchOutcome::Duplicate,
            Err(_) => self.rewritten("the ledger has other records", &batch),
        }
    }

    /// Appends the new records and checks every checkpoint that they reach.
    fn store(
        &mut self,
        batch: UploadBatch,
        checkpoint: &Checkpoint,
        keys: Vec<VerifierKey>,
        signature: Signature,
    ) -> BatchOutcome {
        let from = self.cursor();
        let skip = usize::try_from(from.saturating_sub(batch.first)).unwrap_or(usize::MAX);
        let mut frontier = self.frontier.clone();
        let (mut pending, mut witnessed) = (self.pending.clone(), self.witnessed.clone());
        let mut completed = Vec::new();
        for record in batch.records.iter().skip(skip) {
            completed.clear();
            frontier.push(record.hash(), &mut completed);
            if let Some(reached) = pending.take_if(|pending| pending.size == frontier.size()) {
                let signed = Note::parse(&reached.note).is_ok_and(|note| is_signed(&note, &keys));
                if !signed && matches!(signature, Signature::Known) {
                    // It was never signed by the ledger, so it proves nothing about the ledger.
                    continue;
                }
                if reached.root != frontier.root() || !signed {
                    return self.rewritten("the records differ from an earlier checkpoint", &batch);
                }
                witnessed = Some(reached);
            }
        }
        let root = frontier.root();
        let tree = (frontier.size(), root);
        if check_consistency(tree, (checkpoint.size, checkpoint.root), &batch.proof).is_err() {
            return self.rewritten("the records do not continue the stored ones", &batch);
        }
        let known =
            KnownCheckpoint { size: checkpoint.size, root: checkpoint.root, note: batch.checkpoint.clone() };
        if checkpoint.size == frontier.size() {
            match Note::parse(&known.note) {
                Ok(note) if is_signed(&note, &keys) => witnessed = Some(known),
                _ => return refuse("the checkpoint is signed by an unknown key"),
            }
        } else if pending.is_none() {
            pending = Some(known);
        }
        self.unverified_from = match signature {
            Signature::Known => None,
            Signature::Unknown => self.unverified_from.or(Some(from)),
        };
        (self.frontier, self.pending, self.witnessed, self.keys) = (frontier, pending, witnessed, keys);
        BatchOutcome::Stored { from, root, records: batch.records.into_iter().skip(skip).collect() }
    }

    /// Returns the keys of the ledger after this batch: each `rotate` record introduces one.
    fn keys_after(&self, batch: &UploadBatch) -> Vec<VerifierKey> {
        let mut keys = self.keys.clone();
        for record in &batch.records {
            // Few records are about keys; a search is cheaper than parsing each one.
            let BatchRecord::Envelope(bytes) = record else { continue };
            if !bytes.windows(ROTATE_MARK.len()).any(|window| window == ROTATE_MARK) {
                continue;
            }
            let Ok(leaf) = Envelope::parse(bytes) else { continue };
            let current = keys.last().filter(|_| leaf.kind == LeafKind::Rotate);
            if let Some(new) = current.and_then(|old| rotated_key(old, &leaf)) {
                keys.push(new);
            }
        }
        keys
    }

    /// Returns the alert about a ledger that does not continue the known one, with both heads.
    pub(crate) fn rewritten(&self, why: &str, batch: &UploadBatch) -> BatchOutcome {
        let known = json!({
            "cursor": self.cursor(), "root": self.frontier.root().to_string(),
            "signed": self.signed.1, "witnessed": self.witnessed.as_ref().map(|known| known.note.as_str()),
        });
        let received = json!({ "origin": batch.origin, "first": batch.first, "end": batch.end(), "checkpoint": batch.checkpoint });
        let detail = json!({ "why": why, "known": known, "received": received });
        BatchOutcome::Alert(AlertKind::HistoryRewritten, detail)
    }
}

/// Text of each `rotate` record.
const ROTATE_MARK: &[u8] = b"\"kind\":\"rotate\"";

fn refuse(why: &str) -> BatchOutcome {
    BatchOutcome::Alert(AlertKind::EvidenceRefused, json!({ "why": why }))
}

fn check_signature(note: &Note, keys: &[VerifierKey]) -> Result<Signature, NoteError> {
    let keys: Vec<&VerifierKey> = keys.iter().collect();
    match note.check(&keys) {
        Ok(_) => Ok(Signature::Known),
        Err(NoteError::UnknownKey { .. }) => Ok(Signature::Unknown),
        Err(error) => Err(error),
    }
}

fn is_signed(note: &Note, keys: &[VerifierKey]) -> bool {
    matches!(check_signature(note, keys), Ok(Signature::Known))
}

#[cfg(test)]
mod tests;
