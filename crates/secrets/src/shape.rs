// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Matches parts of tokens: fixed text and runs of characters.

use std::ops::Range;

/// The characters that a run may consist of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenAlphabet {
    Digits,
    /// Digits and `a` to `f`, in either case.
    Hex,
    /// Upper-case letters and digits.
    Capitals,
    /// Upper-case letters and the digits from 2 to 7.
    Base32,
    /// Letters and digits.
    Base62,
    /// Letters, digits and `_`.
    Word,
    /// Letters, digits, `-` and `_`.
    Url,
    /// Letters, digits, `+` and `/`.
    Base64,
    /// Letters, digits, `-`, `_`, `+`, `/`, `=` and `%`.
    Any64,
}

/// A part of a token.
#[derive(Debug, Clone, Copy)]
pub(super) enum TokenPart {
    /// Exactly this text.
    Text(&'static str),
    /// A run of characters with its minimum and maximum length. A longer run does not match.
    Run(TokenAlphabet, usize, usize),
}

// === impl TokenAlphabet ===

impl TokenAlphabet {
    pub(super) fn contains(self, byte: u8) -> bool {
        match self {
            Self::Digits => byte.is_ascii_digit(),
            Self::Hex => byte.is_ascii_hexdigit(),
            Self::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Base32 => byte.is_ascii_uppercase() || matches!(byte, b'2'..=b'7'),
            Self::Base62 => byte.is_ascii_alphanumeric(),
            Self::Word => byte.is_ascii_alphanumeric() || byte == b'_',
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'),
            Self::Any64 => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'+' | b'/' | b'=' | b'%')
            }
        }
    }

    /// Returns the length of the run of these characters that begins at `from`, counted up to a limit.
    pub(super) fn run_len(self, bytes: &[u8], from: usize, limit: usize) -> usize {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take(limit).take_while(|byte| self.contains(**byte)).count()
    }
}

/// Returns the end of the parts if they match at `from`. Sets `read` to the end of the last run that was examined.
pub(super) fn match_parts(bytes: &[u8], from: usize, parts: &[TokenPart], read: &mut usize) -> Option<usize> {
    let mut at = from;
    for part in parts {
        at += match part {
            TokenPart::Text(text) => bytes.get(at..)?.starts_with(text.as_bytes()).then_some(text.len())?,
            TokenPart::Run(alphabet, min, max) => {
                let length = alphabet.run_len(bytes, at, max + 1);
                *read = at + length;
                (*min..=*max).contains(&length).then_some(length)?
            }
        };
    }
    Some(at)
}

/// Whether a token can begin at a position. It cannot begin in the middle of a word.
pub(super) fn can_begin_at(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|at| bytes.get(at)) else { return true };
    let sign = bytes.get(at).is_some_and(|first| !TokenAlphabet::Url.contains(*first));
    if sign || !TokenAlphabet::Url.contains(*before) {
        return true;
    }
    // The preceding character may be the end of `\n`, `\t` or `\r` in quoted text, or of `%3D` in a URL.
    let at_back = |back: usize| at.checked_sub(back).and_then(|at| bytes.get(at));
    matches!(before, b'n' | b't' | b'r') && at_back(2) == Some(&b'\\')
        || before.is_ascii_hexdigit() && at_back(3) == Some(&b'%')
}

/// Whether a token can end at a position. It can if no word character follows.
pub(super) fn can_end_at(bytes: &[u8], at: usize) -> bool {
    !bytes.get(at).is_some_and(|byte| TokenAlphabet::Word.contains(*byte))
}

/// Returns the bytes of a span; empty if it is out of bounds.
pub(super) fn span_bytes(bytes: &[u8], span: Range<usize>) -> &[u8] {
    bytes.get(span).unwrap_or_default()
}
