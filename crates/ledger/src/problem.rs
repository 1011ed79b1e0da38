// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What a verifier found: which leaf, and what is wrong with it.

use std::fmt;

use crate::note::NoteError;

/// The first thing that is wrong with a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Where it is.
    pub place: Place,
    /// What it is.
    pub wrong: Wrong,
}

/// Where something is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// At one leaf.
    Leaf(u64),
    /// Somewhere in these leaves, the last one included.
    Leaves(u64, u64),
    /// At the checkpoint of this many leaves.
    Checkpoint(u64),
    /// At a line of an export, from 1.
    Line(u64),
    /// With the log as a whole.
    Log,
}

/// What can be wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wrong {
    /// The bytes were changed, or the hash was.
    Bytes,
    /// The bytes are no envelope.
    Form(String),
    /// The envelope is of a version that this program does not know.
    Version(u32),
    /// The envelope says that it is another leaf.
    Seq(u64),
    /// The leaf is not there, and no leaf says that it was pruned.
    Missing,
    /// Two leaves are at the same place.
    Twice,
    /// The log does not begin with a `start` leaf, or has a second one.
    Start,
    /// The leaf names a signer that did not sign then.
    Signer {
        /// Whom it names.
        named: String,
        /// Who signed then.
        expected: String,
    },
    /// The change of keys is not signed by the old and the new key.
    Rotation,
    /// The payload or its salt was changed.
    Payload,
    /// The payload's row is not there.
    PayloadMissing,
    /// There is a payload that the leaf does not speak of.
    PayloadUnknown,
    /// The payload is gone, and no leaf says that it was erased.
    PayloadErased,
    /// A stored hash of the tree was changed; so many leaves it covers.
    Node(u64),
    /// What the leaf is looked up by is not what it says.
    Column {
        /// Which column.
        name: &'static str,
        /// What the column has.
        column: String,
        /// What the leaf says.
        leaf: String,
    },
    /// Who looks for this would not find all leaves that have it.
    Unfound(String),
    /// Something is filed that no leaf says.
    Misfiled,
    /// The counters of statistics are not those of the leaves.
    Counters,
    /// The leaves do not give the root that was signed.
    Root,
    /// The checkpoint cannot be believed.
    Checkpoint(NoteError),
    /// The checkpoint is of another log.
    OtherLog(String),
    /// A checkpoint of this size stands where it does not belong.
    OutOfOrder(u64),
    /// A signature that only the last leaf has stands at an earlier one.
    OldHead,
    /// The column that the head moves through was emptied.
    HeadMissing,
    /// The store has no checkpoint at all. The first one is in the commit of the first leaf.
    NoCheckpoints,
    /// The checkpoint in the file beside the store is not in the store.
    NotStored,
    /// A key file belongs to another log.
    KeyFile {
        /// Which file.
        file: &'static str,
        /// The name and id of its key.
        found: String,
    },
    /// SQLite finds damage in pages that hold no leaf.
    Pages(String),
    /// Leaves that were signed are not here.
    TooFew {
        /// How many were signed.
        signed: u64,
        /// How many are here.
        here: u64,
    },
    /// Nothing signs this log.
    Unsigned,
    /// Nothing signs its end. The writer signs with every commit, so it did not write that.
    UnsignedEnd {
        /// How many leaves that are.
        leaves: u64,
        /// When the first of them says that it was recorded.
        since: Option<String>,
    },
    /// There is no leaf at all.
    Empty,
    /// The log never had the key that was given.
    OtherKey {
        /// The name and id of the key that was given.
        given: String,
        /// The names and ids of the log's keys.
        keys: Vec<String>,
    },
    /// The checkpoint that was brought along cannot be believed.
    Held(NoteError),
    /// The log is an older copy.
    Older {
        /// How many leaves are here.
        here: u64,
        /// How many the checkpoint that was brought along has.
        held: u64,
    },
    /// The log is another one since then.
    DoesNotExtend {
        /// The size of the checkpoint that was brought along.
        size: u64,
    },
    /// A file of a log that is many files.
    File {
        /// Which, below the log's directory.
        path: String,
        /// What is wrong with it.
        why: String,
    },
    /// The store or the file cannot be read.
    Unreadable(String),
}

// === impl Wrong ===

impl Wrong {
    /// Whether only the index is wrong: it is made from the leaves and can be written again.
    pub fn is_index(&self) -> bool {
        matches!(self, Self::Unfound(_) | Self::Misfiled | Self::Counters)
    }

    pub(crate) fn at(self, seq: u64) -> Problem {
        Problem { place: Place::Leaf(seq), wrong: self }
    }

    pub(crate) fn between(self, from: u64, to: u64) -> Problem {
        Problem { place: Place::Leaves(from, to.saturating_sub(1)), wrong: self }
    }

    pub(crate) fn at_size(self, size: u64) -> Problem {
        Problem { place: Place::Checkpoint(size), wrong: self }
    }

    pub(crate) fn at_line(self, line: u64) -> Problem {
        Problem { place: Place::Line(line), wrong: self }
    }

    pub(crate) fn here(self) -> Problem {
        Problem { place: Place::Log, wrong: self }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes => f.write_str("its bytes do not match its hash"),
            Self::Form(why) => write!(f, "it is no leaf: {why}"),
            Self::Version(v) => write!(f, "its format is version {v}, which this program does not know"),
            Self::Seq(seq) => {
                write!(f, "it says that it is leaf {seq}: two leaves say so, or leaves were moved")
            }
            Self::Missing => f.write_str("it is missing"),
            Self::Twice => f.write_str("there are two of it"),
            Self::Start => f.write_str("a log has one `start` leaf, which is its first"),
            Self::Signer { named, expected } => {
                write!(f, "it names the signer `{named}`, it was `{expected}` then")
            }
            Self::Rotation => f.write_str("the change of keys is not signed by both keys"),
            Self::Payload => f.write_str("its payload does not match its commitment"),
            Self::PayloadMissing => f.write_str("its payload is missing"),
            Self::PayloadUnknown => f.write_str("there is a payload that it does not speak of"),
            Self::PayloadErased => f.write_str("its payload is gone, and no leaf says that it was erased"),
            Self::Node(leaves) => {
                write!(f, "the stored hash over the {leaves} leaves that end here is another")
            }
            Self::Column { name, column, leaf } => {
                write!(f, "it is filed under {name} `{column}`, but says `{leaf}`")
            }
            Self::Unfound(what) => write!(f, "who looks for {what} would not find all there is"),
            Self::Misfiled => f.write_str("something is filed that no leaf says"),
            Self::Counters => f.write_str("the counters of `ledger stats` do not match the records"),
            Self::Root => f.write_str("they do not give the root that was signed"),
            Self::Checkpoint(error) => write!(f, "{error}"),
            Self::OtherLog(origin) => write!(f, "it is of another log, `{origin}`"),
            Self::OutOfOrder(size) => write!(f, "a checkpoint of {size} leaves stands here"),
            Self::HeadMissing => f.write_str("the signature of the last commit was removed from its row"),
            Self::NoCheckpoints => {
                f.write_str("all checkpoints were removed: the ledger signs one with its first record")
            }
            Self::NotStored => f.write_str("it was published, but the store does not have it"),
            Self::KeyFile { file, found } => {
                write!(f, "the file `{file}` holds a key of another log: `{found}`")
            }
            Self::Pages(why) => write!(f, "the database file is damaged: {why}"),
            Self::OldHead => f.write_str("it carries the head, which only the last leaf does"),
            Self::TooFew { signed, here } => {
                write!(f, "it is missing: {signed} leaves were signed, {here} are here")
            }
            Self::Unsigned => f.write_str("no checkpoint signs this log"),
            Self::UnsignedEnd { leaves, since } => {
                write!(f, "nobody signed the last {leaves}")?;
                if let Some(since) = since {
                    write!(f, ", recorded since {since} as they say")?;
                }
                f.write_str(
                    ": the ledger signs with every commit, so it did not write them, or its signature was taken away",
                )
            }
            Self::Empty => f.write_str("there is no leaf"),
            Self::OtherKey { given, keys } => {
                write!(f, "signed by an unknown key: `{}`, you gave `{given}`", keys.join("`, `"))
            }
            Self::Held(error) => write!(f, "the checkpoint you hold: {error}"),
            Self::Older { here, held } => {
                write!(f, "older than the checkpoint you hold: {here} < {held} leaves")
            }
            Self::DoesNotExtend { size } => {
                write!(f, "does not extend the checkpoint you hold: the first {size} leaves are others")
            }
            Self::File { path, why } => write!(f, "`{path}`: {why}"),
            Self::Unreadable(why) => f.write_str(why),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Place::Leaf(seq) => write!(f, "leaf {seq}: {}", self.wrong),
            Place::Leaves(from, to) => write!(f, "leaves {from} to {to}: {}", self.wrong),
            Place::Checkpoint(size) => write!(f, "the checkpoint of {size} leaves: {}", self.wrong),
            Place::Line(line) => write!(f, "line {line}: {}", self.wrong),
            Place::Log => write!(f, "{}", self.wrong),
        }
    }
}

impl std::error::Error for Problem {}
