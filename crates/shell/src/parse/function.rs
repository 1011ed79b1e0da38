// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Function definitions.

use super::keyword::Keyword;
use super::word::WordRules;
use super::{Outcome, Parser};
use crate::ast::{Command, FunctionDefinition, Word};

impl Parser<'_> {
    /// `name()` and what follows, at the parenthesis.
    pub(super) fn function_after_name(&mut self, start: usize, names: Vec<Word>) -> Outcome<Command> {
        self.at += 1;
        self.blanks();
        self.expect(b')', "`(`")?;
        self.function_body(start, names)
    }

    /// `function name [()]` and what follows; the keyword is passed.
    pub(super) fn function_after_keyword(&mut self, start: usize) -> Outcome<Command> {
        self.blanks();
        let mut names = Vec::new();
        let is_named = |parser: &Self| {
            !matches!(parser.peek(), None | Some(b'(' | b'\n' | b';' | b'&' | b'|' | b')' | b'<' | b'>'))
                && !matches!(parser.keyword(), Some((Keyword::OpenBrace, _)))
        };
        if !self.is_zsh() {
            names.push(self.required_word(WordRules::SINGLE)?);
        }
        while self.is_zsh() && is_named(self) {
            names.push(self.required_word(WordRules::SINGLE)?);
            self.blanks();
        }
        self.blanks();
        if self.peek() == Some(b'(') {
            let open = self.at;
            self.at += 1;
            self.blanks();
            // `function f (( 1 ))` and `function f ( a )` have no empty parentheses.
            if !self.take(b')') {
                self.at = open;
            }
        }
        self.function_body(start, names)
    }

    fn function_body(&mut self, start: usize, names: Vec<Word>) -> Outcome<Command> {
        self.gap()?;
        let starts_compound = self.peek() == Some(b'(')
            || self.keyword().is_some_and(|(keyword, _)| {
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
        // zsh takes any command as the body, dash and bash only a compound one.
        if !starts_compound && !self.is_zsh() {
            return Err(self.unexpected("body of a function"));
        }
        let body = self.deeper(Self::command)?;
        let mut arguments = Vec::new();
        if names.is_empty() {
            self.blanks();
            while !matches!(self.peek(), None | Some(b'\n' | b';' | b'&' | b'|' | b')' | b'<' | b'>')) {
                if matches!(self.keyword(), Some((Keyword::CloseBrace, _))) {
                    break;
                }
                arguments.push(self.required_word(WordRules::ARGUMENT)?);
                self.blanks();
            }
        }
        let span = self.span_from(start);
        Ok(Command::Function(Box::new(FunctionDefinition { names, body, arguments, span })))
    }
}
