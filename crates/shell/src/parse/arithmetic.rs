// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The text of arithmetic expressions, and subscripts.

use super::word::WordBuilder;
use super::{Outcome, Parser};
use crate::OneOrMany;
use crate::ast::{ArithmeticText, Subscript, WordPart};

impl Parser<'_> {
    /// Where the arithmetic expression after `((` ends: the offset of its `))`. `None` if the parentheses do not
    /// close together; then they are two subshells.
    pub(super) fn arithmetic_end(&mut self, from: usize) -> Outcome<Option<usize>> {
        let end = self.find_close(from, b'(', b')')?;
        Ok(end.filter(|end| self.byte(end + 1) == Some(b')')))
    }

    /// An expression up to `end`, which is not passed.
    pub(super) fn arithmetic_text(&mut self, end: usize) -> Outcome<ArithmeticText> {
        self.node()?;
        let start = self.at;
        let parts = self.deeper(|parser| parser.within(end, Self::arithmetic_parts))?;
        Ok(ArithmeticText { parts, span: self.span(start, end) })
    }

    fn arithmetic_parts(&mut self) -> Outcome<OneOrMany<WordPart>> {
        let mut builder = WordBuilder::new(self.at);
        loop {
            self.at += self.count_while(self.at, |byte| !matches!(byte, b'"' | b'\'' | b'$' | b'`' | b'\\'));
            match self.peek() {
                None => break,
                Some(byte @ (b'"' | b'\'')) => self.quote_or_expansion(byte, &mut builder)?,
                Some(byte) => self.inside_double_quotes(byte, &mut builder, b'"')?,
            }
        }
        self.flush(&mut builder)?;
        Ok(builder.parts)
    }

    /// The inside of `[…]` up to `end`.
    pub(super) fn subscript(&mut self, end: usize) -> Outcome<Subscript> {
        match self.slice(self.at, end) {
            "@" => Ok(Subscript::All),
            "*" => Ok(Subscript::Joined),
            _ => self.arithmetic_text(end).map(Subscript::Index),
        }
    }

    /// `a; b; c` between the parentheses of `for ((…))`.
    pub(super) fn arithmetic_list(&mut self, end: usize) -> Outcome<Vec<ArithmeticText>> {
        let mut expressions = Vec::new();
        loop {
            let stop = self.find_semicolon(end);
            expressions.push(self.arithmetic_text(stop)?);
            self.at = stop;
            if stop >= end {
                return Ok(expressions);
            }
            self.at += 1;
        }
    }

    /// The next `;` that is not quoted, or `end`.
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
