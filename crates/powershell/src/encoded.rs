// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decodes the value of `-EncodedCommand`: base64 of UTF-16LE.

/// Minimum length of an encoded command. Shorter text is not decoded.
const MIN_ENCODED_LENGTH: usize = 8;

/// Decodes the script that `-EncodedCommand` runs. `None` if the text is not the base64 form of UTF-16LE text.
pub fn decode_encoded_command(text: &str) -> Option<String> {
    let text = text.trim();
    if text.len() < MIN_ENCODED_LENGTH || text.contains(|c: char| c.is_whitespace()) {
        return None;
    }
    let script = decode_utf16(&decode_base64(text)?);
    // Bytes that are not UTF-16 decode to a random mix of non-ASCII characters.
    let odd = script.chars().filter(|c| !c.is_ascii()).count();
    (!script.is_empty() && odd * 4 <= script.chars().count()).then_some(script)
}

/// Decodes UTF-16LE. Invalid units become replacement characters.
pub fn decode_utf16(bytes: &[u8]) -> String {
    let units = bytes.chunks_exact(2).map(|pair| match pair {
        [low, high] => u16::from_le_bytes([*low, *high]),
        _ => 0,
    });
    let script: String =
        char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    script.trim_start_matches('\u{feff}').to_owned()
}

/// Decodes base64. `None` if the text contains another character; white space is ignored, as .NET does.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let (mut bits, mut count) = (0_u32, 0_u32);
    for byte in text.trim_end().trim_end_matches('=').bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff).try_into().unwrap_or_default());
            bits &= (1 << count) - 1;
        }
    }
    Some(bytes)
}
