// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Whether something that has the form of a secret can be one.

use super::shape::Letters;

/// What a token has to be beyond its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Check {
    /// Of enough different letters, and nothing that stands in for a token.
    Varied,
    /// Also of capitals, small letters and digits.
    Mixed,
    /// The last six letters are the checksum of those between prefix and them.
    Checksum,
}

impl Check {
    /// Whether the part after the prefix passes.
    pub(super) fn passes(self, token: &[u8]) -> bool {
        match self {
            Self::Varied => is_varied(token) && !stands_in(token),
            Self::Mixed => is_mixed(token) && Self::Varied.passes(token),
            Self::Checksum => token.split_last_chunk::<6>().is_some_and(|(body, sum)| *sum == checksum(body)),
        }
    }
}

/// Parts of texts that stand where a secret would.
const STAND_INS: &[&[u8]] = &[
    b"example",
    b"xxxx",
    b"your",
    b"placeholder",
    b"redacted",
    b"dummy",
    b"changeme",
    b"change-me",
    b"change_me",
    b"sample",
    b"insert",
    b"replace",
    b"****",
    b"....",
    b"0123456789",
    b"1234567890",
    b"abcdefghij",
    b"deadbeef",
    b"goes-here",
    b"goes_here",
    b"000000000000",
];

/// Whether the text stands in for a secret.
pub(super) fn stands_in(token: &[u8]) -> bool {
    let same = |window: &[u8], stand_in: &[u8]| window.eq_ignore_ascii_case(stand_in);
    STAND_INS.iter().any(|stand_in| token.windows(stand_in.len()).any(|window| same(window, stand_in)))
}

/// Whether there are about as many different letters as chance would give.
fn is_varied(token: &[u8]) -> bool {
    // Sixteen letters of sixteen kinds show ten of them.
    different(token) >= (token.len() / 3).clamp(5, 8)
}

pub(super) fn different(token: &[u8]) -> usize {
    let mut seen = [0u64; 4];
    for byte in token {
        if let Some(word) = seen.get_mut(usize::from(byte >> 6)) {
            *word |= 1 << (byte & 63);
        }
    }
    seen.iter().map(|word| word.count_ones() as usize).sum()
}

pub(super) fn is_mixed(token: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| token.iter().any(is);
    has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}

/// Bits of surprise in a letter, on average.
pub(super) fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0u32; 256];
    for byte in text {
        if let Some(count) = counts.get_mut(usize::from(*byte)) {
            *count += 1;
        }
    }
    let length = f64::from(u32::try_from(text.len()).unwrap_or(u32::MAX));
    let share = |count: &u32| f64::from(*count) / length;
    counts.iter().filter(|count| **count > 0).map(share).map(|share| -share * share.log2()).sum()
}

/// Whether it is nothing but digits and dashes of a number that only names something.
pub(super) fn is_uuid(text: &[u8]) -> bool {
    let dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    let fits = |(at, byte): (usize, &u8)| if dash(at) { *byte == b'-' } else { Letters::Hex.has(*byte) };
    text.len() == 36 && text.iter().enumerate().all(fits)
}

/// CRC-32 of the text, as six digits to the base of 62: what GitHub and npm put last.
pub(super) fn checksum(body: &[u8]) -> [u8; 6] {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut sum = u32::MAX;
    for byte in body {
        sum ^= u32::from(*byte);
        for _ in 0..8 {
            sum = if sum & 1 == 1 { sum >> 1 ^ 0xedb8_8320 } else { sum >> 1 };
        }
    }
    let mut left = !sum;
    let mut digits = [b'0'; 6];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS.get(left as usize % 62).copied().unwrap_or(b'0');
        left /= 62;
    }
    digits
}
