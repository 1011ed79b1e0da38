// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks inclusion and consistency proofs, and reads the proof of one leaf as text: <https://c2sp.org/tlog-proof>.

use std::fmt;
use std::str::FromStr;

use crate::checkpoint::Checkpoint;
use crate::hash::{Hash, decode_base64, encode_base64};
use crate::note::{NoteError, VerifierKey};

const PROOF_HEADER: &str = "c2sp.org/tlog-proof@v1";
/// Maximum number of hashes in a path, which is the maximum height of a tree.
const MAX_PATH_HASHES: usize = 64;

/// Proof that a log contains a leaf: the leaf, its path to the root, and the signed root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeafProof {
    /// The leaf's bytes, from the `extra` line. The path proves that they are in the tree.
    pub leaf: Vec<u8>,
    /// Number of the leaf.
    pub seq: u64,
    /// Sibling hashes from the leaf up to the root.
    pub path: Vec<Hash>,
    /// The signed checkpoint.
    pub checkpoint: String,
}

/// Error for an invalid proof.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    /// The text has an invalid format.
    #[error("not a proof: {0}")]
    Form(&'static str),
    /// The checkpoint is invalid or belongs to another log.
    #[error("checkpoint: {0}")]
    Checkpoint(#[from] NoteError),
    /// The path does not lead to the signed root.
    #[error("record {seq} is not in the tree of {size} records that the checkpoint signs")]
    NotIncluded {
        /// Number of the leaf.
        seq: u64,
        /// Size of the tree.
        size: u64,
    },
    /// The larger tree does not extend the smaller one.
    #[error("the tree of {size} records does not extend the tree of {old} records")]
    NotConsistent {
        /// Size of the smaller tree.
        old: u64,
        /// Size of the larger tree.
        size: u64,
    },
}

/// Checks that the path leads from a leaf to the root (RFC 9162, 2.1.3.2).
pub fn check_inclusion(leaf: Hash, seq: u64, size: u64, path: &[Hash], root: Hash) -> Result<(), ProofError> {
    let refuse = ProofError::NotIncluded { seq, size };
    if seq >= size {
        return Err(refuse);
    }
    let (mut at, mut last, mut hash) = (seq, size - 1, leaf);
    for sibling in path {
        if last == 0 {
            return Err(refuse);
        }
        if at & 1 == 1 || at == last {
            hash = Hash::of_node(*sibling, hash);
            while at & 1 == 0 && at != 0 {
                (at, last) = (at >> 1, last >> 1);
            }
        } else {
            hash = Hash::of_node(hash, *sibling);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    if last == 0 && hash == root { Ok(()) } else { Err(refuse) }
}

/// Checks that the tree of `size` leaves extends the tree of `old` leaves (RFC 9162, 2.1.4.2).
pub fn check_consistency(
    (old, old_root): (u64, Hash),
    (size, root): (u64, Hash),
    proof: &[Hash],
) -> Result<(), ProofError> {
    let refuse = ProofError::NotConsistent { old, size };
    let holds = match old {
        _ if old > size => false,
        _ if old == size => proof.is_empty() && old_root == root,
        0 => proof.is_empty() && old_root == Hash::empty_root(),
        _ => is_extension(old, old_root, size, root, proof),
    };
    if holds { Ok(()) } else { Err(refuse) }
}

fn is_extension(old: u64, old_root: Hash, size: u64, root: Hash, proof: &[Hash]) -> bool {
    // The proof omits the root of a complete old tree, so it is added as the first hash.
    let mut hashes = old.is_power_of_two().then_some(old_root).into_iter().chain(proof.iter().copied());
    let (mut at, mut last) = (old - 1, size - 1);
    while at & 1 == 1 {
        (at, last) = (at >> 1, last >> 1);
    }
    let Some(first) = hashes.next() else { return false };
    let (mut old_hash, mut hash) = (first, first);
    for sibling in hashes {
        if last == 0 {
            return false;
        }
        if at & 1 == 1 || at == last {
            old_hash = Hash::of_node(sibling, old_hash);
            hash = Hash::of_node(sibling, hash);
            while at & 1 == 0 && at != 0 {
                (at, last) = (at >> 1, last >> 1);
            }
        } else {
            hash = Hash::of_node(hash, sibling);
        }
        (at, last) = (at >> 1, last >> 1);
    }
    last == 0 && old_hash == old_root && hash == root
}

impl LeafProof {
    /// Checks that one of these keys signed a tree with this leaf. Returns the checkpoint.
    pub fn check(&self, keys: &[&VerifierKey]) -> Result<Checkpoint, ProofError> {
        let (checkpoint, note) = Checkpoint::parse(&self.checkpoint)?;
        let signer = note.check(keys)?;
        if signer.name() != checkpoint.origin {
            return Err(ProofError::Form("the signer is not the key of the log"));
        }
        let leaf = Hash::of_leaf(&self.leaf);
        check_inclusion(leaf, self.seq, checkpoint.size, &self.path, checkpoint.root)?;
        Ok(checkpoint)
    }
}

impl fmt::Display for LeafProof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{PROOF_HEADER}\nextra {}\nindex {}", encode_base64(&self.leaf), self.seq)?;
        self.path.iter().try_for_each(|hash| writeln!(f, "{hash}"))?;
        write!(f, "\n{}", self.checkpoint)
    }
}

impl FromStr for LeafProof {
    type Err = ProofError;

    fn from_str(text: &str) -> Result<Self, ProofError> {
        let (head, checkpoint) = text.split_once("\n\n").ok_or(ProofError::Form("no checkpoint"))?;
        let mut lines = head.split('\n');
        if lines.next() != Some(PROOF_HEADER) {
            return Err(ProofError::Form("does not begin with `c2sp.org/tlog-proof@v1`"));
        }
        let leaf = lines.next().and_then(|line| line.strip_prefix("extra ")).and_then(decode_base64);
        let leaf = leaf.ok_or(ProofError::Form("no leaf in the `extra` line"))?;
        let index = lines.next().and_then(|line| line.strip_prefix("index "));
        let seq = index.and_then(|index| index.parse().ok().filter(|seq: &u64| seq.to_string() == index));
        let seq = seq.ok_or(ProofError::Form("no valid `index` line"))?;
        let path = lines.map(str::parse).collect::<Result<Vec<Hash>, _>>();
        let path = path.map_err(|_| ProofError::Form("invalid hash in the path"))?;
        if path.len() > MAX_PATH_HASHES {
            return Err(ProofError::Form("the path is too long"));
        }
        Ok(Self { leaf, seq, path, checkpoint: checkpoint.to_owned() })
    }
}
