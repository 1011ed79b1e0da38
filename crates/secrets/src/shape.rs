// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What tokens are made of.

use std::ops::Range;

/// The letters of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Letters {
    Digits,
    /// Digits and `a` to `f`, in either case.
    Hex,
    /// Capitals and digits.
    Capitals,
    /// Capitals and the digits from 2 to 7.
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
pub(super) enum Part {
    /// This text.
    Text(&'static str),
    /// So many letters, and not one more.
    Run(Letters, usize, usize),
}

// === impl Letters ===

impl Letters {
    pub(super) fn has(self, byte: u8) -> bool {
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

    /// How many of these letters follow, counted up to a limit.
    pub(super) fn run(self, bytes: &[u8], from: usize, limit: usize) -> usize {
        let rest = bytes.get(from..).unwrap_or_default();
        rest.iter().take(limit).take_while(|byte| self.has(**byte)).count()
    }
}

/// Where the parts end that begin here, and how far was read to tell; `None` if they do not follow.
pub(super) fn follow(bytes: &[u8], from: usize, parts: &[Part], read: &mut usize) -> Option<usize> {
    let mut at = from;
    for part in parts {
        at += match part {
            Part::Text(text) => bytes.get(at..)?.starts_with(text.as_bytes()).then_some(text.len())?,
            Part::Run(letters, least, most) => {
                let length = letters.run(bytes, at, most + 1);
                *read = at + length;
                (*least..=*most).contains(&length).then_some(length)?
            }
        };
    }
    Some(at)
}

/// Whether a token can begin here: not in the middle of a word.
pub(super) fn begins(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|at| bytes.get(at)) else { return true };
    let sign = bytes.get(at).is_some_and(|first| !Letters::Url.has(*first));
    if sign || !Letters::Url.has(*before) {
        return true;
    }
    // The end of `\n`, `\t` or `\r` in a quoted text, or of `%3D` in an address.
    let at_back = |back: usize| at.checked_sub(back).and_then(|at| bytes.get(at));
    matches!(before, b'n' | b't' | b'r') && at_back(2) == Some(&b'\\')
        || before.is_ascii_hexdigit() && at_back(3) == Some(&b'%')
}

/// Whether a word ends here.
pub(super) fn ends(bytes: &[u8], at: usize) -> bool {
    !bytes.get(at).is_some_and(|byte| Letters::Word.has(*byte))
}

/// The bytes of a span; empty when it is out of bounds.
pub(super) fn part(bytes: &[u8], span: Range<usize>) -> &[u8] {
    bytes.get(span).unwrap_or_default()
}
