// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses the operands of the operators in `${…}`.

use super::scan::is_name_byte;
use super::word::WordBuilder;
use super::{ParseResult, ShellParser};
use crate::ast::{ArithmeticText, ParameterOperator, Tilde, Word, WordPart};

/// How the word after an operator is parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OperandRules {
    /// Whether the expansion is in double quotes.
    pub(super) quoted: bool,
    /// Whether the operand is a pattern, in which single quotes quote even inside double quotes.
    pub(super) pattern: bool,
    /// Whether `/` ends the operand.
    pub(super) stops_at_slash: bool,
}

impl ShellParser<'_> {
    /// Parses the word after an operator, up to `}`.
    pub(super) fn parse_operand(&mut self, rules: OperandRules) -> ParseResult<Word> {
        self.count_node()?;
        let start = self.at;
        let mut builder = WordBuilder::new(start);
        // In double quotes, single quotes are literal but must be paired.
        let mut in_single_quotes = false;
        loop {
            self.at += self.count_while(self.at, |byte| {
                !matches!(
                    byte,
                    b'}' | b'/' | b'\'' | b'"' | b'$' | b'`' | b'\\' | b'*' | b'?' | b'[' | b'~' | b'!'
                )
            });
            let Some(byte) = self.peek() else { return Err(self.unclosed("`${`")) };
            let is_escaped_brace = byte == b'\\' && self.byte(self.at + 1) == Some(b'}');
            let in_quotes = rules.quoted && !is_escaped_brace && !matches!(byte, b'\'' | b'"');
            match byte {
                b'\'' if rules.quoted && !rules.pattern => {
                    in_single_quotes = !in_single_quotes && self.end_of_quote(self.at, b'\'').is_some();
                    self.at += 1;
                }
                b'"' | b'}' | b'/' if in_single_quotes => self.at += 1,
                b'}' => break,
                b'/' if rules.stops_at_slash && self.at > start => break,
                b'*' | b'?' if rules.pattern || !rules.quoted => {
                    self.parse_glob_character(byte, &mut builder)?;
                }
                b'[' if rules.pattern => self.parse_bracket(&mut builder)?,
                b'~' if self.at == start && !rules.quoted => self.parse_operand_tilde(&mut builder)?,
                b'/' | b'*' | b'?' | b'[' | b'~' => self.at += 1,
                b'!' => self.parse_exclamation(&mut builder)?,
                _ if in_quotes => self.parse_in_double_quotes(byte, &mut builder, b'"')?,
                _ => self.parse_quote_or_expansion(byte, &mut builder)?,
            }
        }
        self.flush_literal(&mut builder)?;
        Ok(Word { parts: builder.parts, span: self.span(start, self.at) })
    }

    fn parse_operand_tilde(&mut self, builder: &mut WordBuilder) -> ParseResult {
        let start = self.at;
        let length =
            self.count_while(start + 1, |byte| is_name_byte(byte) || matches!(byte, b'-' | b'+' | b'.'));
        self.at += 1;
        if matches!(self.byte(start + 1 + length), Some(b'}' | b'/')) {
            self.at += length;
            let user = self.slice(start + 1, self.at).into();
            let tilde = Tilde { user, span: self.span(start, self.at) };
            self.push_part(builder, WordPart::Tilde(tilde))?;
        }
        Ok(())
    }

    /// Parses `:offset:length`.
    pub(super) fn parse_substring(&mut self) -> ParseResult<ParameterOperator> {
        self.at += 1;
        let offset = self.parse_substring_text()?;
        let length = if self.take(b':') { Some(self.parse_substring_text()?) } else { None };
        Ok(ParameterOperator::Substring { offset, length })
    }

    /// Parses an arithmetic expression up to `:` or `}`.
    fn parse_substring_text(&mut self) -> ParseResult<ArithmeticText> {
        self.count_node()?;
        let start = self.at;
        let mut builder = WordBuilder::new(start);
        let (mut parentheses, mut choices) = (0_u32, 0_u32);
        loop {
            match self.peek() {
                None => return Err(self.unclosed("`${`")),
                Some(b'}') => break,
                Some(b':') if parentheses == 0 && choices == 0 => break,
                Some(b':') => {
                    choices = choices.saturating_sub(1);
                    self.at += 1;
                }
                Some(b'?') => {
                    choices += 1;
                    self.at += 1;
                }
                Some(b'(') => {
                    parentheses += 1;
                    self.at += 1;
                }
                Some(b')') => {
                    parentheses = parentheses.saturating_sub(1);
                    self.at += 1;
                }
                Some(byte @ (b'\'' | b'"')) => self.parse_quote_or_expansion(byte, &mut builder)?,
                Some(byte @ (b'$' | b'`' | b'\\')) => {
                    self.parse_in_double_quotes(byte, &mut builder, b'"')?;
                }
                Some(_) => self.at += 1,
            }
        }
        self.flush_literal(&mut builder)?;
        Ok(ArithmeticText { parts: builder.parts, span: self.span(start, self.at) })
    }
}
