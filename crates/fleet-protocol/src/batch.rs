// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A batch of consecutive records on their way from a machine to the fleet server.
//!
//! ```text
//! "THB1"  machine: u8 length, text  instance: 16 bytes  origin: u16 length, text  first: u64  count: u32
//! checkpoint: u32 length, text      proof: u8 count, 32 bytes each
//! records: u32 length before and u32 length after compression, one zstd frame
//! ```
//! Numbers are big-endian. In the frame, each record is a u32 length and the bytes of its envelope; a pruned record
//! has the length zero and its 32-byte leaf hash.
//!
//! A batch proves three things together: its records continue the tree of `first` records that the server stores;
//! the tree of `first + count` records is a part of the tree that `checkpoint` signs (`proof`); and the machine's
//! ledger had that checkpoint. The size in `checkpoint` never decreases on one machine, so a smaller one in a later
//! message shows a ledger that was rolled back.

use std::fmt;
use std::str::FromStr;

use sha2::{Digest, Sha256};
use tenterhook_ledger::{Hash, MAX_ENVELOPE_BYTES};

use crate::bytes_reader::BytesReader;
use crate::machine_id::{InstanceId, MachineId};

/// First bytes of a batch.
const BATCH_MAGIC: [u8; 4] = *b"THB1";
/// Maximum length of an encoded batch.
pub const MAX_BATCH_BYTES: usize = 512 << 10;
/// Maximum length of the records of a batch before compression.
pub const MAX_RAW_BYTES: usize = 4 << 20;
/// Maximum number of records in a batch.
pub const MAX_BATCH_RECORDS: usize = 8192;
/// Maximum length of a log's origin.
const MAX_ORIGIN_BYTES: usize = 512;
/// Maximum length of the signed checkpoint.
const MAX_CHECKPOINT_BYTES: usize = 16 << 10;
/// Maximum number of hashes in the consistency proof: the height of a tree, and one more.
const MAX_PROOF_HASHES: usize = 65;
/// Level of compression: fast, and half the size of the fastest.
const ZSTD_LEVEL: i32 = 3;

/// Consecutive records with the proof that they are in the machine's ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadBatch {
    /// The machine that uploads.
    pub machine: MachineId,
    /// The copy of the machine.
    pub instance: InstanceId,
    /// Origin of the ledger.
    pub origin: String,
    /// Number of the first record.
    pub first: u64,
    /// The records, in order; at least one.
    pub records: Vec<BatchRecord>,
    /// Signed checkpoint of the ledger, with at least `first` and the number of records.
    pub checkpoint: String,
    /// Proof that the checkpoint's tree extends the tree that ends with this batch.
    pub proof: Vec<Hash>,
}

/// One record in a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BatchRecord {
    /// The bytes of the envelope. Payloads are never uploaded.
    Envelope(Vec<u8>),
    /// The leaf hash of a record that was pruned on the machine.
    Pruned(Hash),
}

/// The id of a message with a batch: machine, range of records, start of a digest of their hashes, and attempt.
/// Batches with the same records have the same id in the same attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageId {
    /// The machine that published the message.
    pub machine: MachineId,
    /// Number of the first record.
    pub first: u64,
    /// Number after the last record.
    pub end: u64,
    /// Start of the SHA-256 of the leaf hashes.
    pub digest: u64,
    /// Zero, or the time of the request to upload these records again. It distinguishes the message from the earlier
    /// one, which the message bus would otherwise take for the same.
    pub attempt: u64,
}

/// Error for an invalid batch.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// A length exceeds its limit.
    #[error("the batch is too large: {0}")]
    TooLarge(&'static str),
    /// The bytes are not a batch.
    #[error("not a batch: {0}")]
    Form(&'static str),
    /// The id of a message is invalid.
    #[error("invalid message id `{0}`")]
    MessageId(String),
}

impl BatchRecord {
    /// Returns the leaf hash.
    pub fn hash(&self) -> Hash {
        match self {
            Self::Envelope(bytes) => Hash::of_leaf(bytes),
            Self::Pruned(hash) => *hash,
        }
    }

    /// Returns the number of bytes that the record uses before compression.
    pub fn raw_bytes(&self) -> usize {
        match self {
            Self::Envelope(bytes) => bytes.len().saturating_add(4),
            Self::Pruned(_) => 36,
        }
    }
}

impl UploadBatch {
    /// Returns the number after the last record.
    pub fn end(&self) -> u64 {
        self.first.saturating_add(u64::try_from(self.records.len()).unwrap_or(u64::MAX))
    }

    /// Returns the id of the message with this batch.
    pub fn message_id(&self) -> MessageId {
        let digest = MessageId::digest_of(self.records.iter().map(BatchRecord::hash));
        MessageId { machine: self.machine.clone(), first: self.first, end: self.end(), digest, attempt: 0 }
    }

    /// Encodes the batch.
    pub fn encode(&self) -> Result<Vec<u8>, BatchError> {
        let raw = self.encode_records()?;
        let packed =
            zstd::bulk::compress(&raw, ZSTD_LEVEL).map_err(|_| BatchError::Form("cannot compress"))?;
        let mut bytes = BATCH_MAGIC.to_vec();
        bytes
            .push(u8::try_from(self.machine.as_str().len()).map_err(|_| BatchError::TooLarge("machine id"))?);
        bytes.extend(self.machine.as_str().as_bytes());
        bytes.extend(self.instance.0);
        let too_long = BatchError::TooLarge("origin");
        let origin = u16::try_from(self.origin.len()).ok().filter(|_| self.origin.len() <= MAX_ORIGIN_BYTES);
        bytes.extend(origin.ok_or(too_long)?.to_be_bytes());
        bytes.extend(self.origin.as_bytes());
        bytes.extend(self.first.to_be_bytes());
        bytes.extend(length_field(self.records.len(), MAX_BATCH_RECORDS, "records")?);
        bytes.extend(length_field(self.checkpoint.len(), MAX_CHECKPOINT_BYTES, "checkpoint")?);
        bytes.extend(self.checkpoint.as_bytes());
        let proof = u8::try_from(self.proof.len()).ok().filter(|_| self.proof.len() <= MAX_PROOF_HASHES);
        bytes.push(proof.ok_or(BatchError::TooLarge("proof"))?);
        self.proof.iter().for_each(|hash| bytes.extend(hash.0));
        bytes.extend(length_field(raw.len(), MAX_RAW_BYTES, "records before compression")?);
        bytes.extend(length_field(packed.len(), MAX_BATCH_BYTES, "records after compression")?);
        bytes.extend(packed);
        if bytes.len() <= MAX_BATCH_BYTES { Ok(bytes) } else { Err(BatchError::TooLarge("message")) }
    }

    fn encode_records(&self) -> Result<Vec<u8>, BatchError> {
        if self.records.is_empty() {
            return Err(BatchError::Form("no records"));
        }
        let length = self.records.iter().map(BatchRecord::raw_bytes).sum::<usize>();
        length_field(length, MAX_RAW_BYTES, "records before compression")?;
        let mut raw = Vec::with_capacity(length);
        for record in &self.records {
            match record {
                BatchRecord::Envelope(bytes) if bytes.is_empty() => {
                    return Err(BatchError::Form("empty record"));
                }
                BatchRecord::Envelope(bytes) => {
                    raw.extend(length_field(bytes.len(), MAX_ENVELOPE_BYTES, "record")?);
                    raw.extend(bytes);
                }
                BatchRecord::Pruned(hash) => {
                    raw.extend([0; 4]);
                    raw.extend(hash.0);
                }
            }
        }
        Ok(raw)
    }

    /// Decodes a batch. For any bytes, no more memory is used than the limits of a batch allow.
    pub fn decode(bytes: &[u8]) -> Result<Self, BatchError> {
        if bytes.len() > MAX_BATCH_BYTES {
            return Err(BatchError::TooLarge("message"));
        }
        let mut reader = BytesReader(bytes);
        let cut = BatchError::Form("the message ends early");
        if reader.take_array() != Some(BATCH_MAGIC) {
            return Err(BatchError::Form("unknown first bytes"));
        }
        let length = reader.take_u8().ok_or(cut.clone())?;
        let machine = read_text(&mut reader, length.into())?;
        let machine = machine.parse().map_err(|_| BatchError::Form("invalid machine id"))?;
        let instance = InstanceId(reader.take_array().ok_or(cut.clone())?);
        let length = limited(reader.take_u16(), MAX_ORIGIN_BYTES, "origin")?;
        let origin = read_text(&mut reader, length)?.to_owned();
        let first = reader.take_u64().ok_or(cut.clone())?;
        let count = limited(reader.take_u32(), MAX_BATCH_RECORDS, "records")?;
        let length = limited(reader.take_u32(), MAX_CHECKPOINT_BYTES, "checkpoint")?;
        let checkpoint = read_text(&mut reader, length)?.to_owned();
        let hashes = limited(reader.take_u8(), MAX_PROOF_HASHES, "proof")?;
        let proof = (0..hashes)
            .map(|_| reader.take_array().map(Hash))
            .collect::<Option<Vec<_>>>()
            .ok_or(cut.clone())?;
        let raw_length = limited(reader.take_u32(), MAX_RAW_BYTES, "records before compression")?;
        let packed_length = limited(reader.take_u32(), MAX_BATCH_BYTES, "records after compression")?;
        let packed = reader.take(packed_length).ok_or(cut)?;
        if !reader.is_empty() {
            return Err(BatchError::Form("bytes after the records"));
        }
        let end = first.checked_add(u64::try_from(count).unwrap_or(u64::MAX));
        if count == 0 || end.is_none() {
            return Err(BatchError::Form("no records, or numbers that are too large"));
        }
        let records = decode_records(packed, raw_length, count)?;
        Ok(Self { machine, instance, origin, first, records, checkpoint, proof })
    }
}

fn decode_records(packed: &[u8], raw_length: usize, count: usize) -> Result<Vec<BatchRecord>, BatchError> {
    // Each record has at least a length and a byte.
    if raw_length / 5 < count {
        return Err(BatchError::Form("more records than bytes"));
    }
    // A single frame of a known length: anything longer does not fit into the buffer and is refused.
    let raw = zstd::bulk::decompress(packed, raw_length)
        .map_err(|_| BatchError::Form("the records cannot be decompressed"))?;
    if raw.len() != raw_length {
        return Err(BatchError::Form("the records have another length"));
    }
    let mut reader = BytesReader(&raw);
    let mut records = Vec::with_capacity(count);
    for _ in 0..count {
        let length = limited(reader.take_u32(), MAX_ENVELOPE_BYTES, "record")?;
        let record = match length {
            0 => reader.take_array().map(|hash| BatchRecord::Pruned(Hash(hash))),
            length => reader.take(length).map(|bytes| BatchRecord::Envelope(bytes.to_vec())),
        };
        records.push(record.ok_or(BatchError::Form("the records end early"))?);
    }
    if reader.is_empty() { Ok(records) } else { Err(BatchError::Form("bytes after the last record")) }
}

/// Returns a length as four bytes, if it is within its limit.
fn length_field(length: usize, limit: usize, what: &'static str) -> Result<[u8; 4], BatchError> {
    let length = u32::try_from(length).ok().filter(|_| length <= limit);
    length.map(u32::to_be_bytes).ok_or(BatchError::TooLarge(what))
}

/// Checks a length that was read.
fn limited<T: TryInto<usize>>(
    length: Option<T>,
    limit: usize,
    what: &'static str,
) -> Result<usize, BatchError> {
    let length = length.ok_or(BatchError::Form("the message ends early"))?;
    length.try_into().ok().filter(|length| *length <= limit).ok_or(BatchError::TooLarge(what))
}

fn read_text<'a>(reader: &mut BytesReader<'a>, length: usize) -> Result<&'a str, BatchError> {
    let bytes = reader.take(length).ok_or(BatchError::Form("the message ends early"))?;
    str::from_utf8(bytes).map_err(|_| BatchError::Form("text that is not UTF-8"))
}

impl MessageId {
    /// Returns the start of the SHA-256 of leaf hashes.
    pub fn digest_of(hashes: impl IntoIterator<Item = Hash>) -> u64 {
        let digest = hashes.into_iter().fold(Sha256::new(), |digest, hash| digest.chain_update(hash.0));
        let digest: [u8; 32] = digest.finalize().into();
        u64::from_be_bytes(digest.first_chunk().copied().unwrap_or_default())
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { machine, first, end, digest, attempt } = self;
        write!(f, "{machine}:{first}:{end}:{digest:016x}:{attempt}")
    }
}

impl FromStr for MessageId {
    type Err = BatchError;

    fn from_str(text: &str) -> Result<Self, BatchError> {
        let refuse = || BatchError::MessageId(text.chars().take(120).collect());
        let parts: Vec<&str> = text.splitn(6, ':').collect();
        let [machine, first, end, digest, attempt] = parts.as_slice() else { return Err(refuse()) };
        let id = Self {
            machine: machine.parse().map_err(|_| refuse())?,
            first: first.parse().map_err(|_| refuse())?,
            end: end.parse().map_err(|_| refuse())?,
            digest: u64::from_str_radix(digest, 16).map_err(|_| refuse())?,
            attempt: attempt.parse().map_err(|_| refuse())?,
        };
        // Numbers have one spelling, so that equal ids are equal texts.
        if id.to_string() == text { Ok(id) } else { Err(refuse()) }
    }
}
