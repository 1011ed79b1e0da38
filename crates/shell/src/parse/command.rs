// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses commands of any kind, and simple commands.

use super::keyword::Keyword;
use super::word::WordRules;
use super::{ParseResult, ShellParser};
use crate::ast::{Command, SimpleCommand, Word, WordPart};

/// Builtins whose arguments may be array assignments.
const DECLARATIONS: &[&str] =
    &["declare", "typeset", "local", "export", "readonly", "alias", "eval", "let", "integer", "float"];

impl ShellParser<'_> {
    pub(super) fn parse_command(&mut self) -> ParseResult<Command> {
        self.count_node()?;
        if self.peek() == Some(b'(') {
            return self.parse_parenthesis();
        }
        if let Some((keyword, end)) = self.peek_keyword()
            && let Some(command) = self.parse_reserved_command(keyword, end)?
        {
            return Ok(command);
        }
        self.parse_simple_command()
    }

    /// Parses a simple command or a function definition.
    fn parse_simple_command(&mut self) -> ParseResult<Command> {
        let start = self.at;
        let mut command = SimpleCommand::default();
        let mut declares = false;
        self.token_end = start;
        loop {
            self.skip_blanks();
            let Some(byte) = self.peek() else { break };
            match byte {
                b'\n' | b';' | b'|' | b')' => break,
                b'&' if self.peek_next() != Some(b'>') || !self.is_extended() => break,
                b'<' | b'>' | b'&' | b'0'..=b'9' | b'{' => {
                    if let Some(redirect) = self.parse_redirect()? {
                        command.redirects.push(redirect);
                        continue;
                    }
                }
                b'(' => {
                    let is_first = command.words.len() == 1 && command.assignments.is_empty();
                    if is_first && command.redirects.is_empty() && self.at_empty_parentheses() {
                        let name = command.words.pop().unwrap_or_default();
                        return self.parse_function_after_name(start, vec![name]);
                    }
                    if !self.is_zsh() || command.words.is_empty() {
                        return Err(self.unexpected("`(`"));
                    }
                }
                b'}' if self.is_zsh() && matches!(self.peek_keyword(), Some((Keyword::CloseBrace, _))) => {
                    break;
                }
                _ => {}
            }
            if command.words.is_empty()
                && let Some(assignment) = self.parse_assignment()?
            {
                command.assignments.push(assignment);
                continue;
            }
            let word = self.parse_argument(declares)?;
            if command.words.is_empty() {
                declares = is_declaration(&word);
                command.words.reserve(4);
            }
            command.words.push(word);
        }
        if command.words.is_empty() && command.assignments.is_empty() && command.redirects.is_empty() {
            return Err(if self.peek().is_none() {
                self.unclosed("command")
            } else {
                self.unexpected("token instead of a command")
            });
        }
        command.span = self.span_from(start);
        Ok(Command::Simple(command))
    }

    /// Parses an argument. After `declare` and similar builtins it may end in an array.
    fn parse_argument(&mut self, declares: bool) -> ParseResult<Word> {
        let start = self.at;
        // In zsh, `(` would start a pattern.
        if declares && let Some(name_end) = self.array_assignment_ahead() {
            let name = self.make_literal(start, name_end);
            self.at = name_end;
            let array = self.parse_array_literal()?;
            let parts = vec![WordPart::Literal(name), WordPart::Array(Box::new(array))];
            return Ok(Word { parts: parts.into(), span: self.span(start, self.at) });
        }
        self.parse_required_word(WordRules::ARGUMENT)
    }

    /// Returns the offset of `(` if `NAME=(` or `NAME+=(` follows.
    fn array_assignment_ahead(&self) -> Option<usize> {
        let mut at = self.at;
        while self.byte(at).is_some_and(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
            at += 1;
        }
        if at == self.at {
            return None;
        }
        at += usize::from(self.byte(at) == Some(b'+'));
        (self.byte(at) == Some(b'=') && self.byte(at + 1) == Some(b'(')).then_some(at + 1)
    }

    /// Whether `()` follows, so that the word before it names a function.
    fn at_empty_parentheses(&self) -> bool {
        let mut at = self.at + 1;
        while matches!(self.byte(at), Some(b' ' | b'\t')) {
            at += 1;
        }
        self.byte(at) == Some(b')')
    }
}

fn is_declaration(word: &Word) -> bool {
    matches!(word.parts.as_slice(), [WordPart::Literal(name)] if DECLARATIONS.contains(&&*name.text))
}
