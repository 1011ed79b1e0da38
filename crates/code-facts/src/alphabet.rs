// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decodes base32, base64 and hexadecimal text. Other characters are ignored.

/// Decodes base32 text.
pub fn decode_base32(text: &str) -> String {
    let digits = text.chars().filter_map(|c| match c.to_ascii_uppercase() {
        c @ 'A'..='Z' => Some(u32::from(c) - u32::from('A')),
        c @ '2'..='7' => Some(u32::from(c) - u32::from('2') + 26),
        _ => None,
    });
    decode_digits(digits, 5)
}

/// Decodes base64 text.
pub fn decode_base64(text: &str) -> String {
    let digits = text.chars().filter_map(|c| match c {
        'A'..='Z' => Some(u32::from(c) - u32::from('A')),
        'a'..='z' => Some(u32::from(c) - u32::from('a') + 26),
        '0'..='9' => Some(u32::from(c) - u32::from('0') + 52),
        '+' | '-' => Some(62),
        '/' | '_' => Some(63),
        _ => None,
    });
    decode_digits(digits, 6)
}

/// Decodes hexadecimal digits.
pub fn decode_hex(text: &str) -> String {
    decode_digits(text.chars().filter_map(|c| c.to_digit(16)), 4)
}

/// Packs digits of `bits` bits each into bytes, and decodes those as UTF-8.
fn decode_digits(digits: impl Iterator<Item = u32>, bits: u32) -> String {
    let (mut held, mut count, mut out) = (0u32, 0u32, Vec::new());
    for digit in digits {
        held = (held << bits | digit) & 0xffff;
        count += bits;
        if count >= 8 {
            count -= 8;
            out.extend(u8::try_from(held >> count & 0xff));
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_become_the_text_they_stand_for() {
        assert_eq!(decode_base64("cm0gLXJmIC8=\n"), "rm -rf /");
        assert_eq!(decode_hex("726d 202d7266"), "rm -rf");
    }
}
