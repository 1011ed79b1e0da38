// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The Merkle tree of RFC 6962, and where its hashes are kept.
//!
//! Every hash of a complete subtree is kept with the leaf that completes it: leaf 5 (the sixth)
//! completes itself and the pair 4–5, so its row holds two hashes; leaf 7 holds four. That is two
//! hashes a leaf on average, written once, never changed, and no page of their own: an append
//! touches nothing but its own row, and a proof reads about one row for each level of the tree.

use crate::hash::{HASH_BYTES, Hash};

/// Where hashes of complete subtrees come from.
pub trait Nodes {
    /// Why a hash could not be had.
    type Error;

    /// The hash of the subtree of `2^level` leaves that starts at leaf `index << level`.
    fn node(&self, level: u32, index: u64) -> Result<Hash, Self::Error>;
}

/// The right edge of a tree: enough to append to it and to know its root.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    /// Complete subtrees from left to right, largest first: one for each bit of `size`.
    peaks: Vec<Hash>,
}

// === impl Frontier ===

impl Frontier {
    /// A tree without leaves.
    pub fn new() -> Self {
        Self::default()
    }

    /// The right edge of the tree of this size, from its stored hashes.
    pub fn load<N: Nodes>(nodes: &N, size: u64) -> Result<Self, N::Error> {
        let peaks = peaks(size).map(|(level, index)| nodes.node(level, index)).collect::<Result<_, _>>()?;
        Ok(Self { size, peaks })
    }

    /// How many leaves there are.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Appends a leaf by its hash. `completed` gets the hashes of the subtrees it completes, from
    /// the leaf itself upwards.
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

    /// The root hash.
    pub fn root(&self) -> Hash {
        let mut peaks = self.peaks.iter().rev().copied();
        peaks
            .next()
            .map_or_else(Hash::of_nothing, |last| peaks.fold(last, |right, left| Hash::of_node(left, right)))
    }
}

/// The complete subtrees of a tree of this size, largest first: their level and index.
fn peaks(size: u64) -> impl Iterator<Item = (u32, u64)> {
    let levels = (0..u64::BITS).rev().filter(move |level| size >> level & 1 == 1);
    levels.map(move |level| (level, (size >> level) - 1))
}

/// Which leaf's row holds the hash of a subtree.
pub fn keeper(level: u32, index: u64) -> u64 {
    ((index + 1) << level) - 1
}

/// The hash of one level out of what a leaf completed.
pub fn at_level(completed: &[u8], level: u32) -> Option<Hash> {
    let start = usize::try_from(level).ok()?.checked_mul(HASH_BYTES)?;
    completed.get(start..start.checked_add(HASH_BYTES)?).and_then(Hash::from_slice)
}

/// How many hashes the row of a leaf holds.
pub fn completes(seq: u64) -> u32 {
    seq.trailing_ones() + 1
}

/// The root of the tree of this size.
pub fn root<N: Nodes>(nodes: &N, size: u64) -> Result<Hash, N::Error> {
    Ok(Frontier::load(nodes, size)?.root())
}

/// The hash of leaves `from..to`, where `from` is a multiple of the largest power of two that fits.
fn range<N: Nodes>(nodes: &N, from: u64, to: u64) -> Result<Hash, N::Error> {
    let length = to - from;
    if length.is_power_of_two() {
        let level = length.trailing_zeros();
        return nodes.node(level, from >> level);
    }
    let split = from + split(length);
    Ok(Hash::of_node(range(nodes, from, split)?, range(nodes, split, to)?))
}

/// The largest power of two below `length`, which is at least two.
fn split(length: u64) -> u64 {
    1 << (u64::BITS - 1 - (length - 1).leading_zeros())
}

/// The path from a leaf to the root of the tree of `size` leaves; nothing when there is no such leaf.
pub fn inclusion<N: Nodes>(nodes: &N, seq: u64, size: u64) -> Result<Option<Vec<Hash>>, N::Error> {
    if seq >= size {
        return Ok(None);
    }
    let (mut from, mut to, mut path) = (0, size, Vec::new());
    while to - from > 1 {
        let middle = from + split(to - from);
        if seq < middle {
            path.push(range(nodes, middle, to)?);
            to = middle;
        } else {
            path.push(range(nodes, from, middle)?);
            from = middle;
        }
    }
    path.reverse();
    Ok(Some(path))
}

/// The proof that the tree of `size` leaves extends that of `old` leaves; nothing when it is smaller.
pub fn consistency<N: Nodes>(nodes: &N, old: u64, size: u64) -> Result<Option<Vec<Hash>>, N::Error> {
    if old > size {
        return Ok(None);
    }
    if old == 0 || old == size {
        return Ok(Some(Vec::new()));
    }
    let (mut from, mut to, mut proof) = (0, size, Vec::new());
    while old != to {
        let middle = from + split(to - from);
        if old <= middle {
            proof.push(range(nodes, middle, to)?);
            to = middle;
        } else {
            proof.push(range(nodes, from, middle)?);
            from = middle;
        }
    }
    // The old tree itself needs no proof when it is the left edge.
    if from != 0 {
        proof.push(range(nodes, from, to)?);
    }
    proof.reverse();
    Ok(Some(proof))
}
