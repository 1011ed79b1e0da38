// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Decodes the escape sequences of `$'…'`.

/// Decodes the text; the flag says whether the result is exact.
pub(super) fn decode_ansi(text: &str) -> (Box<str>, bool) {
    if !text.contains('\\') {
        return (text.into(), true);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    let mut is_exact = true;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        if *byte != b'\\' {
            bytes.push(*byte);
            continue;
        }
        let Some((escape, after)) = rest.split_first() else {
            bytes.push(b'\\');
            break;
        };
        rest = after;
        match escape {
            b'a' => bytes.push(7),
            b'b' => bytes.push(8),
            b'e' | b'E' => bytes.push(27),
            b'f' => bytes.push(12),
            b'n' => bytes.push(b'\n'),
            b'r' => bytes.push(b'\r'),
            b't' => bytes.push(b'\t'),
            b'v' => bytes.push(11),
            b'\\' | b'\'' | b'"' | b'?' => bytes.push(*escape),
            b'0'..=b'7' => {
                let (more, after) = digits(rest, 2, 8);
                rest = after;
                let first = u32::from(escape - b'0');
                let value = more.iter().fold(first, |value, digit| value * 8 + digit);
                is_exact &= value % 256 != 0;
                bytes.push((value % 256).try_into().unwrap_or_default());
            }
            b'x' => {
                let (more, after) = digits(rest, 2, 16);
                // `\x{…}` and `\x` without digits differ between shells.
                is_exact &= !more.is_empty();
                rest = after;
                let value = more.iter().fold(0, |value, digit| value * 16 + digit);
                is_exact &= value != 0;
                bytes.push(value.try_into().unwrap_or_default());
            }
            b'u' | b'U' => {
                let (more, after) = digits(rest, if *escape == b'u' { 4 } else { 8 }, 16);
                rest = after;
                let value =
                    more.iter().fold(0_u32, |value, digit| value.wrapping_mul(16).wrapping_add(*digit));
                let letter = char::from_u32(value).filter(|_| value != 0 && !more.is_empty());
                is_exact &= letter.is_some();
                let mut buffer = [0; 4];
                bytes.extend(letter.unwrap_or('\u{fffd}').encode_utf8(&mut buffer).bytes());
            }
            b'c' => {
                is_exact &= rest.first().is_some_and(u8::is_ascii_alphabetic);
                if let Some((control, after)) = rest.split_first() {
                    bytes.push(control & 0x1f);
                    rest = after;
                }
            }
            other => bytes.extend([b'\\', *other]),
        }
    }
    match String::from_utf8(bytes) {
        Ok(text) => (text.into(), is_exact),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into(), false),
    }
}

/// Reads up to `most` digits; returns them and the remaining bytes.
fn digits(bytes: &[u8], most: usize, radix: u32) -> (Vec<u32>, &[u8]) {
    let found: Vec<u32> =
        bytes.iter().take(most).map_while(|byte| char::from(*byte).to_digit(radix)).collect();
    let rest = bytes.get(found.len()..).unwrap_or_default();
    (found, rest)
}
