// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Base 32 as in RFC 4648 without padding, which NATS uses for keys.

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// Encodes bytes in upper-case base 32 without padding.
pub(crate) fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().saturating_mul(8).div_ceil(5));
    let (mut buffer, mut bits) = (0u32, 0u32);
    for byte in bytes {
        buffer = (buffer << 8) | u32::from(*byte);
        bits += 8;
        while bits >= 5 {
            bits -= 5;
            push_digit(&mut text, buffer >> bits);
        }
        buffer &= (1 << bits) - 1;
    }
    if bits > 0 {
        push_digit(&mut text, buffer << (5 - bits));
    }
    text
}

fn push_digit(text: &mut String, value: u32) {
    let digit = usize::try_from(value & 31).ok().and_then(|index| ALPHABET.get(index));
    text.extend(digit.copied().map(char::from));
}

/// Decodes upper-case base 32 without padding; `None` if the text is not in canonical form.
pub(crate) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len().saturating_mul(5) / 8);
    let (mut buffer, mut bits) = (0u32, 0u32);
    for digit in text.bytes() {
        let value = ALPHABET.iter().position(|letter| *letter == digit)?;
        buffer = (buffer << 5) | u32::try_from(value).ok()?;
        bits += 5;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((buffer >> bits) & 0xff).ok()?);
        }
        buffer &= (1 << bits) - 1;
    }
    // Leftover bits must be zero and fewer than a digit, so that each value has one spelling.
    (bits < 5 && buffer == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_examples_of_rfc_4648_are_encoded() {
        for (bytes, text) in [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("foobar", "MZXW6YTBOI"),
        ] {
            assert_eq!(encode(bytes.as_bytes()), text);
            assert_eq!(decode(text).as_deref(), Some(bytes.as_bytes()));
        }
        for text in ["M", "mY", "MZ", "MY======", "M1", "MZXQAA"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_value_has_exactly_one_spelling(bytes: Vec<u8>, text in "[A-Z2-7]{0,40}") {
            prop_assert_eq!(decode(&encode(&bytes)), Some(bytes));
            if let Some(bytes) = decode(&text) {
                prop_assert_eq!(encode(&bytes), text);
            }
        }
    }
}
