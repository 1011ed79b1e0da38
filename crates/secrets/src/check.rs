// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Checks whether text in the form of a token is plausible.

use super::shape::TokenAlphabet;

/// A property that a token must have beyond its form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenCheck {
    /// The token has enough different characters and is not a placeholder.
    Varied,
    /// The token also has upper-case letters, lower-case letters and digits.
    Mixed,
    /// The last six characters are the checksum of the characters between prefix and checksum.
    Checksum,
}

impl TokenCheck {
    /// Whether the part after the prefix passes the check.
    pub(super) fn passes(self, token: &[u8]) -> bool {
        match self {
            Self::Varied => is_varied(token) && !is_placeholder(token),
            Self::Mixed => is_mixed(token) && Self::Varied.passes(token),
            Self::Checksum => token.split_last_chunk::<6>().is_some_and(|(body, sum)| *sum == checksum(body)),
        }
    }
}

/// Substrings that mark a placeholder.
const PLACEHOLDERS: &[&[u8]] = &[
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

/// Whether the text is a placeholder for a secret.
pub(super) fn is_placeholder(token: &[u8]) -> bool {
    let same = |window: &[u8], part: &[u8]| window.eq_ignore_ascii_case(part);
    PLACEHOLDERS.iter().any(|part| token.windows(part.len()).any(|window| same(window, part)))
}

/// Whether the token has about as many different characters as a random one.
fn is_varied(token: &[u8]) -> bool {
    // Sixteen random hexadecimal digits contain ten different ones on average.
    distinct_bytes(token) >= (token.len() / 3).clamp(5, 8)
}

pub(super) fn distinct_bytes(token: &[u8]) -> usize {
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

/// Returns the Shannon entropy in bits per byte.
pub(super) fn entropy_bits(text: &[u8]) -> f64 {
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

/// Whether the text is a UUID, which identifies something but is not secret.
pub(super) fn is_uuid(text: &[u8]) -> bool {
    let dash = |at: usize| matches!(at, 8 | 13 | 18 | 23);
    let fits =
        |(at, byte): (usize, &u8)| if dash(at) { *byte == b'-' } else { TokenAlphabet::Hex.contains(*byte) };
    text.len() == 36 && text.iter().enumerate().all(fits)
}

/// Returns the CRC-32 of the text as six base-62 digits, as in GitHub and npm tokens.
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
