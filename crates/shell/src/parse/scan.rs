// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Scans bytes, whitespace, comments and line ends.

use std::borrow::Cow;

use super::{ParseResult, ShellParser};
use crate::Dialect;
use crate::ast::Comment;

/// The meaning of a byte in an unquoted word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ByteClass {
    /// A literal byte.
    Plain,
    /// Ends a word: whitespace and operators.
    Ends,
    /// May start a quote, an expansion or a pattern.
    Special,
}

pub(super) fn class(byte: u8) -> ByteClass {
    match byte {
        b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => ByteClass::Ends,
        b'\'' | b'"' | b'$' | b'`' | b'\\' | b'*' | b'?' | b'[' | b'{' | b'~' | b'!' => ByteClass::Special,
        _ => ByteClass::Plain,
    }
}

pub(super) fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl<'t> ShellParser<'t> {
    pub(super) fn is_zsh(&self) -> bool {
        self.options.dialect == Dialect::Zsh
    }

    pub(super) fn is_extended(&self) -> bool {
        self.options.dialect.is_extended()
    }

    pub(super) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.bytes.get(at).copied()
    }

    /// Returns the next byte, ignoring joined lines.
    pub(super) fn peek_next(&self) -> Option<u8> {
        self.byte(self.skip_joined(self.at + 1))
    }

    /// Returns the first offset from `at` that is not a backslash with a line break, which the shell removes.
    pub(super) fn skip_joined(&self, mut at: usize) -> usize {
        while self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(b'\n') {
            at += 2;
        }
        at
    }

    /// Consumes a two-byte operator, if it is next.
    pub(super) fn take_pair(&mut self, first: u8, second: u8) -> bool {
        if self.peek() != Some(first) {
            return false;
        }
        let next = self.skip_joined(self.at + 1);
        if self.byte(next) != Some(second) {
            return false;
        }
        self.at = next + 1;
        self.token_end = self.at;
        true
    }

    /// Consumes a byte, if it is next.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        if self.peek() != Some(byte) {
            return false;
        }
        self.at += 1;
        self.token_end = self.at;
        true
    }

    /// Consumes a required byte.
    pub(super) fn expect(&mut self, byte: u8, unclosed: &'static str) -> ParseResult {
        if self.take(byte) {
            Ok(())
        } else if self.peek().is_none() {
            Err(self.unclosed(unclosed))
        } else {
            Err(self.unexpected("token"))
        }
    }

    /// Returns the character at `at`.
    pub(super) fn character(&self, at: usize) -> Option<char> {
        let text = self.source.get(at..self.bytes.len())?;
        text.chars().next()
    }

    /// Returns the name of a variable at `from` and the offset after it. Joined lines do not end a name.
    pub(super) fn variable_name(&self, from: usize) -> (Cow<'t, str>, usize) {
        let mut end = from + self.count_while(from, is_name_byte);
        let mut name = Cow::Borrowed(self.slice(from, end));
        loop {
            let next = self.skip_joined(end);
            if next == end || !self.byte(next).is_some_and(is_name_byte) {
                return (name, end);
            }
            end = next + self.count_while(next, is_name_byte);
            name.to_mut().push_str(self.slice(next, end));
        }
    }

    /// Skips whitespace, joined lines and a comment.
    pub(super) fn skip_blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.byte(self.at + 1) == Some(b'\n') => self.at += 2,
                Some(b'#') if self.starts_comment() => self.skip_comment(),
                _ => return,
            }
        }
    }

    /// Whether `#` starts a comment here, which is only possible where a word may start.
    fn starts_comment(&self) -> bool {
        if self.is_zsh() && self.options.interactive {
            return false;
        }
        let before = self.at.checked_sub(1).and_then(|at| self.byte(at));
        let joined = before == Some(b'\n');
        joined
            || before
                .is_none_or(|byte| matches!(byte, b' ' | b'\t' | b';' | b'&' | b'|' | b'(' | b')' | b'`'))
    }

    fn skip_comment(&mut self) {
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        self.at = start + length;
        // Comments count as nodes. If the limit is reached here, parsing stops at the next command.
        if let Some(left) = self.nodes.checked_sub(1) {
            self.nodes = left;
            let text = self.slice(start, self.at).into();
            self.comments.push(Comment { text, span: self.span(start, self.at) });
        }
    }

    /// Skips whitespace, comments and line ends.
    pub(super) fn skip_gap(&mut self) -> ParseResult {
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.skip_newline()?;
        }
    }

    /// Skips the end of a line and the here-documents after it.
    pub(super) fn skip_newline(&mut self) -> ParseResult {
        self.at += 1;
        if self.pending.is_empty() { Ok(()) } else { self.read_documents() }
    }

    /// Returns the offset of the closing byte for an opening byte before `from`. Quotes and escapes are skipped, and
    /// nested pairs are counted.
    pub(super) fn find_close(&mut self, from: usize, open: u8, close: u8) -> ParseResult<Option<usize>> {
        let mut depth = 1_u32;
        let mut at = from;
        let mut found = None;
        while let Some(byte) = self.byte(at) {
            match byte {
                b'\\' => at += 1,
                b'\'' | b'"' | b'`' => match self.end_of_quote(at, byte) {
                    Some(end) => at = end,
                    None => break,
                },
                _ if byte == open => depth = depth.saturating_add(1),
                _ if byte == close => {
                    depth -= 1;
                    if depth == 0 {
                        found = Some(at);
                        break;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        self.count_reread(at.saturating_sub(from)).map(|()| found)
    }

    /// Returns the offset of the `]` of a subscript inside `${…}`. In `${a[b}` the `}` of the expansion comes first,
    /// which the shell rejects at run time.
    pub(super) fn find_subscript_close(&mut self, from: usize) -> ParseResult<Option<usize>> {
        let (mut brackets, mut braces) = (1_u32, 0_u32);
        let mut at = from;
        let mut found = None;
        while let Some(byte) = self.byte(at) {
            match byte {
                b'\\' => at += 1,
                b'\'' | b'"' | b'`' => match self.end_of_quote(at, byte) {
                    Some(end) => at = end,
                    None => break,
                },
                b'$' if self.byte(at + 1) == Some(b'{') => {
                    braces += 1;
                    at += 1;
                }
                b'}' => match braces.checked_sub(1) {
                    Some(left) => braces = left,
                    None => break,
                },
                b'[' => brackets += 1,
                b']' => {
                    brackets -= 1;
                    if brackets == 0 {
                        found = Some(at);
                        break;
                    }
                }
                _ => {}
            }
            at += 1;
        }
        self.count_reread(at.saturating_sub(from)).map(|()| found)
    }

    /// Returns the offset of the byte that closes the quote at `at`.
    pub(super) fn end_of_quote(&self, at: usize, quote: u8) -> Option<usize> {
        let mut end = at + 1;
        while let Some(byte) = self.byte(end) {
            if byte == quote {
                return Some(end);
            }
            end += if byte == b'\\' && quote != b'\'' { 2 } else { 1 };
        }
        None
    }

    /// Returns the number of bytes from `from` for which `holds` is true.
    pub(super) fn count_while(&self, from: usize, holds: impl Fn(u8) -> bool) -> usize {
        let rest: &'t [u8] = self.bytes.get(from..).unwrap_or_default();
        rest.iter().position(|byte| !holds(*byte)).unwrap_or(rest.len())
    }
}
