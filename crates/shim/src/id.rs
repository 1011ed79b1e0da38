// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Creates the id of an event: a ULID.

use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Creates an id. The standard library has no random number generator, but it seeds its hash tables with 128 random
/// bits from the operating system. A hash with such a key is random enough for unique ids.
pub fn mint() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let key = RandomState::new();
    let random = u128::from(key.hash_one(0u8)) << 64 | u128::from(key.hash_one(1u8));
    of(now.as_millis(), random)
}

/// Encodes 48 bits of milliseconds and 80 bits of randomness as 26 characters that sort by time.
fn of(unix_ms: u128, random: u128) -> String {
    let number = (unix_ms & ((1 << 48) - 1)) << 80 | random & ((1 << 80) - 1);
    let digit = |layout: u32| {
        let digit = usize::try_from(number >> (5 * layout) & 31).unwrap_or(0);
        char::from(ALPHABET.get(digit).copied().unwrap_or(b'0'))
    };
    (0..26).rev().map(digit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_example_is_written() {
        let random = 0xD676_4C61_EFB9_9302_BD5B;
        assert_eq!(of(1_469_922_850_259, random), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
        assert_eq!(of(u128::MAX, u128::MAX), "7ZZZZZZZZZZZZZZZZZZZZZZZZZ");
    }

    #[test]
    fn ids_differ() {
        let mut ids: Vec<_> = (0..1000).map(|_| mint()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 1000);
    }
}
