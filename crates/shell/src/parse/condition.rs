// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `[[ … ]]`

use super::word::WordRules;
use super::{Outcome, Parser};
use crate::ast::{Compound, TestExpression, Word, WordPart};

impl Parser<'_> {
    pub(super) fn test_command(&mut self, end: usize) -> Outcome<Compound> {
        self.pass_token(end);
        let expression = self.test_or()?;
        self.gap()?;
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

    fn test_or(&mut self) -> Outcome<TestExpression> {
        self.deeper(|parser| {
            let mut all = vec![parser.test_and()?];
            while parser.take_pair(b'|', b'|') {
                all.push(parser.test_and()?);
            }
            Ok(single_or(all, TestExpression::Or))
        })
    }

    fn test_and(&mut self) -> Outcome<TestExpression> {
        let mut all = vec![self.test_term()?];
        self.gap()?;
        while self.take_pair(b'&', b'&') {
            all.push(self.test_term()?);
            self.gap()?;
        }
        Ok(single_or(all, TestExpression::And))
    }

    fn test_term(&mut self) -> Outcome<TestExpression> {
        self.node()?;
        self.gap()?;
        let is_not = self.peek() == Some(b'!')
            && self.byte(self.at + 1).is_none_or(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'('));
        if is_not {
            self.at += 1;
            let inner = self.deeper(Self::test_term)?;
            return Ok(TestExpression::Not(Box::new(inner)));
        }
        if self.take(b'(') {
            let inner = self.test_or()?;
            self.gap()?;
            self.expect(b')', "`(`")?;
            return Ok(TestExpression::Group(Box::new(inner)));
        }
        self.test_comparison()
    }

    fn test_comparison(&mut self) -> Outcome<TestExpression> {
        let left = self.required_word(WordRules::SINGLE)?;
        self.gap()?;
        if self.ends_term() {
            return Ok(TestExpression::Word(left));
        }
        if let Some(operator) = unary_operator(&left) {
            let operand = self.required_word(WordRules::SINGLE)?;
            return self.test_rest(vec![left, operand], |words| match words {
                [_, operand] => Some(TestExpression::Unary { operator, operand: operand.clone() }),
                _ => None,
            });
        }
        let start = self.at;
        let operator: Box<str> = if matches!(self.peek(), Some(b'<' | b'>')) {
            self.at += 1;
            self.slice(start, self.at).into()
        } else {
            let word = self.required_word(WordRules::SINGLE)?;
            match word.parts.as_slice() {
                [WordPart::Literal(text)] if is_binary_operator(&text.text) => text.text.clone(),
                _ => return self.test_rest(vec![left, word], |_| None),
            }
        };
        self.gap()?;
        let rules = match &*operator {
            "=~" => WordRules::REGEX,
            "==" | "=" | "!=" => WordRules::PATTERN,
            _ => WordRules::SINGLE,
        };
        let right = self.required_word(rules)?;
        Ok(TestExpression::Binary { left, operator, right })
    }

    /// The words up to the end of the term, if there are more than expected.
    fn test_rest(
        &mut self,
        mut words: Vec<Word>,
        finish: impl FnOnce(&[Word]) -> Option<TestExpression>,
    ) -> Outcome<TestExpression> {
        self.gap()?;
        while !self.ends_term() {
            words.push(self.required_word(WordRules::SINGLE)?);
            self.gap()?;
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

/// One expression, or several joined.
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
