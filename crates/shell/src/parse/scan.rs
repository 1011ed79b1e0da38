// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Bytes, blanks, comments and line ends.

use std::borrow::Cow;

use super::{Outcome, Parser};
use crate::Dialect;
use crate::ast::Comment;

/// What a byte means in an unquoted word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Stands for itself.
    Plain,
    /// Ends a word: blanks and operators.
    Ends,
    /// Starts a quote, an expansion or a pattern, or may do so.
    Special,
}

pub(super) fn class(byte: u8) -> Class {
    match byte {
        b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')' => Class::Ends,
        b'\'' | b'"' | b'$' | b'`' | b'\\' | b'*' | b'?' | b'[' | b'{' | b'~' | b'!' => Class::Special,
        _ => Class::Plain,
    }
}

pub(super) fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

pub(super) fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl<'t> Parser<'t> {
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

    /// The byte after this one, where a joined line does not count.
    pub(super) fn peek_next(&self) -> Option<u8> {
        self.byte(self.skip_joined(self.at + 1))
    }

    /// The first offset from `at` that is not a backslash with a line break, which the shell removes.
    pub(super) fn skip_joined(&self, mut at: usize) -> usize {
        while self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(b'\n') {
            at += 2;
        }
        at
    }

    /// Passes an operator of two bytes, if it is here.
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

    /// Passes one byte, if it is here.
    pub(super) fn take(&mut self, byte: u8) -> bool {
        if self.peek() != Some(byte) {
            return false;
        }
        self.at += 1;
        self.token_end = self.at;
        true
    }

    /// Passes a byte that must be here.
    pub(super) fn expect(&mut self, byte: u8, unclosed: &'static str) -> Outcome {
        if self.take(byte) {
            Ok(())
        } else if self.peek().is_none() {
            Err(self.unclosed(unclosed))
        } else {
            Err(self.unexpected("token"))
        }
    }

    /// The whole character at `at`.
    pub(super) fn character(&self, at: usize) -> Option<char> {
        let text = self.source.get(at..self.bytes.len())?;
        text.chars().next()
    }

    /// The name of a variable at `from` and the offset after it. Joined lines do not end a name.
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

    /// Passes blanks, joined lines and a comment.
    pub(super) fn blanks(&mut self) {
        loop {
            match self.peek() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.byte(self.at + 1) == Some(b'\n') => self.at += 2,
                Some(b'#') if self.starts_comment() => self.comment(),
                _ => return,
            }
        }
    }

    /// Whether `#` here starts a comment: only where a word may start.
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

    fn comment(&mut self) {
        let start = self.at;
        let rest = self.bytes.get(start..).unwrap_or_default();
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        self.at = start + length;
        // Comments count as nodes; when there are too many, the next command stops with that reason.
        if let Some(left) = self.nodes.checked_sub(1) {
            self.nodes = left;
            let text = self.slice(start, self.at).into();
            self.comments.push(Comment { text, span: self.span(start, self.at) });
        }
    }

    /// Passes blanks, comments and line ends.
    pub(super) fn gap(&mut self) -> Outcome {
        loop {
            self.blanks();
            if self.peek() != Some(b'\n') {
                return Ok(());
            }
            self.newline()?;
        }
    }

    /// Passes the end of a line and the here-documents behind it.
    pub(super) fn newline(&mut self) -> Outcome {
        self.at += 1;
        if self.pending.is_empty() { Ok(()) } else { self.read_documents() }
    }

    /// The closing byte that belongs to an opening one before `from`, if the text has it. Quotes and escapes are
    /// skipped, pairs of the same bytes are counted.
    pub(super) fn find_close(&mut self, from: usize, open: u8, close: u8) -> Outcome<Option<usize>> {
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
        self.reread(at.saturating_sub(from)).map(|()| found)
    }

    /// The `]` of a subscript inside `${…}`. A `}` that belongs to the expansion around it comes first in a text such
    /// as `${a[b}`, which the shell refuses when it runs.
    pub(super) fn find_subscript_close(&mut self, from: usize) -> Outcome<Option<usize>> {
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
        self.reread(at.saturating_sub(from)).map(|()| found)
    }

    /// The offset of the byte that closes the quote at `at`.
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

    /// Number of bytes from `from` for which `holds` is true.
    pub(super) fn count_while(&self, from: usize, holds: impl Fn(u8) -> bool) -> usize {
        let rest: &'t [u8] = self.bytes.get(from..).unwrap_or_default();
        rest.iter().position(|byte| !holds(*byte)).unwrap_or(rest.len())
    }
}
