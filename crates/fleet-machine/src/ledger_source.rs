// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads batches from the ledger, which the daemon writes at the same time.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tenterhook_fleet_protocol::{BatchError, BatchRecord, InstanceId, MachineId, MessageId, UploadBatch};
use tenterhook_ledger::checkpoint::Checkpoint;
use tenterhook_ledger::{ReadError, Reader, VerifierKey};

/// Approximate length of the records of a batch before compression.
const TARGET_RAW_BYTES: usize = 768 << 10;
/// Maximum number of records in a batch.
const MAX_RECORDS: usize = 4096;
/// Number of records that are read at a time, which limits the memory for their payloads.
const READ_RECORDS: u64 = 64;
/// Number of attempts to read a head while the daemon writes.
const HEAD_ATTEMPTS: u32 = 50;
/// Pause between these attempts.
const HEAD_PAUSE: Duration = Duration::from_millis(2);

/// The ledger of a state directory.
#[derive(Debug)]
pub struct LedgerSource {
    dir: PathBuf,
    reader: Option<(Reader, FileIdentity)>,
}

/// Device and inode of the database. A replaced database is opened again.
type FileIdentity = (u64, u64);

/// Error for a ledger that cannot be uploaded.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The ledger cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The ledger has no key or no record yet.
    #[error("the ledger has no records yet; start the daemon once")]
    Empty,
    /// The ledger's head is not signed by its key.
    #[error("the ledger's head is not signed by its key; `tenterhook ledger verify` checks it")]
    Unsigned,
    /// A record is missing.
    #[error("record {0} is missing; `tenterhook ledger verify` checks the ledger")]
    Missing(u64),
    /// The records do not form a batch.
    #[error(transparent)]
    Batch(#[from] BatchError),
}

/// The ledger's key, and a note signed by it.
#[derive(Debug, Clone)]
pub(crate) struct LedgerIdentity {
    pub(crate) key: VerifierKey,
    pub(crate) note: String,
    pub(crate) checkpoint: Checkpoint,
}

impl LedgerSource {
    /// Creates the source for a state directory. The ledger is opened when it is needed.
    pub fn new(state: &Path) -> Self {
        Self { dir: state.join("ledger"), reader: None }
    }

    fn reader(&mut self) -> Result<&Reader, SourceError> {
        let file = self.dir.join("ledger.db").metadata().map(|metadata| (metadata.dev(), metadata.ino()));
        let file = file.map_err(|_| SourceError::Empty)?;
        if self.reader.as_ref().is_none_or(|(_, opened)| *opened != file) {
            self.reader = Some((Reader::open(&self.dir)?, file));
        }
        self.reader.as_ref().map(|(reader, _)| reader).ok_or(SourceError::Empty)
    }

    /// Returns the number of records.
    pub fn size(&mut self) -> Result<u64, SourceError> {
        Ok(self.reader()?.size()?)
    }

    /// Whether the tree of the ledger's first records has this root.
    pub(crate) fn contains(&mut self, checkpoint: &Checkpoint) -> Result<bool, SourceError> {
        let reader = self.reader()?;
        Ok(checkpoint.size <= reader.size()? && reader.root(checkpoint.size)? == checkpoint.root)
    }

    /// Returns the ledger's key and its signed head. The head is read in several steps while the daemon writes, so it is
    /// read again until its signature is valid.
    pub(crate) fn identity(&mut self) -> Result<LedgerIdentity, SourceError> {
        let reader = self.reader()?;
        for _ in 0..HEAD_ATTEMPTS {
            let (Some(key), Some(note)) = (reader.key()?, reader.head()?) else {
                return Err(SourceError::Empty);
            };
            if let Some(identity) = signed_by(&key, note) {
                return Ok(identity);
            }
            std::thread::sleep(HEAD_PAUSE);
        }
        // A busy daemon writes faster than the head is read; the last published checkpoint does not change.
        let (Some(key), Some((_, note))) = (reader.key()?, reader.checkpoint()?) else {
            return Err(SourceError::Unsigned);
        };
        signed_by(&key, note).ok_or(SourceError::Unsigned)
    }

    /// Reads the next batch, which starts at `first`; `None` if no record is signed beyond it.
    pub fn batch(
        &mut self,
        first: u64,
        machine: &MachineId,
        instance: InstanceId,
    ) -> Result<Option<(UploadBatch, Vec<u8>)>, SourceError> {
        let identity = self.identity()?;
        let LedgerIdentity { checkpoint, note, .. } = identity;
        let reader = self.reader()?;
        let mut records = read_records(reader, first, checkpoint.size)?;
        loop {
            if records.is_empty() {
                return Ok(None);
            }
            let end = first.saturating_add(u64::try_from(records.len()).unwrap_or(u64::MAX));
            let Some(proof) = reader.consistency_proof(end, checkpoint.size)? else { return Ok(None) };
            let batch = UploadBatch {
                machine: machine.clone(),
                instance,
                origin: checkpoint.origin.clone(),
                first,
                records,
                checkpoint: note.clone(),
                proof,
            };
            match batch.encode() {
                Ok(bytes) => return Ok(Some((batch, bytes))),
                // Records that hardly compress: the first half is sent alone.
                Err(BatchError::TooLarge(_)) if batch.records.len() > 1 => {
                    records = batch.records;
                    records.truncate(records.len() / 2);
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Whether a message contains records as this ledger has them.
    pub(crate) fn matches(&mut self, id: &MessageId) -> Result<bool, SourceError> {
        let reader = self.reader()?;
        if id.end > reader.size()? || id.first >= id.end || id.end - id.first > MAX_RECORDS as u64 {
            return Ok(false);
        }
        let mut hashes = Vec::new();
        let mut at = id.first;
        while at < id.end {
            let records = reader.records_from(at, READ_RECORDS.min(id.end - at))?;
            if records.is_empty() {
                return Ok(false);
            }
            at = at.saturating_add(u64::try_from(records.len()).unwrap_or(u64::MAX));
            hashes.extend(records.into_iter().map(|record| record.hash));
        }
        Ok(MessageId::digest_of(hashes) == id.digest)
    }
}

/// Returns the identity if this key signed the note.
fn signed_by(key: &VerifierKey, note: String) -> Option<LedgerIdentity> {
    let (checkpoint, parsed) = Checkpoint::parse(&note).ok()?;
    let valid = checkpoint.size > 0 && checkpoint.origin == key.name() && parsed.check(&[key]).is_ok();
    valid.then(|| LedgerIdentity { key: key.clone(), note, checkpoint })
}

/// Reads records from `first` up to `end`, as many as fit into a batch.
fn read_records(reader: &Reader, first: u64, end: u64) -> Result<Vec<BatchRecord>, SourceError> {
    let (mut records, mut raw, mut at) = (Vec::new(), 0, first);
    while at < end && raw < TARGET_RAW_BYTES && records.len() < MAX_RECORDS {
        let read = reader.records_from(at, READ_RECORDS.min(end - at))?;
        if read.is_empty() {
            break;
        }
        for record in read {
            if record.seq != at {
                return Err(SourceError::Missing(at));
            }
            at += 1;
            let record = record.bytes.map_or(BatchRecord::Pruned(record.hash), BatchRecord::Envelope);
            raw += record.raw_bytes();
            records.push(record);
        }
    }
    records.truncate(MAX_RECORDS);
    Ok(records)
}
