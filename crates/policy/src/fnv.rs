// SPDX-License-Identifier: Apache-2.0 OR MIT

//! FNV-1a: stable across versions and machines, which the standard hashers do not promise, and computable in
//! `const` contexts.

/// The FNV-1a offset basis: the hash of no bytes.
pub(crate) const OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// Continues an FNV-1a hash with more bytes.
#[expect(clippy::indexing_slicing, reason = "the index is below the length")]
pub(crate) const fn extend_hash(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0100_0000_01b3);
        at += 1;
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_match_the_published_fnv1a_test_vectors() {
        assert_eq!(extend_hash(OFFSET_BASIS, b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(extend_hash(OFFSET_BASIS, b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(extend_hash(extend_hash(OFFSET_BASIS, b"foo"), b"bar"), 0x8594_4171_f739_67e8);
    }
}
