// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The tree and its proofs agree with an independent implementation.

use std::cell::RefCell;

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use proptest::prelude::*;
use tenterhook_ledger::proof::{check_consistency, check_inclusion};
use tenterhook_ledger::tree::{self, Frontier, Nodes, completed_hashes, hash_at_level, holding_leaf};
use tenterhook_ledger::{HASH_BYTES, Hash};

/// Leaf rows in memory, with a counter of reads.
#[derive(Default)]
struct Rows {
    rows: Vec<Vec<u8>>,
    reads: RefCell<u64>,
}

impl Nodes for Rows {
    type Error = std::convert::Infallible;

    fn node(&self, level: u32, index: u64) -> Result<Hash, Self::Error> {
        *self.reads.borrow_mut() += 1;
        let row = usize::try_from(holding_leaf(level, index)).unwrap();
        Ok(hash_at_level(&self.rows[row], level).unwrap())
    }
}

fn leaf(number: u64) -> Vec<u8> {
    format!("leaf {number}").into_bytes()
}

struct BothTrees {
    rows: Rows,
    frontier: Frontier,
    other: MemoryBackedTree<sha2::Sha256, Vec<u8>>,
}

fn build_trees(size: u64) -> BothTrees {
    let (mut rows, mut frontier, mut other) = (Rows::default(), Frontier::new(), MemoryBackedTree::new());
    for number in 0..size {
        let mut completed = Vec::new();
        frontier.push(Hash::of_leaf(&leaf(number)), &mut completed);
        assert_eq!(completed.len(), completed_hashes(number) as usize);
        rows.rows.push(completed.iter().flat_map(|hash| hash.0).collect());
        other.push(leaf(number));
    }
    BothTrees { rows, frontier, other }
}

fn hashes(bytes: &[u8]) -> Vec<Hash> {
    bytes.chunks(HASH_BYTES).map(|hash| Hash::from_slice(hash).unwrap()).collect()
}

/// Compares the roots, inclusion proofs and consistency proofs of one tree with those of the other implementation.
fn compare(both: &BothTrees, seqs: &[u64], olds: &[u64]) {
    let size = both.frontier.size();
    let root = both.frontier.root();
    assert_eq!(root.0.as_slice(), both.other.root().as_bytes().as_slice(), "root of {size}");
    assert_eq!(Ok(root), tree::root(&both.rows, size));
    for &seq in seqs {
        let path = tree::inclusion_proof(&both.rows, seq, size).unwrap().unwrap();
        let theirs = both.other.prove_inclusion(usize::try_from(seq).unwrap());
        assert_eq!(path, hashes(theirs.as_bytes()), "path of {seq} in {size}");
        check_inclusion(Hash::of_leaf(&leaf(seq)), seq, size, &path, root).unwrap();
    }
    for &old in olds {
        let proof = tree::consistency_proof(&both.rows, old, size).unwrap().unwrap();
        let theirs = both.other.prove_consistency(usize::try_from(size - old).unwrap());
        assert_eq!(proof, hashes(theirs.as_bytes()), "consistency of {old} with {size}");
        let old_root = tree::root(&both.rows, old).unwrap();
        check_consistency((old, old_root), (size, root), &proof).unwrap();
    }
}

#[test]
fn every_small_tree_agrees_in_every_proof() {
    for size in 1..=70 {
        compare(&build_trees(size), &(0..size).collect::<Vec<_>>(), &(1..=size).collect::<Vec<_>>());
    }
}

#[test]
fn a_tree_of_a_hundred_thousand_agrees() {
    let both = build_trees(100_000);
    let some: Vec<u64> =
        (0..300).map(|number| number * 7919 % 100_000).chain([0, 65_535, 65_536, 99_999]).collect();
    let olds: Vec<u64> = some.iter().map(|number| number + 1).collect();
    compare(&both, &some, &olds);
}

#[test]
fn a_proof_reads_few_hashes() {
    let size = 9_999;
    let both = build_trees(size);
    for seq in [0, 5_000, 9_998] {
        *both.rows.reads.borrow_mut() = 0;
        tree::inclusion_proof(&both.rows, seq, size).unwrap();
        // A proof reads one hash for each level, and the hashes of the right edge.
        assert!(*both.rows.reads.borrow() <= 28, "{seq}: {}", both.rows.reads.borrow());
    }
}

#[test]
fn the_empty_tree_and_proofs_that_do_not_exist() {
    let both = build_trees(3);
    assert_eq!(Frontier::new().root().to_string(), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
    assert_eq!(tree::inclusion_proof(&both.rows, 3, 3), Ok(None));
    assert_eq!(tree::consistency_proof(&both.rows, 4, 3), Ok(None));
    assert_eq!(tree::consistency_proof(&both.rows, 0, 3), Ok(Some(vec![])));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn random_trees_agree(size in 1u64..2000, seq in any::<prop::sample::Index>(), old in any::<prop::sample::Index>()) {
        let limit = usize::try_from(size).unwrap();
        compare(&build_trees(size), &[seq.index(limit) as u64], &[old.index(limit) as u64 + 1]);
    }

    #[test]
    fn a_changed_path_proves_nothing(size in 2u64..600, seq in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), bit in 0u8..8, byte in 0usize..32) {
        let both = build_trees(size);
        let seq = seq.index(usize::try_from(size).unwrap()) as u64;
        let (root, leaf) = (both.frontier.root(), Hash::of_leaf(&leaf(seq)));
        let path = tree::inclusion_proof(&both.rows, seq, size).unwrap().unwrap();
        let mut changed = path.clone();
        let at = at.index(changed.len());
        changed[at].0[byte] ^= 1 << bit;
        prop_assert!(check_inclusion(leaf, seq, size, &changed, root).is_err());
        prop_assert!(check_inclusion(leaf, seq, size, &path[1..], root).is_err());
        let longer: Vec<Hash> = path.iter().copied().chain([root]).collect();
        prop_assert!(check_inclusion(leaf, seq, size, &longer, root).is_err());
        let elsewhere = (seq + 1) % size;
        prop_assert!(check_inclusion(leaf, elsewhere, size, &path, root).is_err());
    }

    #[test]
    fn a_changed_history_is_not_consistent(size in 2u64..600, old in any::<prop::sample::Index>(), bit in 0u8..8) {
        let both = build_trees(size);
        let old = old.index(usize::try_from(size - 1).unwrap()) as u64 + 1;
        let (old_root, root) = (tree::root(&both.rows, old).unwrap(), both.frontier.root());
        let proof = tree::consistency_proof(&both.rows, old, size).unwrap().unwrap();
        let mut other = old_root;
        other.0[0] ^= 1 << bit;
        prop_assert!(check_consistency((old, other), (size, root), &proof).is_err());
        prop_assert!(check_consistency((old, old_root), (size, other), &proof).is_err());
        prop_assert!(check_consistency((old, old_root), (size, root), &proof[1..]).is_err());
        let mut changed = proof.clone();
        changed[0].0[31] ^= 1 << bit;
        prop_assert!(check_consistency((old, old_root), (size, root), &changed).is_err());
    }
}

#[test]
fn a_right_edge_is_restored_from_its_peaks() {
    let (mut tree, mut completed) = (Frontier::new(), Vec::new());
    for number in 0..100u64 {
        let restored = Frontier::from_peaks(tree.size(), tree.peaks().to_vec()).unwrap();
        assert_eq!(restored, tree);
        assert_eq!(
            Frontier::from_peaks(tree.size() + 1, [tree.peaks(), &[Hash([0; 32])]].concat()).is_some(),
            (tree.size() + 1).count_ones() == tree.size().count_ones() + 1
        );
        tree.push(Hash::of_leaf(&number.to_be_bytes()), &mut completed);
    }
    assert!(Frontier::from_peaks(3, Vec::new()).is_none());
}
