// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Quotes and escapes.

use super::ansi::decode_ansi;
use super::word::WordBuilder;
use super::{Outcome, Parser};
use crate::ast::{AnsiQuoted, DoubleQuoted, Escaped, Literal, WordPart};

impl Parser<'_> {
    /// `\x`, where `x` is this character.
    pub(super) fn escaped(&mut self, character: char) -> WordPart {
        let start = self.at;
        self.at += 1 + character.len_utf8();
        WordPart::Escaped(Escaped { character, span: self.span(start, self.at) })
    }

    /// `'…'`
    pub(super) fn single_quoted(&mut self) -> Outcome<Literal> {
        let start = self.at;
        let end = self.end_of_quote(start, b'\'').ok_or_else(|| self.unclosed("single quote"))?;
        self.at = end + 1;
        Ok(Literal { text: self.slice(start + 1, end).into(), span: self.span(start, self.at) })
    }

    /// `$'…'`, from the `$`
    pub(super) fn ansi_quoted(&mut self) -> Outcome<WordPart> {
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

    /// `"…"`, or `$"…"` from the `$`
    pub(super) fn double_quoted(&mut self, is_translated: bool) -> Outcome<WordPart> {
        let start = self.at;
        self.at += 1 + usize::from(is_translated);
        let mut builder = WordBuilder::new(self.at);
        loop {
            self.at += self.count_while(self.at, |byte| !matches!(byte, b'"' | b'$' | b'`' | b'\\' | b'!'));
            match self.peek() {
                None => return Err(self.unclosed("double quote")),
                Some(b'"') => break,
                Some(byte) => self.inside_double_quotes(byte, &mut builder, b'"')?,
            }
        }
        self.flush(&mut builder)?;
        self.at += 1;
        self.token_end = self.at;
        let parts = builder.parts.into_vec();
        Ok(WordPart::DoubleQuoted(DoubleQuoted { parts, is_translated, span: self.span(start, self.at) }))
    }

    /// One special byte inside double quotes, a here-document or arithmetic. `quote` is the byte besides
    /// `$`, backtick and backslash that a backslash escapes.
    pub(super) fn inside_double_quotes(&mut self, byte: u8, builder: &mut WordBuilder, quote: u8) -> Outcome {
        match byte {
            b'\\' => match self.byte(self.at + 1) {
                Some(b'\n') => {
                    self.flush(builder)?;
                    self.at += 2;
                    builder.literal_start = self.at;
                    Ok(())
                }
                Some(next) if matches!(next, b'$' | b'`' | b'\\') || next == quote => {
                    self.flush(builder)?;
                    let part = self.escaped(char::from(next));
                    self.push_part(builder, part)
                }
                // The byte after it may be part of a longer character, and is never special.
                _ => {
                    self.at += 1;
                    Ok(())
                }
            },
            b'`' => {
                self.flush(builder)?;
                let part = self.backticks(quote == b'"')?;
                self.push_part(builder, part)
            }
            b'!' => self.exclamation(builder),
            _ => self.dollar(builder, true),
        }
    }

    /// `!`: text from the history in an interactive shell, a character otherwise.
    pub(super) fn exclamation(&mut self, builder: &mut WordBuilder) -> Outcome {
        let start = self.at;
        let next = self.byte(start + 1);
        let is_history = self.options.interactive
            && !matches!(next, None | Some(b' ' | b'\t' | b'\n' | b'=' | b'(' | b'"'));
        if !is_history {
            self.at += 1;
            return Ok(());
        }
        self.flush(builder)?;
        let length = self.count_while(start + 2, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b':' | b'^' | b'*' | b'/')
        });
        let length = if next.is_some_and(|next| next.is_ascii()) { length } else { 0 };
        let width = self.character(start + 1).map_or(0, char::len_utf8);
        self.at = start + 1 + width + length;
        let part = WordPart::History(self.literal(start, self.at));
        self.push_part(builder, part)
    }
}
