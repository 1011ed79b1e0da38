// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Texts that are written in another alphabet: `echo cm0gLXJmIC8= | base64 -d | sh`.

use super::word::Word;

/// What a program turns a text into, if it is one that decodes.
pub(super) fn decoder(program: &str, words: &[Word]) -> Option<fn(&str) -> String> {
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.text.as_str()));
    match program {
        "base64" | "gbase64" if has(&["-d", "-D", "--decode", "-di", "-id"]) => Some(base64),
        "openssl" if has(&["base64", "-base64", "-a"]) && has(&["-d"]) => Some(base64),
        "xxd" if has(&["-r", "-rp", "-pr"]) => Some(hex),
        "rev" => {
            Some(|text| text.lines().map(|line| line.chars().rev().collect::<String>() + "\n").collect())
        }
        _ => None,
    }
}

fn base64(text: &str) -> String {
    let digits = text.chars().filter_map(|c| match c {
        'A'..='Z' => Some(u32::from(c) - u32::from('A')),
        'a'..='z' => Some(u32::from(c) - u32::from('a') + 26),
        '0'..='9' => Some(u32::from(c) - u32::from('0') + 52),
        '+' | '-' => Some(62),
        '/' | '_' => Some(63),
        _ => None,
    });
    bytes(digits, 6)
}

fn hex(text: &str) -> String {
    bytes(text.chars().filter_map(|c| c.to_digit(16)), 4)
}

/// Digits of so many bits each → bytes → text.
fn bytes(digits: impl Iterator<Item = u32>, bits: u32) -> String {
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
        assert_eq!(base64("cm0gLXJmIC8=\n"), "rm -rf /");
        assert_eq!(hex("726d 202d7266"), "rm -rf");
    }
}
