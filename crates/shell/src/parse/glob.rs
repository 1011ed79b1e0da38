// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses pattern characters in words: `*`, `?`, `[…]`, extended patterns and zsh patterns.

use super::scan::{ByteClass, class, is_name_byte};
use super::word::{WordBuilder, WordRules};
use super::{ParseResult, ShellParser};
use crate::ast::{GlobKind, GlobPart, WordPart};

/// Result of the last search for `]`. It is kept so that many `[` in a row do not repeat the search.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BracketMemo {
    /// First offset for which the result is valid.
    from: usize,
    /// End of the range for which the result is valid.
    until: usize,
    is_open: bool,
}

impl ShellParser<'_> {
    /// Parses `*` or `?`, or an extended pattern that starts with one of them.
    pub(super) fn parse_glob_character(&mut self, byte: u8, builder: &mut WordBuilder) -> ParseResult {
        if self.is_extended() && self.byte(self.at + 1) == Some(b'(') {
            self.at += 1;
            return self.parse_extended_glob(builder);
        }
        self.flush_literal(builder)?;
        let kind = if byte == b'*' { GlobKind::Star } else { GlobKind::Question };
        self.at += 1;
        let span = self.span(self.at - 1, self.at);
        self.push_part(builder, WordPart::Glob(Box::new(GlobPart { kind, span })))
    }

    /// Parses `[`, which is a bracket expression if it is closed within the word.
    pub(super) fn parse_bracket(&mut self, builder: &mut WordBuilder) -> ParseResult {
        let start = self.at;
        let kind = match self.find_bracket_end(start) {
            BracketEnd::None => {
                self.at += 1;
                return Ok(());
            }
            BracketEnd::Closed(end) => {
                self.flush_literal(builder)?;
                self.at = end + 1;
                GlobKind::Bracket(self.slice(start + 1, end).into())
            }
            BracketEnd::Open => {
                self.flush_literal(builder)?;
                self.at += 1;
                GlobKind::BracketStart
            }
        };
        let span = self.span(start, self.at);
        self.push_part(builder, WordPart::Glob(Box::new(GlobPart { kind, span })))
    }

    fn find_bracket_end(&mut self, start: usize) -> BracketEnd {
        let memo = self.bracket_memo;
        if memo.from <= start && start < memo.until {
            return if memo.is_open { BracketEnd::Open } else { BracketEnd::None };
        }
        let mut at = start + 1;
        if matches!(self.byte(at), Some(b'!' | b'^')) {
            at += 1;
        }
        if self.byte(at) == Some(b']') {
            at += 1;
        }
        let is_open = loop {
            match self.byte(at) {
                Some(b']') => return BracketEnd::Closed(at),
                // `[:alpha:]`
                Some(b'[') if self.byte(at + 1) == Some(b':') => {
                    let length = self.count_while(at + 2, |byte| byte.is_ascii_alphabetic());
                    let end = at + 2 + length;
                    let closed = self.byte(end) == Some(b':') && self.byte(end + 1) == Some(b']');
                    at = if closed { end + 2 } else { at + 1 };
                }
                Some(b'\'' | b'"' | b'$' | b'`' | b'\\') => break true,
                Some(byte) if class(byte) != ByteClass::Ends => at += 1,
                _ => break false,
            }
        };
        self.bracket_memo = BracketMemo { from: start, until: at, is_open };
        if is_open { BracketEnd::Open } else { BracketEnd::None }
    }

    /// Whether `(` continues a word as a group of patterns.
    pub(super) fn opens_group(&self, builder: &WordBuilder) -> bool {
        let before = self.at.checked_sub(1).filter(|at| *at >= builder.literal_start);
        let operator = before.and_then(|at| self.byte(at));
        if matches!(operator, Some(b'+' | b'@' | b'!')) {
            return true;
        }
        // In zsh `x(a|b)` is a pattern and `*(.)` has a qualifier; `f()` defines a function.
        self.is_zsh() && self.byte(self.at + 1) != Some(b')')
    }

    /// Parses an extended pattern such as `?(…)`, at the parenthesis.
    pub(super) fn parse_extended_glob(&mut self, builder: &mut WordBuilder) -> ParseResult {
        let before = self.at.checked_sub(1).and_then(|at| self.byte(at));
        let operator = before.filter(|byte| matches!(byte, b'?' | b'*' | b'+' | b'@' | b'!'));
        let operator = operator.filter(|_| self.at > builder.literal_start);
        let open = self.at;
        let start = open - usize::from(operator.is_some());
        self.at = start;
        self.flush_literal(builder)?;
        self.at = open + 1;
        let alternatives = self.with_depth(|parser| {
            let mut alternatives = vec![parser.parse_group_word()?];
            while parser.take(b'|') {
                alternatives.push(parser.parse_group_word()?);
            }
            Ok(alternatives)
        })?;
        self.expect(b')', "extended pattern")?;
        let operator = char::from(operator.unwrap_or(b'('));
        let kind = GlobKind::Extended { operator, alternatives };
        let span = self.span(start, self.at);
        self.push_part(builder, WordPart::Glob(Box::new(GlobPart { kind, span })))
    }

    /// Parses one pattern between `(`, `|` and `)`. Blanks and other operators are part of it.
    fn parse_group_word(&mut self) -> ParseResult<crate::ast::Word> {
        let start = self.at;
        let mut word = self.parse_word(WordRules::PATTERN)?;
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'<' | b'>' | b'(')) {
            let from = self.at;
            self.at += 1;
            word.parts.push(WordPart::Literal(self.make_literal(from, self.at)));
            for part in self.parse_word(WordRules::PATTERN)?.parts.into_vec() {
                word.parts.push(part);
            }
        }
        word.span = self.span(start, self.at);
        Ok(word)
    }

    // === zsh ===

    /// Parses `=cmd`, `=(…)` and `(…)` at the start of a word.
    pub(super) fn parse_zsh_word_start(&mut self, builder: &mut WordBuilder) -> ParseResult {
        if self.peek() != Some(b'=') {
            return Ok(());
        }
        if self.byte(self.at + 1) == Some(b'(') {
            let part = self.parse_process_substitution(b'=')?;
            return self.push_part(builder, part);
        }
        let start = self.at;
        let is_name = |byte: u8| is_name_byte(byte) || matches!(byte, b'-' | b'.' | b'+');
        let length = self.count_while(start + 1, is_name);
        let ends = self.byte(start + 1 + length).is_none_or(|byte| class(byte) == ByteClass::Ends);
        if length == 0 || !ends {
            return Ok(());
        }
        self.at = start + 1 + length;
        let mut name = self.make_literal(start + 1, self.at);
        name.span = self.span(start, self.at);
        self.push_part(builder, WordPart::ProgramPath(name))
    }

    /// Parses `<1-9>` or `<->`; `false` for a redirection.
    pub(super) fn parse_numeric_range(&mut self, builder: &mut WordBuilder) -> ParseResult<bool> {
        let start = self.at;
        let length = self.count_while(start + 1, |byte| byte.is_ascii_digit() || byte == b'-');
        let text = self.slice(start + 1, start + 1 + length);
        let is_range = self.byte(start + 1 + length) == Some(b'>')
            && text.bytes().filter(|byte| *byte == b'-').count() == 1;
        if !is_range {
            return Ok(false);
        }
        self.flush_literal(builder)?;
        self.at = start + length + 2;
        let glob = GlobPart { kind: GlobKind::NumericRange(text.into()), span: self.span(start, self.at) };
        self.push_part(builder, WordPart::Glob(Box::new(glob)))?;
        Ok(true)
    }
}

enum BracketEnd {
    /// The bracket is not closed within the word.
    None,
    /// The bracket is closed at this offset and contains plain text.
    Closed(usize),
    /// A quote or an expansion precedes the end.
    Open,
}
