// SPDX-License-Identifier: Apache-2.0 OR MIT

//! FNV-1a: stable across versions and machines, which the standard hashers do not promise, and known to the
//! compiler.

/// What a hash begins with.
pub(crate) const START: u64 = 0xcbf2_9ce4_8422_2325;

/// Goes on with these bytes.
#[expect(clippy::indexing_slicing, reason = "the index is below the length")]
pub(crate) const fn hash(mut hash: u64, bytes: &[u8]) -> u64 {
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
    fn it_is_the_one_that_everybody_knows() {
        assert_eq!(hash(START, b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(START, b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash(hash(START, b"foo"), b"bar"), 0x8594_4171_f739_67e8);
    }
}
