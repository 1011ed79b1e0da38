// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Compound commands: groups, subshells, `if`, `(( ))`.

use super::keyword::{Ends, Keyword};
use super::{Outcome, Parser};
use crate::ast::{Command, Compound, CompoundCommand, Coprocess, IfBranch, IfCommand, Script};

impl Parser<'_> {
    /// A command that starts with a reserved word; `None` if the word is an ordinary one here.
    pub(super) fn reserved(&mut self, keyword: Keyword, end: usize) -> Outcome<Option<Command>> {
        let start = self.at;
        let kind = match keyword {
            // zsh has it only after `for` and `case`.
            Keyword::In if self.is_zsh() => return Ok(None),
            // A list that ends with one of these has been checked for it before.
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
            Keyword::OpenBrace => self.group(end)?,
            Keyword::Function => {
                self.pass_token(end);
                return self.function_after_keyword(start).map(Some);
            }
            Keyword::Coproc => {
                self.pass_token(end);
                return self.coprocess(start).map(Some);
            }
            Keyword::If => self.if_command(end)?,
            Keyword::While | Keyword::Until => self.while_loop(keyword == Keyword::Until, end)?,
            Keyword::For | Keyword::Select | Keyword::Foreach => self.for_loop(keyword, end)?,
            Keyword::Repeat => self.repeat_loop(end)?,
            Keyword::Case => self.case_command(end)?,
            Keyword::OpenTest => self.test_command(end)?,
        };
        self.compound(kind, start).map(Some)
    }

    /// Adds the redirections after a compound command.
    pub(super) fn compound(&mut self, kind: Compound, start: usize) -> Outcome<Command> {
        let redirects = self.redirects()?;
        let span = self.span_from(start);
        Ok(Command::Compound(Box::new(CompoundCommand { kind, redirects, span })))
    }

    /// `( … )`, `(( … ))`, and `() { … }` of zsh
    pub(super) fn parenthesis(&mut self) -> Outcome<Command> {
        let start = self.at;
        if self.is_extended()
            && self.byte(start + 1) == Some(b'(')
            && let Some(end) = self.arithmetic_end(start + 2)?
        {
            self.at = start + 2;
            let expression = self.arithmetic_text(end)?;
            self.pass_token(end + 2);
            return self.compound(Compound::Arithmetic(expression), start);
        }
        if self.is_zsh() && self.byte(start + 1) == Some(b')') {
            return self.function_after_name(start, Vec::new());
        }
        self.at += 1;
        let script = self.filled_script(Ends::PAREN)?;
        self.expect(b')', "`(`")?;
        self.compound(Compound::Subshell(script), start)
    }

    /// `{ …; }` and `{ … } always { … }`
    fn group(&mut self, end: usize) -> Outcome<Compound> {
        self.pass_token(end);
        let body = self.braced(true)?;
        if self.is_zsh() {
            let before = self.at;
            self.blanks();
            let word = b"always";
            let after = self.at + word.len();
            let is_always = self.bytes.get(self.at..after) == Some(word);
            if is_always && matches!(self.byte(after), Some(b' ' | b'\t' | b'\n' | b'{')) {
                self.pass_token(after);
                self.gap()?;
                if self.take_keyword(Keyword::OpenBrace) || self.take(b'{') {
                    let always = self.braced(true)?;
                    return Ok(Compound::Always { body, always });
                }
                return Err(self.unexpected("token after `always`"));
            }
            self.at = before;
        }
        Ok(Compound::Group(body))
    }

    /// A list up to `}`; the `{` is passed.
    pub(super) fn braced(&mut self, filled: bool) -> Outcome<Script> {
        let script = if filled { self.filled_script(Ends::BRACE)? } else { self.script(Ends::BRACE)? };
        self.close(Keyword::CloseBrace, "`{`")?;
        Ok(script)
    }

    fn if_command(&mut self, end: usize) -> Outcome<Compound> {
        self.pass_token(end);
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.filled_script(Ends::THEN.or(Ends::SHORT))?;
            self.blanks();
            if self.is_zsh() && !matches!(self.keyword(), Some((Keyword::Then, _))) && self.peek().is_some() {
                return self.short_if(branches, condition);
            }
            self.close(Keyword::Then, "`if`")?;
            let body = self.filled_script(Ends::FI)?;
            branches.push(IfBranch { condition, body });
            if self.take_keyword(Keyword::Elif) {
                continue;
            }
            if self.take_keyword(Keyword::Else) {
                otherwise = Some(self.filled_script(Ends::FI)?);
            }
            self.close(Keyword::Fi, "`if`")?;
            return Ok(Compound::If(IfCommand { branches, otherwise }));
        }
    }

    /// `if [[ a ]] { b } elif (c) { d } else { e }` and `if (a) b` of zsh
    fn short_if(&mut self, mut branches: Vec<IfBranch>, condition: Script) -> Outcome<Compound> {
        let mut condition = condition;
        let mut otherwise = None;
        loop {
            let is_braced = self.take_keyword(Keyword::OpenBrace);
            let body = if is_braced { self.braced(false)? } else { self.single_statement()? };
            branches.push(IfBranch { condition, body });
            let before = self.at;
            if is_braced {
                self.gap()?;
                if self.take_keyword(Keyword::Elif) {
                    condition = self.script(Ends::SHORT)?;
                    self.blanks();
                    continue;
                }
                if self.take_keyword(Keyword::Else) {
                    self.gap()?;
                    let is_braced = self.take_keyword(Keyword::OpenBrace);
                    otherwise = Some(if is_braced { self.braced(false)? } else { self.single_statement()? });
                } else {
                    self.at = before;
                }
            }
            return Ok(Compound::If(IfCommand { branches, otherwise }));
        }
    }

    /// One statement as a list: the body of a short loop of zsh.
    pub(super) fn single_statement(&mut self) -> Outcome<Script> {
        self.deeper(|parser| {
            let statement = parser.statement()?;
            let span = statement.span;
            Ok(Script { statements: crate::OneOrMany::One(statement), span })
        })
    }

    /// `coproc [NAME] command`
    fn coprocess(&mut self, start: usize) -> Outcome<Command> {
        self.blanks();
        let name_start = self.at;
        let length = self.count_while(name_start, super::scan::is_name_byte);
        let mut name = None;
        if length > 0 && self.keyword().is_none() {
            self.at += length;
            self.blanks();
            let is_compound = self.at > name_start + length
                && (self.peek() == Some(b'(')
                    || self.keyword().is_some_and(|(keyword, _)| {
                        !matches!(keyword, Keyword::In | Keyword::CloseBrace | Keyword::Bang | Keyword::Time)
                    }));
            if is_compound {
                name = Some(self.slice(name_start, name_start + length).into());
            } else {
                self.at = name_start;
            }
        }
        let command = self.deeper(Self::command)?;
        let span = self.span_from(start);
        Ok(Command::Coprocess(Box::new(Coprocess { name, command, span })))
    }
}
