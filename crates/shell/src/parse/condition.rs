// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `[[ … ]]` conditions.

use super::word::WordRules;
use super::{ParseResult, ShellParser};
use crate::ast::{Compound, TestExpression, Word, WordPart};

impl ShellParser<'_> {
    pub(super) fn parse_test_command(&mut self, end: usize) -> ParseResult<Compound> {
        self.pass_token(end);
        let expression = self.parse_test_or()?;
        self.skip_gap()?;
        if !self.at_test_end() {
            return Err(if self.peek().is_none() {
                self.unclosed("`[[`")
            } else {
                self.unexpected("token in `[[`")
            });
        }
        self.pass_token(self.at + 2);
        Ok(Compound::Test(expression))
    }

    fn at_test_end(&self) -> bool {
        self.peek() == Some(b']')
            && self.byte(self.at + 1) == Some(b']')
            && self.byte(self.at + 2).is_none_or(|byte| {
                matches!(byte, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' | b'(' | b'<' | b'>')
            })
    }

    fn parse_test_or(&mut self) -> ParseResult<TestExpression> {
        self.with_depth(|parser| {
            let mut all = vec![parser.parse_test_and()?];
            while parser.take_pair(b'|', b'|') {
                all.push(parser.parse_test_and()?);
            }
            Ok(single_or(all, TestExpression::Or))
        })
    }

    fn parse_test_and(&mut self) -> ParseResult<TestExpression> {
        let mut all = vec![self.parse_test_term()?];
        self.skip_gap()?;
        while self.take_pair(b'&', b'&') {
            all.push(self.parse_test_term()?);
            self.skip_gap()?;
        }
        Ok(single_or(all, TestExpression::And))
    }

    fn parse_test_term(&mut self) -> ParseResult<TestExpression> {
        self.count_node()?;
        self.skip_gap()?;
        let is_not = self.peek() == Some(b'!')
            && self.byte(self.at + 1).is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'('));
        if is_not {
            self.at += 1;
            let inner = self.with_depth(Self::parse_test_term)?;
            return Ok(TestExpression::Not(Box::new(inner)));
        }
        if self.take(b'(') {
            let inner = self.parse_test_or()?;
            self.skip_gap()?;
            self.expect(b')', "`(`")?;
            return Ok(TestExpression::Group(Box::new(inner)));
        }
        self.parse_test_comparison()
    }

    fn parse_test_comparison(&mut self) -> ParseResult<TestExpression> {
        let left = self.parse_required_word(WordRules::SINGLE)?;
        self.skip_gap()?;
        if self.ends_term() {
            return Ok(TestExpression::Word(left));
        }
        if let Some(operator) = unary_operator(&left) {
            let operand = self.parse_required_word(WordRules::SINGLE)?;
            return self.parse_test_rest(vec![left, operand], |words| match words {
                [_, operand] => Some(TestExpression::Unary { operator, operand: operand.clone() }),
                _ => None,
            });
        }
        let start = self.at;
        let operator: Box<str> = if matches!(self.peek(), Some(b'<' | b'>')) {
            self.at += 1;
            self.slice(start, self.at).into()
        } else {
            let word = self.parse_required_word(WordRules::SINGLE)?;
            match word.parts.as_slice() {
                [WordPart::Literal(text)] if is_binary_operator(&text.text) => text.text.clone(),
                _ => return self.parse_test_rest(vec![left, word], |_| None),
            }
        };
        self.skip_gap()?;
        let rules = match &*operator {
            "=~" => WordRules::REGEX,
            "==" | "=" | "!=" => WordRules::PATTERN,
            _ => WordRules::SINGLE,
        };
        let right = self.parse_required_word(rules)?;
        Ok(TestExpression::Binary { left, operator, right })
    }

    /// Parses the remaining words of a term that has more words than expected.
    fn parse_test_rest(
        &mut self,
        mut words: Vec<Word>,
        finish: impl FnOnce(&[Word]) -> Option<TestExpression>,
    ) -> ParseResult<TestExpression> {
        self.skip_gap()?;
        while !self.ends_term() {
            words.push(self.parse_required_word(WordRules::SINGLE)?);
            self.skip_gap()?;
        }
        Ok(finish(&words).unwrap_or(TestExpression::Other(words)))
    }

    fn ends_term(&self) -> bool {
        match self.peek() {
            None | Some(b')') => true,
            Some(b'&') => self.peek_next() == Some(b'&'),
            Some(b'|') => self.peek_next() == Some(b'|'),
            _ => self.at_test_end(),
        }
    }
}

/// Returns a single expression, or several joined by an operator.
fn single_or(
    mut all: Vec<TestExpression>,
    join: fn(Vec<TestExpression>) -> TestExpression,
) -> TestExpression {
    if all.len() == 1
        && let Some(only) = all.pop()
    {
        return only;
    }
    join(all)
}

fn unary_operator(word: &Word) -> Option<Box<str>> {
    match word.parts.as_slice() {
        [WordPart::Literal(text)] => {
            let mut letters = text.text.chars();
            let is_operator = letters.next() == Some('-')
                && letters.next().is_some_and(|letter| letter.is_ascii_alphabetic())
                && letters.next().is_none();
            is_operator.then(|| text.text.clone())
        }
        _ => None,
    }
}

fn is_binary_operator(text: &str) -> bool {
    matches!(
        text,
        "==" | "="
            | "!="
            | "=~"
            | "-eq"
            | "-ne"
            | "-lt"
            | "-le"
            | "-gt"
            | "-ge"
            | "-nt"
            | "-ot"
            | "-ef"
            | "-a"
            | "-o"
    )
}
