// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Filters texts by letter pairs: a cheap way to determine that a regular expression cannot match a text.

/// Size of the filter in bits.
const PAIR_BITS: usize = 1024;

/// The set of adjacent letter pairs in some texts, ignoring case. Several pairs share a bit, so a pair that is
/// reported as present may be absent.
#[derive(Debug, Clone)]
pub struct LetterPairs {
    bits: [u64; PAIR_BITS / 64],
    /// Whether all texts are ASCII. Other texts can match without containing the same letters.
    is_ascii: bool,
}

impl LetterPairs {
    /// Collects the pairs of all these texts.
    pub fn new<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let mut all = Self { bits: [0; PAIR_BITS / 64], is_ascii: true };
        for text in texts {
            all.is_ascii &= text.is_ascii();
            for pair in text.as_bytes().windows(2) {
                let (word, bit) = bit_of(pair);
                if let Some(word) = all.bits.get_mut(word) {
                    *word |= bit;
                }
            }
        }
        all
    }

    /// Whether one of the texts may contain this substring.
    pub fn may_contain(&self, letters: &str) -> bool {
        let has = |pair: &[u8]| {
            let (word, bit) = bit_of(pair);
            self.bits.get(word).is_some_and(|word| word & bit != 0)
        };
        !self.is_ascii || letters.as_bytes().windows(2).all(has)
    }
}

/// Returns the bit of a pair: the index of its word, and the mask in that word.
fn bit_of(pair: &[u8]) -> (usize, u64) {
    let number = pair.iter().fold(0, |number, letter| number * 37 + usize::from(letter.to_ascii_lowercase()));
    (number % PAIR_BITS / 64, 1 << (number % 64))
}
