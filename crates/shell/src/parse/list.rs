// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Scripts, statements and pipelines; recovery after text that is not understood.

use super::keyword::{Ends, Keyword};
use super::{Outcome, Parser, Stop};
use crate::ast::{
    ChainOperator, ChainedPipeline, Command, Pipeline, Script, Stage, Statement, Terminator, Unparsed,
    UnparsedReason,
};
use crate::{OneOrMany, Span};

impl Parser<'_> {
    /// Statements to the end of the text. Where a statement is not understood, it becomes an
    /// [`Unparsed`] node up to the end of the line, and the next line is read as if nothing had happened.
    pub(super) fn whole_text(&mut self) -> Script {
        let mut statements = OneOrMany::default();
        let first = self.at;
        loop {
            let start = self.at;
            let (from, outcome) = match self.gap() {
                Ok(()) => (self.at, self.next_statement(Ends::TEXT)),
                Err(stop) => (start, Err(stop)),
            };
            match outcome {
                Ok(Some(statement)) => statements.push(statement),
                Ok(None) => break,
                Err(stop) => {
                    let unparsed = self.recover(from, stop);
                    statements.push(statement_of_unparsed(unparsed));
                }
            }
        }
        // The text ends in the line of these documents.
        for document in std::mem::take(&mut self.pending) {
            document.leave_empty(self.span(self.at, self.at));
        }
        let start =
            statements.first().map_or(self.span(first, first).start, |statement| statement.span.start);
        let end = statements.last().map_or(start, |statement| statement.span.end);
        Script { statements, span: Span { start, end } }
    }

    /// Passes the text from `start` to the end of the line at which parsing stopped, and the here-documents behind.
    fn recover(&mut self, start: usize, stop: Stop) -> Unparsed {
        let exhausted =
            matches!(stop.reason, UnparsedReason::TooManyNodes | UnparsedReason::TooMuchRereading);
        // The statement may have stopped before a line end that it has already passed.
        let from = stop.at.max(self.at).max(start);
        let end =
            if exhausted { self.bytes.len() } else { from + self.count_while(from, |byte| byte != b'\n') };
        self.at = end;
        // Here-documents of the statement are part of the text that is given up.
        if !self.pending.is_empty() && self.peek() == Some(b'\n') {
            self.at += 1;
            if self.read_documents().is_err() {
                self.pending.clear();
            }
        }
        self.token_end = self.at;
        self.unparsed_node(start, self.at, stop)
    }

    /// Statements up to one of `ends`, which is not passed.
    pub(super) fn script(&mut self, ends: Ends) -> Outcome<Script> {
        self.deeper(|parser| {
            let mut statements = OneOrMany::default();
            parser.gap()?;
            let first = parser.at;
            while let Some(statement) = parser.next_statement(ends)? {
                let ended = statement.terminator == Terminator::End;
                statements.push(statement);
                if ended {
                    break;
                }
                parser.gap()?;
            }
            let span = match (statements.first(), statements.last()) {
                (Some(first), Some(last)) => Span { start: first.span.start, end: last.span.end },
                _ => parser.span(first, first),
            };
            Ok(Script { statements, span })
        })
    }

    /// The same, with at least one statement; zsh allows none.
    pub(super) fn filled_script(&mut self, ends: Ends) -> Outcome<Script> {
        let script = self.script(ends)?;
        if script.statements.is_empty() && !self.is_zsh() && self.peek().is_some() {
            return Err(self.unexpected("end of an empty list"));
        }
        Ok(script)
    }

    /// The next statement with its terminator; `None` where the list ends.
    fn next_statement(&mut self, ends: Ends) -> Outcome<Option<Statement>> {
        if self.is_zsh() {
            self.pass_empty_statements()?;
        }
        if self.ends_list(ends)? {
            return Ok(None);
        }
        let mut statement = self.statement()?;
        self.blanks();
        statement.terminator = match self.peek() {
            Some(b'\n') => {
                self.newline()?;
                Terminator::Newline
            }
            Some(b';') if self.at_case_terminator() && ends.has(Ends::ESAC) => Terminator::End,
            Some(b';') if self.at_case_terminator() && !self.is_zsh() => {
                return Err(self.unexpected("`;;`"));
            }
            Some(b';') => {
                self.at += 1;
                Terminator::Semicolon
            }
            Some(b'&') => {
                self.at += 1;
                if self.is_zsh() && matches!(self.peek(), Some(b'!' | b'|')) {
                    self.at += 1;
                    Terminator::Disowned
                } else {
                    Terminator::Background
                }
            }
            None => Terminator::End,
            _ if self.may_end_here(&statement, ends)? => Terminator::End,
            _ => return Err(self.unexpected("token after a command")),
        };
        Ok(Some(statement))
    }

    /// Whether the list may end without a separator: before `)`, and after a compound command.
    fn may_end_here(&self, statement: &Statement, ends: Ends) -> Outcome<bool> {
        let last = statement.rest.last().map_or(&statement.first, |chained| &chained.pipeline);
        let is_compound = matches!(
            last.stages.last().map(|stage| &stage.command),
            Some(Command::Compound(_) | Command::Function(_) | Command::Coprocess(_))
        );
        if ends.has(Ends::SHORT) && self.is_zsh() && is_compound {
            return Ok(true);
        }
        let closes = self.peek() == Some(b')') || is_compound || self.is_zsh();
        Ok(closes && self.ends_list(ends)?)
    }

    fn pass_empty_statements(&mut self) -> Outcome {
        while self.peek() == Some(b';') && !self.at_case_terminator() {
            self.at += 1;
            self.gap()?;
        }
        Ok(())
    }

    /// `a && b || c`
    pub(super) fn statement(&mut self) -> Outcome<Statement> {
        self.node()?;
        let start = self.at;
        let first = self.pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.blanks();
            let operator = if self.take_pair(b'&', b'&') {
                ChainOperator::And
            } else if self.take_pair(b'|', b'|') {
                ChainOperator::Or
            } else {
                break;
            };
            self.gap()?;
            rest.push(ChainedPipeline { operator, pipeline: self.pipeline()? });
        }
        Ok(Statement { first, rest, terminator: Terminator::End, span: self.span_from(start) })
    }

    /// `! time a | b |& c`
    fn pipeline(&mut self) -> Outcome<Pipeline> {
        let start = self.at;
        let mut negations = 0;
        let mut timed = false;
        while let Some((keyword, end)) = self.keyword() {
            match keyword {
                Keyword::Bang => negations += 1,
                Keyword::Time => timed = true,
                _ => break,
            }
            self.pass_token(end);
            self.blanks();
            if keyword == Keyword::Time {
                self.time_options();
            }
        }
        let mut stages = OneOrMany::default();
        // `!` and `time` may stand alone.
        let alone = (negations > 0 || timed)
            && (matches!(self.peek(), None | Some(b'\n' | b';' | b')' | b'&' | b'|')));
        loop {
            if alone {
                break;
            }
            let command = self.command()?;
            self.blanks();
            let pipes_stderr = self.is_extended() && self.take_pair(b'|', b'&');
            let more = pipes_stderr
                || (self.peek() == Some(b'|') && self.peek_next() != Some(b'|') && self.take(b'|'));
            stages.push(Stage { command, pipes_stderr });
            if !more {
                break;
            }
            self.gap()?;
            // `a | time b` is legal; it changes nothing for who reads the tree.
            while let Some((Keyword::Bang | Keyword::Time, end)) = self.keyword() {
                self.pass_token(end);
                self.blanks();
            }
        }
        Ok(Pipeline { stages, negations, timed, span: self.span_from(start) })
    }

    /// `time -p --`
    fn time_options(&mut self) {
        for option in [&b"-p"[..], b"--"] {
            let end = self.at + option.len();
            let is_here = self.bytes.get(self.at..end) == Some(option);
            if is_here && self.byte(end).is_none_or(|byte| byte.is_ascii_whitespace()) {
                self.pass_token(end);
                self.blanks();
            }
        }
    }
}

/// A statement that only says what was not understood.
fn statement_of_unparsed(unparsed: Unparsed) -> Statement {
    let span = unparsed.span;
    let command = Command::Unparsed(Box::new(unparsed));
    let stages = OneOrMany::One(Stage { command, pipes_stderr: false });
    let first = Pipeline { stages, negations: 0, timed: false, span };
    Statement { first, rest: Vec::new(), terminator: Terminator::Newline, span }
}

/// A script that only says what was not understood.
pub(super) fn script_of_unparsed(unparsed: Unparsed) -> Script {
    let span = unparsed.span;
    Script { statements: OneOrMany::One(statement_of_unparsed(unparsed)), span }
}
