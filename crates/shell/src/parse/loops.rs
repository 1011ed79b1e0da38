// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses loops: `while`, `until`, `for`, `select`, `repeat`.

use super::keyword::{Keyword, ListEnds};
use super::scan::is_name_byte;
use super::word::WordRules;
use super::{ParseResult, ShellParser};
use crate::ast::{ArithmeticFor, Compound, ForLoop, RepeatLoop, Script, WhileLoop, Word};

impl ShellParser<'_> {
    pub(super) fn parse_while(&mut self, until: bool, end: usize) -> ParseResult<Compound> {
        self.pass_token(end);
        let condition = self.parse_nonempty_script(ListEnds::DO.or(ListEnds::SHORT_BODY))?;
        let body = self.parse_loop_body()?;
        Ok(Compound::While(WhileLoop { until, condition, body }))
    }

    /// Parses `for`, `select` and `foreach`.
    pub(super) fn parse_for(&mut self, keyword: Keyword, end: usize) -> ParseResult<Compound> {
        self.pass_token(end);
        self.skip_blanks();
        if keyword == Keyword::For && self.is_extended() && self.peek() == Some(b'(') {
            return self.parse_arithmetic_for();
        }
        let mut variables = vec![self.parse_loop_variable()?];
        self.skip_blanks();
        // `for key value in …` of zsh
        while self.is_zsh() && self.peek().is_some_and(is_name_byte) && self.peek_keyword().is_none() {
            variables.push(self.parse_loop_variable()?);
            self.skip_blanks();
        }
        let mut words = None;
        if self.is_zsh() && self.peek() == Some(b'(') {
            words = Some(self.parse_word_group()?);
        } else {
            self.skip_gap()?;
            if self.take_keyword(Keyword::In) {
                words = Some(self.parse_loop_words()?);
            }
        }
        self.skip_blanks();
        if self.peek() == Some(b';') && !self.at_case_terminator() {
            self.at += 1;
        }
        let body = if keyword == Keyword::Foreach {
            let body = self.parse_script(ListEnds::END)?;
            self.expect_keyword(Keyword::End, "`foreach`")?;
            body
        } else {
            self.parse_loop_body()?
        };
        let each = ForLoop { variables, words, body };
        Ok(if keyword == Keyword::Select { Compound::Select(each) } else { Compound::For(each) })
    }

    fn parse_loop_variable(&mut self) -> ParseResult<Box<str>> {
        let word = self.parse_required_word(WordRules::SINGLE)?;
        let name = word.literal().ok_or_else(|| self.unexpected("expansion in the name of a variable"))?;
        Ok(name.into())
    }

    /// Parses words up to `;` or the end of the line.
    fn parse_loop_words(&mut self) -> ParseResult<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                None | Some(b';' | b'\n' | b'&' | b'|' | b')') => return Ok(words),
                _ => words.push(self.parse_required_word(WordRules::ARGUMENT)?),
            }
        }
    }

    /// Parses `(a b c)` of zsh.
    fn parse_word_group(&mut self) -> ParseResult<Vec<Word>> {
        self.at += 1;
        let mut words = Vec::new();
        loop {
            self.skip_gap()?;
            match self.peek() {
                None => return Err(self.unclosed("`(`")),
                Some(b')') => break,
                _ => words.push(self.parse_required_word(WordRules::ARGUMENT)?),
            }
        }
        self.expect(b')', "`(`")?;
        Ok(words)
    }

    /// Parses `do …; done` or `{ …; }`; in zsh also a single statement.
    fn parse_loop_body(&mut self) -> ParseResult<Script> {
        self.skip_gap()?;
        if self.take_keyword(Keyword::Do) {
            let body = self.parse_nonempty_script(ListEnds::DONE)?;
            self.expect_keyword(Keyword::Done, "loop")?;
            return Ok(body);
        }
        if self.take_keyword(Keyword::OpenBrace) {
            return self.parse_braced_list(true);
        }
        if self.is_zsh() && self.peek().is_some() {
            return self.parse_single_statement();
        }
        Err(if self.peek().is_none() {
            self.unclosed("loop")
        } else {
            self.unexpected("token instead of `do`")
        })
    }

    /// Parses `for ((a; b; c))`, at the first parenthesis.
    fn parse_arithmetic_for(&mut self) -> ParseResult<Compound> {
        let open = self.at;
        if self.byte(open + 1) != Some(b'(') {
            return Err(self.unexpected("`(`"));
        }
        let Some(end) = self.find_arithmetic_end(open + 2)? else { return Err(self.unclosed("`((`")) };
        self.at = open + 2;
        let expressions = self.parse_arithmetic_list(end)?;
        self.pass_token(end + 2);
        self.skip_blanks();
        if self.peek() == Some(b';') && !self.at_case_terminator() {
            self.at += 1;
        }
        let body = self.parse_loop_body()?;
        Ok(Compound::ArithmeticFor(ArithmeticFor { expressions, body }))
    }

    /// Parses `repeat n …` of zsh.
    pub(super) fn parse_repeat(&mut self, end: usize) -> ParseResult<Compound> {
        self.pass_token(end);
        self.skip_blanks();
        let count = self.parse_required_word(WordRules::SINGLE)?;
        self.skip_blanks();
        if self.peek() == Some(b';') {
            self.at += 1;
        }
        let body = self.parse_loop_body()?;
        Ok(Compound::Repeat(RepeatLoop { count, body }))
    }
}
