// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Rewrites spellings of names that a language treats as equal.

use std::borrow::Cow;

/// First of the full-width forms of the printable ASCII characters.
const FULL_WIDTH_START: u32 = 0xFF01;
/// First and last of the mathematical letters, which repeat the alphabet in several styles.
const STYLED_LETTERS: std::ops::RangeInclusive<u32> = 0x1D400..=0x1D6A3;

/// Replaces full-width and styled letters by ASCII letters. Python compares names in the normal form NFKC, in which
/// they are equal.
pub(super) fn fold_wide_letters(code: &str) -> Cow<'_, str> {
    if code.is_ascii() {
        return Cow::Borrowed(code);
    }
    Cow::Owned(code.chars().map(|letter| fold_letter(letter).unwrap_or(letter)).collect())
}

fn fold_letter(letter: char) -> Option<char> {
    let code = u32::from(letter);
    if (FULL_WIDTH_START..=0xFF5E).contains(&code) {
        return char::from_u32(code - FULL_WIDTH_START + u32::from('!'));
    }
    if !STYLED_LETTERS.contains(&code) {
        return None;
    }
    let at = (code - STYLED_LETTERS.start()) % 52;
    let start = if at < 26 { u32::from('A') } else { u32::from('a') - 26 };
    char::from_u32(start + at)
}

/// Replaces `\u0072` and `\u{72}` by the letter or digit that they encode. JavaScript allows them in names and in
/// strings.
pub(super) fn decode_letter_escapes(code: &str) -> Cow<'_, str> {
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some((before, after)) = rest.split_once("\\u") {
        out.push_str(before);
        let (digits, tail) = match after.strip_prefix('{') {
            Some(inner) => {
                inner.split_once('}').filter(|(digits, _)| digits.len() <= 6).unwrap_or(("", after))
            }
            None => after.split_at_checked(4).unwrap_or(("", after)),
        };
        let letter = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
        if let Some(letter) = letter.filter(char::is_ascii_alphanumeric) {
            out.push(letter);
            rest = tail;
        } else {
            out.push_str("\\u");
            rest = after;
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folded_to_their_plain_spelling() {
        assert_eq!(fold_wide_letters("os.ｓｙｓｔｅｍ(\"ä\")"), "os.system(\"ä\")");
        assert_eq!(fold_wide_letters("𝐬𝐲𝑠𝓽"), "syst");
        assert_eq!(decode_letter_escapes(r"f.\u0072m\u{53}ync"), "f.rmSync");
        assert_eq!(decode_letter_escapes(r#""\u0022\uZZ""#), r#""\u0022\uZZ""#);
    }
}
