// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Problems found by verification: the location of each, and what is wrong.

use std::fmt;

use crate::note::NoteError;

/// The first problem that verification found in a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogProblem {
    /// The part of the log that has the problem.
    pub location: ProblemLocation,
    /// What is wrong there.
    pub defect: Defect,
}

/// The part of a log that has a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemLocation {
    /// The leaf with this number.
    Leaf(u64),
    /// One of the leaves in this range, both ends included.
    Leaves(u64, u64),
    /// The checkpoint that covers this many leaves.
    Checkpoint(u64),
    /// A line in an export, counted from 1.
    Line(u64),
    /// The log as a whole.
    Log,
}

/// What is wrong with a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Defect {
    /// A leaf's bytes or stored hash were changed.
    HashMismatch,
    /// The bytes are not a valid envelope.
    InvalidFormat(String),
    /// The envelope has a version that this program does not support.
    UnknownVersion(u32),
    /// The envelope contains the number of another leaf.
    SeqMismatch(u64),
    /// The leaf is missing, and no `prune` leaf covers it.
    Missing,
    /// Two leaves have the same number.
    Duplicate,
    /// The log does not begin with a `start` leaf, or has a second one.
    InvalidStart,
    /// The leaf names a key that did not sign the log at that point.
    WrongSigner {
        /// The key that the leaf names.
        named: String,
        /// The key that signed the log at that point.
        expected: String,
    },
    /// A key rotation is not signed by both the old and the new key.
    InvalidRotation,
    /// The payload or its salt was changed.
    PayloadMismatch,
    /// The payload's row is missing.
    PayloadMissing,
    /// A payload is stored, but the envelope does not mention one.
    UnexpectedPayload,
    /// The payload is missing, and no `erase` leaf covers it.
    PayloadRemoved,
    /// The stored hash of a subtree with this many leaves was changed.
    SubtreeHash(u64),
    /// An indexed column differs from the envelope.
    ColumnMismatch {
        /// The column's name.
        name: &'static str,
        /// The column's value.
        column: String,
        /// The value in the envelope.
        leaf: String,
    },
    /// The index lacks an entry, so a search would miss leaves.
    MissingIndexEntry(String),
    /// The index has an entry without a leaf.
    ExtraIndexEntry,
    /// The statistics counters do not match the leaves.
    CounterMismatch,
    /// The root hash of the leaves differs from the signed one.
    RootMismatch,
    /// The checkpoint has an invalid format or signature.
    InvalidCheckpoint(NoteError),
    /// The checkpoint belongs to another log.
    OtherLog(String),
    /// A checkpoint for this many leaves is in the wrong place.
    OutOfOrder(u64),
    /// An earlier leaf has a head signature (the signature over the whole tree), which only the last leaf may have.
    StaleHead,
    /// The row's `head` value was removed: the signature in the last row, or the placeholder in an earlier row.
    HeadMissing,
    /// The store has no checkpoint, although the first leaf's commit includes one.
    NoCheckpoints,
    /// The checkpoint in the published file is not in the store.
    CheckpointNotStored,
    /// A key file belongs to another log.
    ForeignKeyFile {
        /// The file's name.
        file: &'static str,
        /// The name and id of the key in the file.
        found: String,
    },
    /// SQLite found damage in pages without leaves.
    DamagedPages(String),
    /// Signed leaves are missing.
    MissingSignedRecords {
        /// Number of leaves that were signed.
        signed: u64,
        /// Number of leaves in the log.
        here: u64,
    },
    /// No checkpoint signs this log.
    Unsigned,
    /// The last leaves are not signed. The writer signs every commit, so another program wrote them.
    UnsignedEnd {
        /// Number of leaves that are not signed.
        leaves: u64,
        /// Recording time in the first unsigned leaf.
        since: Option<String>,
    },
    /// The log has no leaves.
    Empty,
    /// The log was never signed with the given key.
    UnknownKey {
        /// The name and id of the given key.
        given: String,
        /// The names and ids of the log's keys.
        keys: Vec<String>,
    },
    /// The caller's reference checkpoint is invalid.
    InvalidReference(NoteError),
    /// The log is older than the reference checkpoint.
    RolledBack {
        /// Number of leaves in the log.
        here: u64,
        /// Number of leaves in the reference checkpoint.
        held: u64,
    },
    /// The log does not extend the reference checkpoint.
    DoesNotExtend {
        /// Number of leaves in the reference checkpoint.
        size: u64,
    },
    /// A file in a log that consists of several files is invalid.
    InvalidFile {
        /// Path relative to the log's directory.
        path: String,
        /// What is wrong with the file.
        why: String,
    },
    /// The store or the file cannot be read.
    Unreadable(String),
}

impl Defect {
    /// Whether only the index is wrong. The index can be rebuilt from the leaves.
    pub fn is_index(&self) -> bool {
        matches!(self, Self::MissingIndexEntry(_) | Self::ExtraIndexEntry | Self::CounterMismatch)
    }

    pub(crate) fn at_leaf(self, seq: u64) -> LogProblem {
        LogProblem { location: ProblemLocation::Leaf(seq), defect: self }
    }

    /// Returns this defect as a problem in leaves `from..to`.
    pub(crate) fn in_leaves(self, from: u64, to: u64) -> LogProblem {
        LogProblem { location: ProblemLocation::Leaves(from, to.saturating_sub(1)), defect: self }
    }

    pub(crate) fn at_checkpoint(self, size: u64) -> LogProblem {
        LogProblem { location: ProblemLocation::Checkpoint(size), defect: self }
    }

    pub(crate) fn at_line(self, line: u64) -> LogProblem {
        LogProblem { location: ProblemLocation::Line(line), defect: self }
    }

    pub(crate) fn in_log(self) -> LogProblem {
        LogProblem { location: ProblemLocation::Log, defect: self }
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::HashMismatch => f.write_str("content does not match its hash"),
            Self::InvalidFormat(why) => write!(f, "invalid record: {why}"),
            Self::UnknownVersion(v) => write!(f, "unknown format version {v}"),
            Self::SeqMismatch(seq) => write!(f, "has the number {seq}: records were copied or moved"),
            Self::Missing => f.write_str("missing"),
            Self::Duplicate => f.write_str("occurs twice"),
            Self::InvalidStart => f.write_str("a log has exactly one `start` record, which is its first"),
            Self::WrongSigner { named, expected } => {
                write!(f, "names the signer `{named}`, but `{expected}` signed the log at that point")
            }
            Self::InvalidRotation => f.write_str("key rotation is not signed by both keys"),
            Self::PayloadMismatch => f.write_str("payload does not match its commitment"),
            Self::PayloadMissing => f.write_str("payload is missing"),
            Self::UnexpectedPayload => f.write_str("has a payload that its envelope does not mention"),
            Self::PayloadRemoved => f.write_str("payload was removed without an `erase` record"),
            Self::SubtreeHash(leaves) => {
                write!(f, "stored subtree hash over {leaves} records does not match")
            }
            Self::ColumnMismatch { name, column, leaf } => {
                write!(f, "indexed under {name} `{column}`, but its envelope has `{leaf}`")
            }
            Self::MissingIndexEntry(what) => write!(f, "index entry for {what} is missing or incomplete"),
            Self::ExtraIndexEntry => f.write_str("the index has an entry without a record"),
            Self::CounterMismatch => f.write_str("the counters of `ledger stats` do not match the records"),
            Self::RootMismatch => f.write_str("root hash does not match the signed one"),
            Self::InvalidCheckpoint(error) => write!(f, "{error}"),
            Self::OtherLog(origin) => write!(f, "belongs to another log, `{origin}`"),
            Self::OutOfOrder(size) => write!(f, "out of order: it covers {size} records"),
            Self::HeadMissing => f.write_str("the signature of the last commit was removed from its row"),
            Self::NoCheckpoints => {
                f.write_str("all checkpoints were removed: the ledger signs one with its first record")
            }
            Self::CheckpointNotStored => f.write_str("was published, but is not in the store"),
            Self::ForeignKeyFile { file, found } => {
                write!(f, "the file `{file}` has a key of another log: `{found}`")
            }
            Self::DamagedPages(why) => write!(f, "the database file is damaged: {why}"),
            Self::StaleHead => f.write_str("has a head signature, which only the last record may have"),
            Self::MissingSignedRecords { signed, here } => {
                write!(f, "missing: {signed} records were signed, {here} are present")
            }
            Self::Unsigned => f.write_str("no checkpoint signs this log"),
            Self::UnsignedEnd { leaves, since } => {
                write!(f, "the last {leaves} are not signed")?;
                if let Some(since) = since {
                    write!(f, " (recorded since {since}, as they state)")?;
                }
                f.write_str(
                    ": every commit is signed, so the ledger did not write them, or their signature was removed",
                )
            }
            Self::Empty => f.write_str("the log has no records"),
            Self::UnknownKey { given, keys } => {
                write!(f, "signed by an unknown key: `{}`, expected `{given}`", keys.join("`, `"))
            }
            Self::InvalidReference(error) => write!(f, "invalid reference checkpoint: {error}"),
            Self::RolledBack { here, held } => {
                write!(f, "older than the reference checkpoint: {here} < {held} records")
            }
            Self::DoesNotExtend { size } => {
                write!(f, "does not extend the reference checkpoint: the first {size} records differ")
            }
            Self::InvalidFile { path, why } => write!(f, "`{path}`: {why}"),
            Self::Unreadable(why) => f.write_str(why),
        }
    }
}

impl fmt::Display for LogProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.location {
            ProblemLocation::Leaf(seq) => write!(f, "record {seq}: {}", self.defect),
            ProblemLocation::Leaves(from, to) => write!(f, "records {from} to {to}: {}", self.defect),
            ProblemLocation::Checkpoint(size) => write!(f, "checkpoint of {size} records: {}", self.defect),
            ProblemLocation::Line(line) => write!(f, "line {line}: {}", self.defect),
            ProblemLocation::Log => write!(f, "{}", self.defect),
        }
    }
}

impl std::error::Error for LogProblem {}
