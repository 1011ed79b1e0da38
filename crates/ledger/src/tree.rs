// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The Merkle tree of RFC 6962, and how its hashes are stored.
//!
//! The hash of a complete subtree is stored with the leaf that completes it. Leaf 5 (the sixth) completes itself and
//! the pair 4–5, so its row has two hashes; leaf 7's row has four. The average is two hashes per leaf. They are
//! written once and need no pages of their own: an append writes one row, and a proof reads about one row per level.

use crate::hash::{HASH_BYTES, Hash};

/// A source of the hashes of complete subtrees.
pub trait Nodes {
    /// Error for a hash that cannot be read.
    type Error;

    /// Returns the hash of the subtree of `2^level` leaves that starts at leaf `index << level`.
    fn node(&self, level: u32, index: u64) -> Result<Hash, Self::Error>;
}

/// A tree's right edge, which is enough to append leaves and to compute the root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    /// Complete subtrees from left to right, largest first: one for each bit of `size`.
    peaks: Vec<Hash>,
}

impl Frontier {
    /// Creates a tree without leaves.
    pub fn new() -> Self {
        Self::default()
    }

    /// Loads the right edge of the tree with this size from its stored hashes.
    pub fn load<N: Nodes>(nodes: &N, size: u64) -> Result<Self, N::Error> {
        let peaks = peaks(size).map(|(level, index)| nodes.node(level, index)).collect::<Result<_, _>>()?;
        Ok(Self { size, peaks })
    }

    /// Restores the right edge of a tree from its size and its [`peaks`](Self::peaks); `None` if their number does not
    /// fit the size.
    pub fn from_peaks(size: u64, peaks: Vec<Hash>) -> Option<Self> {
        let expected = usize::try_from(size.count_ones()).ok()?;
        (peaks.len() == expected).then_some(Self { size, peaks })
    }

    /// Returns the number of leaves.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the hashes of the complete subtrees from left to right, largest first: one for each bit of the size.
    pub fn peaks(&self) -> &[Hash] {
        &self.peaks
    }

    /// Appends a leaf's hash. Adds the hashes of the subtrees that it completes to `completed`, the leaf's own first.
    pub fn push(&mut self, leaf: Hash, completed: &mut Vec<Hash>) {
        let mut hash = leaf;
        completed.push(hash);
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.peaks.pop() {
                hash = Hash::of_node(left, hash);
                completed.push(hash);
            }
        }
        self.peaks.push(hash);
        self.size += 1;
    }

    /// Returns the root hash.
    pub fn root(&self) -> Hash {
        let mut peaks = self.peaks.iter().rev().copied();
        peaks
            .next()
            .map_or_else(Hash::empty_root, |last| peaks.fold(last, |right, left| Hash::of_node(left, right)))
    }
}

/// Returns the level and index of each complete subtree in a tree of this size, largest first.
fn peaks(size: u64) -> impl Iterator<Item = (u32, u64)> {
    let levels = (0..u64::BITS).rev().filter(move |level| size >> level & 1 == 1);
    levels.map(move |level| (level, (size >> level) - 1))
}

/// Returns the leaf whose row contains the hash of a subtree.
pub fn holding_leaf(level: u32, index: u64) -> u64 {
    ((index + 1) << level) - 1
}

/// Returns the hash at a level, from the hashes that a leaf completes.
pub fn hash_at_level(completed: &[u8], level: u32) -> Option<Hash> {
    let start = usize::try_from(level).ok()?.checked_mul(HASH_BYTES)?;
    completed.get(start..start.checked_add(HASH_BYTES)?).and_then(Hash::from_slice)
}

/// Returns the number of hashes in a leaf's row.
pub fn completed_hashes(seq: u64) -> u32 {
    seq.trailing_ones() + 1
}

/// Returns the root of the tree with this size.
pub fn root<N: Nodes>(nodes: &N, size: u64) -> Result<Hash, N::Error> {
    Ok(Frontier::load(nodes, size)?.root())
}

/// Returns the hash of leaves `from..to`, where `from` is a multiple of the largest power of two that fits.
fn range_hash<N: Nodes>(nodes: &N, from: u64, to: u64) -> Result<Hash, N::Error> {
    let length = to - from;
    if length.is_power_of_two() {
        let level = length.trailing_zeros();
        return nodes.node(level, from >> level);
    }
    let split = from + split_point(length);
    Ok(Hash::of_node(range_hash(nodes, from, split)?, range_hash(nodes, split, to)?))
}

/// Returns the largest power of two below `length`, which is at least two.
fn split_point(length: u64) -> u64 {
    1 << (u64::BITS - 1 - (length - 1).leading_zeros())
}

/// Returns the path from a leaf to the root of the tree of `size` leaves; `None` if the leaf does not exist.
pub fn inclusion_proof<N: Nodes>(nodes: &N, seq: u64, size: u64) -> Result<Option<Vec<Hash>>, N::Error> {
    if seq >= size {
        return Ok(None);
    }
    let (mut from, mut to, mut path) = (0, size, Vec::new());
    while to - from > 1 {
        let middle = from + split_point(to - from);
        if seq < middle {
            path.push(range_hash(nodes, middle, to)?);
            to = middle;
        } else {
            path.push(range_hash(nodes, from, middle)?);
            from = middle;
        }
    }
    path.reverse();
    Ok(Some(path))
}

/// Returns the proof that the tree of `size` leaves extends that of `old` leaves; `None` if `size` is smaller.
pub fn consistency_proof<N: Nodes>(nodes: &N, old: u64, size: u64) -> Result<Option<Vec<Hash>>, N::Error> {
    if old > size {
        return Ok(None);
    }
    if old == 0 || old == size {
        return Ok(Some(Vec::new()));
    }
    let (mut from, mut to, mut proof) = (0, size, Vec::new());
    while old != to {
        let middle = from + split_point(to - from);
        if old <= middle {
            proof.push(range_hash(nodes, middle, to)?);
            to = middle;
        } else {
            proof.push(range_hash(nodes, from, middle)?);
            from = middle;
        }
    }
    // The left edge is the old tree itself; the proof does not need its hash.
    if from != 0 {
        proof.push(range_hash(nodes, from, to)?);
    }
    proof.reverse();
    Ok(Some(proof))
}
