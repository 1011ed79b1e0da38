// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Codes of an authenticator app (RFC 6238 over RFC 4226), and their secret in base32 (RFC 4648).

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;

/// Length of a time step, in seconds.
pub const STEP_SECONDS: u64 = 30;
/// Number of digits of a code.
pub const CODE_DIGITS: usize = 6;
/// Length of a new secret, equal to the length of a SHA-1 hash.
pub const SECRET_BYTES: usize = 20;

const BASE32_ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// The time step that contains the given time.
pub fn step_at(now_ms: u64) -> u64 {
    now_ms / 1000 / STEP_SECONDS
}

/// The code of a time step; `None` if the secret is not a valid key.
pub fn code_at(secret: &[u8], step: u64) -> Option<String> {
    let number = truncated_hmac(secret, step)? % 1_000_000;
    Some(format!("{number:0CODE_DIGITS$}"))
}

/// The time step to which a code belongs. The previous and the next step are tried as well as the current one, because
/// the clocks of two machines differ slightly.
pub fn matching_step(secret: &[u8], given: &str, now_ms: u64) -> Option<u64> {
    let given: String = given.chars().filter(|letter| !letter.is_whitespace()).collect();
    let now = step_at(now_ms);
    let fits =
        |step: u64| code_at(secret, step).is_some_and(|right| is_equal(right.as_bytes(), given.as_bytes()));
    // All three codes are always computed, so that the duration reveals nothing about the match.
    [now, now.saturating_sub(1), now + 1]
        .into_iter()
        .fold(None, |found, step| if fits(step) { Some(step) } else { found })
}

/// The `otpauth:` URI that an authenticator app reads.
pub fn enrolment_uri(secret: &[u8], account: &str) -> String {
    let account: String = account.bytes().map(percent_encode).collect();
    format!("otpauth://totp/Tenterhook:{account}?secret={}&issuer=Tenterhook", encode_base32(secret))
}

/// Encodes bytes in base32, without padding.
pub fn encode_base32(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(5) * 8);
    for chunk in bytes.chunks(5) {
        let bits = chunk.iter().fold(0_u64, |bits, byte| bits << 8 | u64::from(*byte));
        let bits = bits << (8 * (5 - chunk.len()));
        let letters = (chunk.len() * 8).div_ceil(5);
        for at in 0..letters {
            let five = usize::try_from(bits >> (35 - 5 * at) & 31).unwrap_or_default();
            text.push(char::from(BASE32_ALPHABET.get(five).copied().unwrap_or(b'A')));
        }
    }
    text
}

/// Decodes base32, ignoring case, blanks and padding.
pub fn decode_base32(text: &str) -> Option<Vec<u8>> {
    let letters = text.bytes().filter(|byte| !matches!(byte, b' ' | b'-' | b'='));
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for letter in letters {
        let five = BASE32_ALPHABET.iter().position(|known| *known == letter.to_ascii_uppercase())?;
        bits = (bits << 5 | u32::try_from(five).ok()?) & 0xffff;
        held += 5;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xff).ok()?);
        }
    }
    Some(bytes)
}

fn truncated_hmac(secret: &[u8], step: u64) -> Option<u32> {
    let mut mac = Hmac::<Sha1>::new_from_slice(secret).ok()?;
    mac.update(&step.to_be_bytes());
    let hash = mac.finalize().into_bytes();
    let offset = usize::from(hash.last()? & 15);
    let four = hash.get(offset..offset + 4)?.try_into().ok()?;
    Some(u32::from_be_bytes(four) & 0x7fff_ffff)
}

/// Compares in constant time.
fn is_equal(right: &[u8], given: &[u8]) -> bool {
    let differing = right.iter().zip(given).fold(0, |differing, (a, b)| differing | (a ^ b));
    right.len() == given.len() && differing == 0
}

fn percent_encode(byte: u8) -> String {
    if byte.is_ascii_alphanumeric() || b"-._~@".contains(&byte) {
        char::from(byte).to_string()
    } else {
        format!("%{byte:02X}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Test vectors of RFC 6238, appendix B. The published codes have eight digits; the last six are compared.
    #[test]
    fn codes_are_the_published_ones() {
        let secret = b"12345678901234567890";
        for (seconds, expected) in [
            (59, "94287082"),
            (1_111_111_109, "07081804"),
            (1_111_111_111, "14050471"),
            (1_234_567_890, "89005924"),
            (2_000_000_000, "69279037"),
            (20_000_000_000, "65353130"),
        ] {
            let step = step_at(seconds * 1000);
            assert_eq!(format!("{:08}", truncated_hmac(secret, step).unwrap() % 100_000_000), expected);
            assert_eq!(code_at(secret, step).unwrap(), expected.split_at(2).1);
        }
    }

    /// Test vectors of RFC 4226, appendix D.
    #[test]
    fn counters_are_the_published_ones() {
        let expected = ["755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583"];
        for (step, expected) in (0..).zip(expected) {
            assert_eq!(code_at(b"12345678901234567890", step).unwrap(), expected);
        }
    }

    #[test]
    fn a_code_of_the_step_before_or_after_counts_and_no_other() {
        let secret = b"12345678901234567890";
        let now = 1_000 * STEP_SECONDS * 1000;
        for (of, expected) in
            [(998, None), (999, Some(999)), (1000, Some(1000)), (1001, Some(1001)), (1002, None)]
        {
            assert_eq!(matching_step(secret, &code_at(secret, of).unwrap(), now), expected, "{of}");
        }
        let right = code_at(secret, 1000).unwrap();
        let (left, rest) = right.split_at(3);
        assert_eq!(matching_step(secret, &format!(" {left} {rest}\n"), now), Some(1000));
        for wrong in ["", "1", left, &format!("{right}0"), "abcdef"] {
            assert_eq!(matching_step(secret, wrong, now), None, "{wrong}");
        }
    }

    /// Test vectors of RFC 4648, section 10.
    #[test]
    fn base32_is_the_published_one_and_comes_back() {
        for (bytes, text) in [
            ("", ""),
            ("f", "MY"),
            ("fo", "MZXQ"),
            ("foo", "MZXW6"),
            ("foob", "MZXW6YQ"),
            ("fooba", "MZXW6YTB"),
            ("foobar", "MZXW6YTBOI"),
        ] {
            assert_eq!(encode_base32(bytes.as_bytes()), text);
            assert_eq!(decode_base32(text).unwrap(), bytes.as_bytes());
        }
        assert_eq!(decode_base32("mzxw 6ytb-oi======").unwrap(), b"foobar");
        assert_eq!(decode_base32("m1"), None);
    }

    #[test]
    fn an_app_reads_where_the_secret_is_for() {
        let uri = enrolment_uri(b"foobar", "dev on box");
        assert_eq!(uri, "otpauth://totp/Tenterhook:dev%20on%20box?secret=MZXW6YTBOI&issuer=Tenterhook");
    }
}
