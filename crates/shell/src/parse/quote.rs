// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses quotes and escapes.

use super::ansi::decode_ansi;
use super::word::WordBuilder;
use super::{ParseResult, ShellParser};
use crate::ast::{AnsiQuoted, DoubleQuoted, Escaped, Literal, WordPart};

impl ShellParser<'_> {
    /// Creates `\x`, where `x` is this character.
    pub(super) fn make_escaped(&mut self, character: char) -> WordPart {
        let start = self.at;
        self.at += 1 + character.len_utf8();
        WordPart::Escaped(Escaped { character, span: self.span(start, self.at) })
    }

    /// Parses `'…'`.
    pub(super) fn parse_single_quoted(&mut self) -> ParseResult<Literal> {
        let start = self.at;
        let end = self.end_of_quote(start, b'\'').ok_or_else(|| self.unclosed("single quote"))?;
        self.at = end + 1;
        Ok(Literal { text: self.slice(start + 1, end).into(), span: self.span(start, self.at) })
    }

    /// Parses `$'…'`, at the `$`.
    pub(super) fn parse_ansi_quoted(&mut self) -> ParseResult<WordPart> {
        let start = self.at;
        let mut end = start + 2;
        loop {
            match self.byte(end) {
                None => return Err(self.unclosed("single quote")),
                Some(b'\'') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
            }
        }
        self.at = end + 1;
        let (text, is_text) = decode_ansi(self.slice(start + 2, end));
        Ok(WordPart::AnsiQuoted(AnsiQuoted { text, is_text, span: self.span(start, self.at) }))
    }

    /// Parses `"…"`, or `$"…"` at the `$`.
    pub(super) fn parse_double_quoted(&mut self, is_translated: bool) -> ParseResult<WordPart> {
        let start = self.at;
        self.at += 1 + usize::from(is_translated);
        let mut builder = WordBuilder::new(self.at);
        loop {
            self.at += self.count_while(self.at, |byte| !matches!(byte, b'"' | b'$' | b'`' | b'\\' | b'!'));
            match self.peek() {
                None => return Err(self.unclosed("double quote")),
                Some(b'"') => break,
                Some(byte) => self.parse_in_double_quotes(byte, &mut builder, b'"')?,
            }
        }
        self.flush_literal(&mut builder)?;
        self.at += 1;
        self.token_end = self.at;
        let parts = builder.parts.into_vec();
        Ok(WordPart::DoubleQuoted(DoubleQuoted { parts, is_translated, span: self.span(start, self.at) }))
    }

    /// Parses one special byte inside double quotes, a here-document or arithmetic. A backslash escapes `quote`, `$`,
    /// backtick and backslash.
    pub(super) fn parse_in_double_quotes(
        &mut self,
        byte: u8,
        builder: &mut WordBuilder,
        quote: u8,
    ) -> ParseResult {
        match byte {
            b'\\' => match self.byte(self.at + 1) {
                Some(b'\n') => {
                    self.flush_literal(builder)?;
                    self.at += 2;
                    builder.literal_start = self.at;
                    Ok(())
                }
                Some(next) if matches!(next, b'$' | b'`' | b'\\') || next == quote => {
                    self.flush_literal(builder)?;
                    let part = self.make_escaped(char::from(next));
                    self.push_part(builder, part)
                }
                // The backslash is literal. The byte after it may be part of a longer character, and is never
                // special.
                _ => {
                    self.at += 1;
                    Ok(())
                }
            },
            b'`' => {
                self.flush_literal(builder)?;
                let part = self.parse_backticks(quote == b'"')?;
                self.push_part(builder, part)
            }
            b'!' => self.parse_exclamation(builder),
            _ => self.parse_dollar(builder, true),
        }
    }

    /// Parses `!`: history expansion in an interactive shell, a literal character otherwise.
    pub(super) fn parse_exclamation(&mut self, builder: &mut WordBuilder) -> ParseResult {
        let start = self.at;
        let next = self.byte(start + 1);
        let is_history = self.options.interactive
            && !matches!(next, None | Some(b' ' | b'\t' | b'\n' | b'=' | b'(' | b'"'));
        if !is_history {
            self.at += 1;
            return Ok(());
        }
        self.flush_literal(builder)?;
        let length = self.count_while(start + 2, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':' | b'^' | b'*' | b'/')
        });
        let length = if next.is_some_and(|next| next.is_ascii()) { length } else { 0 };
        let width = self.character(start + 1).map_or(0, char::len_utf8);
        self.at = start + 1 + width + length;
        let part = WordPart::History(self.make_literal(start, self.at));
        self.push_part(builder, part)
    }
}
