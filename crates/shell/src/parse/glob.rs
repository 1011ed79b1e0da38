// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Pattern characters in words: `*`, `?`, `[…]`, extended patterns, and what only zsh has.

use super::scan::{Class, class, is_name_byte};
use super::word::{WordBuilder, WordRules};
use super::{Outcome, Parser};
use crate::ast::{Glob, GlobKind, WordPart};

/// What the last search for `]` found, so that a row of `[` is not searched again and again.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BracketMemo {
    /// The search holds for brackets from here…
    from: usize,
    /// …to here.
    until: usize,
    is_open: bool,
}

impl Parser<'_> {
    /// `*` or `?`, or an extended pattern that starts with one.
    pub(super) fn glob_character(&mut self, byte: u8, builder: &mut WordBuilder) -> Outcome {
        if self.is_extended() && self.byte(self.at + 1) == Some(b'(') {
            self.at += 1;
            return self.extended_glob(builder);
        }
        self.flush(builder)?;
        let kind = if byte == b'*' { GlobKind::Star } else { GlobKind::Question };
        self.at += 1;
        let span = self.span(self.at - 1, self.at);
        self.push_part(builder, WordPart::Glob(Box::new(Glob { kind, span })))
    }

    /// `[`: a bracket expression if it is closed within the word.
    pub(super) fn bracket(&mut self, builder: &mut WordBuilder) -> Outcome {
        let start = self.at;
        let kind = match self.close_of_bracket(start) {
            Bracket::None => {
                self.at += 1;
                return Ok(());
            }
            Bracket::Closed(end) => {
                self.flush(builder)?;
                self.at = end + 1;
                GlobKind::Bracket(self.slice(start + 1, end).into())
            }
            Bracket::Open => {
                self.flush(builder)?;
                self.at += 1;
                GlobKind::BracketStart
            }
        };
        let span = self.span(start, self.at);
        self.push_part(builder, WordPart::Glob(Box::new(Glob { kind, span })))
    }

    fn close_of_bracket(&mut self, start: usize) -> Bracket {
        let memo = self.bracket_memo;
        if memo.from <= start && start < memo.until {
            return if memo.is_open { Bracket::Open } else { Bracket::None };
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
                Some(b']') => return Bracket::Closed(at),
                // `[:alpha:]`
                Some(b'[') if self.byte(at + 1) == Some(b':') => {
                    let length = self.count_while(at + 2, |byte| byte.is_ascii_alphabetic());
                    let end = at + 2 + length;
                    let closed = self.byte(end) == Some(b':') && self.byte(end + 1) == Some(b']');
                    at = if closed { end + 2 } else { at + 1 };
                }
                Some(b'\'' | b'"' | b'$' | b'`' | b'\\') => break true,
                Some(byte) if class(byte) != Class::Ends => at += 1,
                _ => break false,
            }
        };
        self.bracket_memo = BracketMemo { from: start, until: at, is_open };
        if is_open { Bracket::Open } else { Bracket::None }
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

    /// `?(…)` and its relatives, at the parenthesis.
    pub(super) fn extended_glob(&mut self, builder: &mut WordBuilder) -> Outcome {
        let before = self.at.checked_sub(1).and_then(|at| self.byte(at));
        let operator = before.filter(|byte| matches!(byte, b'?' | b'*' | b'+' | b'@' | b'!'));
        let operator = operator.filter(|_| self.at > builder.literal_start);
        let open = self.at;
        let start = open - usize::from(operator.is_some());
        self.at = start;
        self.flush(builder)?;
        self.at = open + 1;
        let alternatives = self.deeper(|parser| {
            let mut alternatives = vec![parser.group_word()?];
            while parser.take(b'|') {
                alternatives.push(parser.group_word()?);
            }
            Ok(alternatives)
        })?;
        self.expect(b')', "extended pattern")?;
        let operator = char::from(operator.unwrap_or(b'('));
        let kind = GlobKind::Extended { operator, alternatives };
        let span = self.span(start, self.at);
        self.push_part(builder, WordPart::Glob(Box::new(Glob { kind, span })))
    }

    /// One pattern between `(`, `|` and `)`. Blanks and other operators are part of it.
    fn group_word(&mut self) -> Outcome<crate::ast::Word> {
        let start = self.at;
        let mut word = self.word(WordRules::PATTERN)?;
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'<' | b'>' | b'(')) {
            let from = self.at;
            self.at += 1;
            word.parts.push(WordPart::Literal(self.literal(from, self.at)));
            for part in self.word(WordRules::PATTERN)?.parts.into_vec() {
                word.parts.push(part);
            }
        }
        word.span = self.span(start, self.at);
        Ok(word)
    }

    // === zsh ===

    /// `=cmd`, `=(…)` and `(…)` at the start of a word.
    pub(super) fn zsh_word_start(&mut self, builder: &mut WordBuilder) -> Outcome {
        if self.peek() != Some(b'=') {
            return Ok(());
        }
        if self.byte(self.at + 1) == Some(b'(') {
            let part = self.process_substitution(b'=')?;
            return self.push_part(builder, part);
        }
        let start = self.at;
        let is_name = |byte: u8| is_name_byte(byte) || matches!(byte, b'-' | b'.' | b'+');
        let length = self.count_while(start + 1, is_name);
        let ends = self.byte(start + 1 + length).is_none_or(|byte| class(byte) == Class::Ends);
        if length == 0 || !ends {
            return Ok(());
        }
        self.at = start + 1 + length;
        let mut name = self.literal(start + 1, self.at);
        name.span = self.span(start, self.at);
        self.push_part(builder, WordPart::ProgramPath(name))
    }

    /// `<1-9>`, `<->`; `false` if a redirection is here.
    pub(super) fn numeric_range(&mut self, builder: &mut WordBuilder) -> Outcome<bool> {
        let start = self.at;
        let length = self.count_while(start + 1, |byte| byte.is_ascii_digit() || byte == b'-');
        let text = self.slice(start + 1, start + 1 + length);
        let is_range = self.byte(start + 1 + length) == Some(b'>')
            && text.bytes().filter(|byte| *byte == b'-').count() == 1;
        if !is_range {
            return Ok(false);
        }
        self.flush(builder)?;
        self.at = start + length + 2;
        let glob = Glob { kind: GlobKind::NumericRange(text.into()), span: self.span(start, self.at) };
        self.push_part(builder, WordPart::Glob(Box::new(glob)))?;
        Ok(true)
    }
}

enum Bracket {
    /// Not closed within the word.
    None,
    /// Closed at this offset, with plain text inside.
    Closed(usize),
    /// A quote or an expansion stands before the end.
    Open,
}
