// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses assignments and arrays.

use super::scan::is_name_start;
use super::word::WordRules;
use super::{ParseResult, ShellParser};
use crate::ast::{ArrayElement, ArrayLiteral, Assignment, AssignmentValue, Subscript};

impl ShellParser<'_> {
    /// Parses an assignment, if there is one.
    pub(super) fn parse_assignment(&mut self) -> ParseResult<Option<Assignment>> {
        let start = self.at;
        if !self.peek().is_some_and(is_name_start) {
            return Ok(None);
        }
        let (name, name_end) = self.variable_name(start);
        let name_end = self.skip_joined(name_end);
        let mut at = name_end;
        let mut close = None;
        if self.byte(at) == Some(b'[') && self.is_extended() {
            let Some(end) = self.find_subscript_end(at + 1)? else { return Ok(None) };
            close = Some(end);
            at = end + 1;
        }
        let appends = self.byte(at) == Some(b'+') && self.is_extended();
        at += usize::from(appends);
        if self.byte(at) != Some(b'=') {
            return Ok(None);
        }
        self.count_node()?;
        let subscript = match close {
            Some(end) => {
                self.at = name_end + 1;
                Some(self.parse_subscript(end)?)
            }
            None => None,
        };
        self.at = at + 1;
        let name = name.into();
        let value = if self.peek() == Some(b'(') && self.is_extended() {
            AssignmentValue::Array(self.parse_array_literal()?)
        } else {
            AssignmentValue::Word(self.parse_word(WordRules::VALUE)?)
        };
        self.token_end = self.at;
        Ok(Some(Assignment { name, subscript, appends, value, span: self.span(start, self.at) }))
    }

    /// Returns the offset of the `]` of a subscript that is followed by `=` or `+=`.
    fn find_subscript_end(&mut self, from: usize) -> ParseResult<Option<usize>> {
        let end = self.find_close(from, b'[', b']')?;
        Ok(end.filter(|end| match self.byte(end + 1) {
            Some(b'=') => true,
            Some(b'+') => self.byte(end + 2) == Some(b'='),
            _ => false,
        }))
    }

    /// Parses `(a b [2]=c)`.
    pub(super) fn parse_array_literal(&mut self) -> ParseResult<ArrayLiteral> {
        let start = self.at;
        self.at += 1;
        let elements = self.with_depth(|parser| {
            let mut elements = Vec::new();
            loop {
                parser.skip_gap()?;
                match parser.peek() {
                    Some(b')') => return Ok(elements),
                    None => return Err(parser.unclosed("array")),
                    Some(_) => elements.push(parser.parse_array_element()?),
                }
            }
        })?;
        self.expect(b')', "array")?;
        Ok(ArrayLiteral { elements, span: self.span(start, self.at) })
    }

    fn parse_array_element(&mut self) -> ParseResult<ArrayElement> {
        let mut subscript: Option<Subscript> = None;
        let mut appends = false;
        if self.peek() == Some(b'[')
            && let Some(end) = self.find_subscript_end(self.at + 1)?
        {
            self.at += 1;
            subscript = Some(self.parse_subscript(end)?);
            appends = self.byte(end + 1) == Some(b'+');
            self.at = end + 2 + usize::from(appends);
        }
        let rules = if subscript.is_some() { WordRules::VALUE } else { WordRules::ARGUMENT };
        let value =
            if subscript.is_some() { self.parse_word(rules)? } else { self.parse_required_word(rules)? };
        Ok(ArrayElement { subscript, appends, value })
    }
}
