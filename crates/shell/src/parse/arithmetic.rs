// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses arithmetic expressions and subscripts.

use super::word::WordBuilder;
use super::{ParseResult, ShellParser};
use crate::SmallList;
use crate::ast::{ArithmeticText, Subscript, WordPart};

impl ShellParser<'_> {
    /// Returns the offset of the `))` that ends an arithmetic expression. `None` if the two parentheses do not close
    /// together: then they open two subshells.
    pub(super) fn find_arithmetic_end(&mut self, from: usize) -> ParseResult<Option<usize>> {
        let end = self.find_close(from, b'(', b')')?;
        Ok(end.filter(|end| self.byte(end + 1) == Some(b')')))
    }

    /// Parses an expression up to `end`, which is not consumed.
    pub(super) fn parse_arithmetic_text(&mut self, end: usize) -> ParseResult<ArithmeticText> {
        self.count_node()?;
        let start = self.at;
        let parts = self.with_depth(|parser| parser.with_end(end, Self::parse_arithmetic_parts))?;
        Ok(ArithmeticText { parts, span: self.span(start, end) })
    }

    fn parse_arithmetic_parts(&mut self) -> ParseResult<SmallList<WordPart>> {
        let mut builder = WordBuilder::new(self.at);
        loop {
            self.at += self.count_while(self.at, |byte| !matches!(byte, b'"' | b'\'' | b'$' | b'`' | b'\\'));
            match self.peek() {
                None => break,
                Some(byte @ (b'"' | b'\'')) => self.parse_quote_or_expansion(byte, &mut builder)?,
                Some(byte) => self.parse_in_double_quotes(byte, &mut builder, b'"')?,
            }
        }
        self.flush_literal(&mut builder)?;
        Ok(builder.parts)
    }

    /// Parses the inside of `[…]` up to `end`.
    pub(super) fn parse_subscript(&mut self, end: usize) -> ParseResult<Subscript> {
        match self.slice(self.at, end) {
            "@" => Ok(Subscript::All),
            "*" => Ok(Subscript::Joined),
            _ => self.parse_arithmetic_text(end).map(Subscript::Index),
        }
    }

    /// Parses `a; b; c` between the parentheses of `for ((…))`.
    pub(super) fn parse_arithmetic_list(&mut self, end: usize) -> ParseResult<Vec<ArithmeticText>> {
        let mut expressions = Vec::new();
        loop {
            let stop = self.find_semicolon(end);
            expressions.push(self.parse_arithmetic_text(stop)?);
            self.at = stop;
            if stop >= end {
                return Ok(expressions);
            }
            self.at += 1;
        }
    }

    /// Returns the offset of the next unquoted `;`, or `end`.
    fn find_semicolon(&self, end: usize) -> usize {
        let mut at = self.at;
        while at < end {
            match self.byte(at) {
                Some(b';') => return at,
                Some(quote @ (b'\'' | b'"' | b'`')) => at = self.end_of_quote(at, quote).unwrap_or(end),
                Some(b'\\') => at += 1,
                _ => {}
            }
            at += 1;
        }
        end
    }
}
