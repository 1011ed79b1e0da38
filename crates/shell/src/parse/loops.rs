// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `while`, `until`, `for`, `select`, `repeat`.

use super::keyword::{Ends, Keyword};
use super::scan::is_name_byte;
use super::word::WordRules;
use super::{Outcome, Parser};
use crate::ast::{ArithmeticFor, Compound, ForLoop, RepeatLoop, Script, WhileLoop, Word};

impl Parser<'_> {
    pub(super) fn while_loop(&mut self, until: bool, end: usize) -> Outcome<Compound> {
        self.pass_token(end);
        let condition = self.filled_script(Ends::DO.or(Ends::SHORT))?;
        let body = self.loop_body()?;
        Ok(Compound::While(WhileLoop { until, condition, body }))
    }

    /// `for`, `select` and `foreach`
    pub(super) fn for_loop(&mut self, keyword: Keyword, end: usize) -> Outcome<Compound> {
        self.pass_token(end);
        self.blanks();
        if keyword == Keyword::For && self.is_extended() && self.peek() == Some(b'(') {
            return self.arithmetic_for();
        }
        let mut variables = vec![self.loop_variable()?];
        self.blanks();
        // `for key value in …` of zsh
        while self.is_zsh() && self.peek().is_some_and(is_name_byte) && self.keyword().is_none() {
            variables.push(self.loop_variable()?);
            self.blanks();
        }
        let mut words = None;
        if self.is_zsh() && self.peek() == Some(b'(') {
            words = Some(self.word_group()?);
        } else {
            self.gap()?;
            if self.take_keyword(Keyword::In) {
                words = Some(self.loop_words()?);
            }
        }
        self.blanks();
        if self.peek() == Some(b';') && !self.at_case_terminator() {
            self.at += 1;
        }
        let body = if keyword == Keyword::Foreach {
            let body = self.script(Ends::END)?;
            self.close(Keyword::End, "`foreach`")?;
            body
        } else {
            self.loop_body()?
        };
        let each = ForLoop { variables, words, body };
        Ok(if keyword == Keyword::Select { Compound::Select(each) } else { Compound::For(each) })
    }

    fn loop_variable(&mut self) -> Outcome<Box<str>> {
        let word = self.required_word(WordRules::SINGLE)?;
        let name = word.literal().ok_or_else(|| self.unexpected("expansion in the name of a variable"))?;
        Ok(name.into())
    }

    /// Words up to `;` or the end of the line.
    fn loop_words(&mut self) -> Outcome<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.peek() {
                None | Some(b';' | b'\n' | b'&' | b'|' | b')') => return Ok(words),
                _ => words.push(self.required_word(WordRules::ARGUMENT)?),
            }
        }
    }

    /// `(a b c)` of zsh
    fn word_group(&mut self) -> Outcome<Vec<Word>> {
        self.at += 1;
        let mut words = Vec::new();
        loop {
            self.gap()?;
            match self.peek() {
                None => return Err(self.unclosed("`(`")),
                Some(b')') => break,
                _ => words.push(self.required_word(WordRules::ARGUMENT)?),
            }
        }
        self.expect(b')', "`(`")?;
        Ok(words)
    }

    /// `do …; done` or `{ …; }`; in zsh also one statement.
    fn loop_body(&mut self) -> Outcome<Script> {
        self.gap()?;
        if self.take_keyword(Keyword::Do) {
            let body = self.filled_script(Ends::DONE)?;
            self.close(Keyword::Done, "loop")?;
            return Ok(body);
        }
        if self.take_keyword(Keyword::OpenBrace) {
            return self.braced(true);
        }
        if self.is_zsh() && self.peek().is_some() {
            return self.single_statement();
        }
        Err(if self.peek().is_none() {
            self.unclosed("loop")
        } else {
            self.unexpected("token instead of `do`")
        })
    }

    /// `for ((a; b; c))`, at the first parenthesis
    fn arithmetic_for(&mut self) -> Outcome<Compound> {
        let open = self.at;
        if self.byte(open + 1) != Some(b'(') {
            return Err(self.unexpected("`(`"));
        }
        let Some(end) = self.arithmetic_end(open + 2)? else { return Err(self.unclosed("`((`")) };
        self.at = open + 2;
        let expressions = self.arithmetic_list(end)?;
        self.pass_token(end + 2);
        self.blanks();
        if self.peek() == Some(b';') && !self.at_case_terminator() {
            self.at += 1;
        }
        let body = self.loop_body()?;
        Ok(Compound::ArithmeticFor(ArithmeticFor { expressions, body }))
    }

    /// `repeat n …` of zsh
    pub(super) fn repeat_loop(&mut self, end: usize) -> Outcome<Compound> {
        self.pass_token(end);
        self.blanks();
        let count = self.required_word(WordRules::SINGLE)?;
        self.blanks();
        if self.peek() == Some(b';') {
            self.at += 1;
        }
        let body = self.loop_body()?;
        Ok(Compound::Repeat(RepeatLoop { count, body }))
    }
}
