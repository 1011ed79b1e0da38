// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses compound commands: groups, subshells, `if`, `(( ))`.

use super::keyword::{Keyword, ListEnds};
use super::{ParseResult, ShellParser};
use crate::ast::{Command, Compound, CompoundCommand, Coprocess, IfBranch, IfCommand, Script};

impl ShellParser<'_> {
    /// Parses a command that starts with a reserved word; `None` if the word is not reserved here.
    pub(super) fn parse_reserved_command(
        &mut self,
        keyword: Keyword,
        end: usize,
    ) -> ParseResult<Option<Command>> {
        let start = self.at;
        let kind = match keyword {
            // In zsh, `in` is reserved only after `for` and `case`.
            Keyword::In if self.is_zsh() => return Ok(None),
            // The enclosing list checks for these words before each statement.
            Keyword::Then
            | Keyword::Elif
            | Keyword::Else
            | Keyword::Fi
            | Keyword::Do
            | Keyword::Done
            | Keyword::Esac
            | Keyword::CloseBrace
            | Keyword::In
            | Keyword::End
            | Keyword::Bang
            | Keyword::Time => return Err(self.unexpected("reserved word")),
            Keyword::OpenBrace => self.parse_group(end)?,
            Keyword::Function => {
                self.pass_token(end);
                return self.parse_function_after_keyword(start).map(Some);
            }
            Keyword::Coproc => {
                self.pass_token(end);
                return self.parse_coprocess(start).map(Some);
            }
            Keyword::If => self.parse_if(end)?,
            Keyword::While | Keyword::Until => self.parse_while(keyword == Keyword::Until, end)?,
            Keyword::For | Keyword::Select | Keyword::Foreach => self.parse_for(keyword, end)?,
            Keyword::Repeat => self.parse_repeat(end)?,
            Keyword::Case => self.parse_case_command(end)?,
            Keyword::OpenTest => self.parse_test_command(end)?,
        };
        self.finish_compound(kind, start).map(Some)
    }

    /// Parses the redirections after a compound command.
    pub(super) fn finish_compound(&mut self, kind: Compound, start: usize) -> ParseResult<Command> {
        let redirects = self.parse_redirects()?;
        let span = self.span_from(start);
        Ok(Command::Compound(Box::new(CompoundCommand { kind, redirects, span })))
    }

    /// Parses `( … )`, `(( … ))`, and `() { … }` of zsh.
    pub(super) fn parse_parenthesis(&mut self) -> ParseResult<Command> {
        let start = self.at;
        if self.is_extended()
            && self.byte(start + 1) == Some(b'(')
            && let Some(end) = self.find_arithmetic_end(start + 2)?
        {
            self.at = start + 2;
            let expression = self.parse_arithmetic_text(end)?;
            self.pass_token(end + 2);
            return self.finish_compound(Compound::Arithmetic(expression), start);
        }
        if self.is_zsh() && self.byte(start + 1) == Some(b')') {
            return self.parse_function_after_name(start, Vec::new());
        }
        self.at += 1;
        let script = self.parse_nonempty_script(ListEnds::PAREN)?;
        self.expect(b')', "`(`")?;
        self.finish_compound(Compound::Subshell(script), start)
    }

    /// Parses `{ …; }` and `{ … } always { … }`.
    fn parse_group(&mut self, end: usize) -> ParseResult<Compound> {
        self.pass_token(end);
        let body = self.parse_braced_list(true)?;
        if self.is_zsh() {
            let before = self.at;
            self.skip_blanks();
            let word = b"always";
            let after = self.at + word.len();
            let is_always = self.bytes.get(self.at..after) == Some(word);
            if is_always && matches!(self.byte(after), Some(b' ' | b'\t' | b'\n' | b'{')) {
                self.pass_token(after);
                self.skip_gap()?;
                if self.take_keyword(Keyword::OpenBrace) || self.take(b'{') {
                    let always = self.parse_braced_list(true)?;
                    return Ok(Compound::Always { body, always });
                }
                return Err(self.unexpected("token after `always`"));
            }
            self.at = before;
        }
        Ok(Compound::Group(body))
    }

    /// Parses a list up to `}`, after the `{`.
    pub(super) fn parse_braced_list(&mut self, filled: bool) -> ParseResult<Script> {
        let script = if filled {
            self.parse_nonempty_script(ListEnds::BRACE)?
        } else {
            self.parse_script(ListEnds::BRACE)?
        };
        self.expect_keyword(Keyword::CloseBrace, "`{`")?;
        Ok(script)
    }

    fn parse_if(&mut self, end: usize) -> ParseResult<Compound> {
        self.pass_token(end);
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.parse_nonempty_script(ListEnds::THEN.or(ListEnds::SHORT_BODY))?;
            self.skip_blanks();
            if self.is_zsh()
                && !matches!(self.peek_keyword(), Some((Keyword::Then, _)))
                && self.peek().is_some()
            {
                return self.parse_short_if(branches, condition);
            }
            self.expect_keyword(Keyword::Then, "`if`")?;
            let body = self.parse_nonempty_script(ListEnds::FI)?;
            branches.push(IfBranch { condition, body });
            if self.take_keyword(Keyword::Elif) {
                continue;
            }
            if self.take_keyword(Keyword::Else) {
                otherwise = Some(self.parse_nonempty_script(ListEnds::FI)?);
            }
            self.expect_keyword(Keyword::Fi, "`if`")?;
            return Ok(Compound::If(IfCommand { branches, otherwise }));
        }
    }

    /// Parses `if [[ a ]] { b } elif (c) { d } else { e }` and `if (a) b` of zsh.
    fn parse_short_if(&mut self, mut branches: Vec<IfBranch>, condition: Script) -> ParseResult<Compound> {
        let mut condition = condition;
        let mut otherwise = None;
        loop {
            let is_braced = self.take_keyword(Keyword::OpenBrace);
            let body =
                if is_braced { self.parse_braced_list(false)? } else { self.parse_single_statement()? };
            branches.push(IfBranch { condition, body });
            let before = self.at;
            if is_braced {
                self.skip_gap()?;
                if self.take_keyword(Keyword::Elif) {
                    condition = self.parse_script(ListEnds::SHORT_BODY)?;
                    self.skip_blanks();
                    continue;
                }
                if self.take_keyword(Keyword::Else) {
                    self.skip_gap()?;
                    let is_braced = self.take_keyword(Keyword::OpenBrace);
                    otherwise = Some(if is_braced {
                        self.parse_braced_list(false)?
                    } else {
                        self.parse_single_statement()?
                    });
                } else {
                    self.at = before;
                }
            }
            return Ok(Compound::If(IfCommand { branches, otherwise }));
        }
    }

    /// Parses one statement as a list: the body of a short zsh loop.
    pub(super) fn parse_single_statement(&mut self) -> ParseResult<Script> {
        self.with_depth(|parser| {
            let statement = parser.parse_statement()?;
            let span = statement.span;
            Ok(Script { statements: crate::SmallList::One(statement), span })
        })
    }

    /// Parses `coproc [NAME] command`.
    fn parse_coprocess(&mut self, start: usize) -> ParseResult<Command> {
        self.skip_blanks();
        let name_start = self.at;
        let length = self.count_while(name_start, super::scan::is_name_byte);
        let mut name = None;
        if length > 0 && self.peek_keyword().is_none() {
            self.at += length;
            self.skip_blanks();
            let is_compound = self.at > name_start + length
                && (self.peek() == Some(b'(')
                    || self.peek_keyword().is_some_and(|(keyword, _)| {
                        !matches!(keyword, Keyword::In | Keyword::CloseBrace | Keyword::Bang | Keyword::Time)
                    }));
            if is_compound {
                name = Some(self.slice(name_start, name_start + length).into());
            } else {
                self.at = name_start;
            }
        }
        let command = self.with_depth(Self::parse_command)?;
        let span = self.span_from(start);
        Ok(Command::Coprocess(Box::new(Coprocess { name, command, span })))
    }
}
