// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses function definitions in all dialects.

use super::keyword::Keyword;
use super::word::WordRules;
use super::{ParseResult, ShellParser};
use crate::ast::{Command, FunctionDefinition, Word};

impl ShellParser<'_> {
    /// Parses a function after its name, at the parenthesis.
    pub(super) fn parse_function_after_name(
        &mut self,
        start: usize,
        names: Vec<Word>,
    ) -> ParseResult<Command> {
        self.at += 1;
        self.skip_blanks();
        self.expect(b')', "`(`")?;
        self.parse_function_body(start, names)
    }

    /// Parses a function after the keyword `function`.
    pub(super) fn parse_function_after_keyword(&mut self, start: usize) -> ParseResult<Command> {
        self.skip_blanks();
        let mut names = Vec::new();
        let is_named = |parser: &Self| {
            !matches!(parser.peek(), None | Some(b'(' | b'\n' | b';' | b'&' | b'|' | b')' | b'<' | b'>'))
                && !matches!(parser.peek_keyword(), Some((Keyword::OpenBrace, _)))
        };
        if !self.is_zsh() {
            names.push(self.parse_required_word(WordRules::SINGLE)?);
        }
        while self.is_zsh() && is_named(self) {
            names.push(self.parse_required_word(WordRules::SINGLE)?);
            self.skip_blanks();
        }
        self.skip_blanks();
        if self.peek() == Some(b'(') {
            let open = self.at;
            self.at += 1;
            self.skip_blanks();
            // `function f (( 1 ))` and `function f ( a )` have no empty parentheses.
            if !self.take(b')') {
                self.at = open;
            }
        }
        self.parse_function_body(start, names)
    }

    fn parse_function_body(&mut self, start: usize, names: Vec<Word>) -> ParseResult<Command> {
        self.skip_gap()?;
        let starts_compound = self.peek() == Some(b'(')
            || self.peek_keyword().is_some_and(|(keyword, _)| {
                !matches!(
                    keyword,
                    Keyword::In
                        | Keyword::Bang
                        | Keyword::Time
                        | Keyword::Function
                        | Keyword::Coproc
                        | Keyword::CloseBrace
                )
            });
        if self.peek().is_none() {
            return Err(self.unclosed("function"));
        }
        // In zsh the body may be any command, in dash and bash only a compound one.
        if !starts_compound && !self.is_zsh() {
            return Err(self.unexpected("body of a function"));
        }
        let body = self.with_depth(Self::parse_command)?;
        let mut arguments = Vec::new();
        if names.is_empty() {
            self.skip_blanks();
            while !matches!(self.peek(), None | Some(b'\n' | b';' | b'&' | b'|' | b')' | b'<' | b'>')) {
                if matches!(self.peek_keyword(), Some((Keyword::CloseBrace, _))) {
                    break;
                }
                arguments.push(self.parse_required_word(WordRules::ARGUMENT)?);
                self.skip_blanks();
            }
        }
        let span = self.span_from(start);
        Ok(Command::Function(Box::new(FunctionDefinition { names, body, arguments, span })))
    }
}
