// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses scripts, statements and pipelines, and recovers after text that is not understood.

use super::keyword::{Keyword, ListEnds};
use super::{ParseResult, ParseStop, ShellParser};
use crate::ast::{
    ChainOperator, ChainedPipeline, Command, Pipeline, PipelineStage, Script, Statement, Terminator,
    UnparsedReason, UnparsedText,
};
use crate::{SmallList, Span};

impl ShellParser<'_> {
    /// Parses statements to the end of the text. A statement that is not understood becomes an [`UnparsedText`] node up
    /// to the end of the line, and parsing continues on the next line.
    pub(super) fn parse_text(&mut self) -> Script {
        let mut statements = SmallList::default();
        let first = self.at;
        loop {
            let start = self.at;
            let (from, outcome) = match self.skip_gap() {
                Ok(()) => (self.at, self.parse_next_statement(ListEnds::TEXT)),
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
        // The text ends before the bodies of these documents.
        for document in std::mem::take(&mut self.pending) {
            document.leave_empty(self.span(self.at, self.at));
        }
        let start =
            statements.first().map_or(self.span(first, first).start, |statement| statement.span.start);
        let end = statements.last().map_or(start, |statement| statement.span.end);
        Script { statements, span: Span { start, end } }
    }

    /// Skips from `start` to the end of the line at which parsing stopped, and its here-documents.
    fn recover(&mut self, start: usize, stop: ParseStop) -> UnparsedText {
        let exhausted =
            matches!(stop.reason, UnparsedReason::TooManyNodes | UnparsedReason::TooMuchRereading);
        // The statement may have stopped before a line end that was already consumed.
        let from = stop.at.max(self.at).max(start);
        let end =
            if exhausted { self.bytes.len() } else { from + self.count_while(from, |byte| byte != b'\n') };
        self.at = end;
        // Here-documents of the statement are part of the unparsed text.
        if !self.pending.is_empty() && self.peek() == Some(b'\n') {
            self.at += 1;
            if self.read_documents().is_err() {
                self.pending.clear();
            }
        }
        self.token_end = self.at;
        self.unparsed_node(start, self.at, stop)
    }

    /// Parses statements up to one of `ends`, which is not consumed.
    pub(super) fn parse_script(&mut self, ends: ListEnds) -> ParseResult<Script> {
        self.with_depth(|parser| {
            let mut statements = SmallList::default();
            parser.skip_gap()?;
            let first = parser.at;
            while let Some(statement) = parser.parse_next_statement(ends)? {
                let ended = statement.terminator == Terminator::End;
                statements.push(statement);
                if ended {
                    break;
                }
                parser.skip_gap()?;
            }
            let span = match (statements.first(), statements.last()) {
                (Some(first), Some(last)) => Span { start: first.span.start, end: last.span.end },
                _ => parser.span(first, first),
            };
            Ok(Script { statements, span })
        })
    }

    /// Parses at least one statement; zsh allows none.
    pub(super) fn parse_nonempty_script(&mut self, ends: ListEnds) -> ParseResult<Script> {
        let script = self.parse_script(ends)?;
        if script.statements.is_empty() && !self.is_zsh() && self.peek().is_some() {
            return Err(self.unexpected("end of an empty list"));
        }
        Ok(script)
    }

    /// Parses the next statement with its terminator; `None` at the end of the list.
    fn parse_next_statement(&mut self, ends: ListEnds) -> ParseResult<Option<Statement>> {
        if self.is_zsh() {
            self.skip_empty_statements()?;
        }
        if self.ends_list(ends)? {
            return Ok(None);
        }
        let mut statement = self.parse_statement()?;
        self.skip_blanks();
        statement.terminator = match self.peek() {
            Some(b'\n') => {
                self.skip_newline()?;
                Terminator::Newline
            }
            Some(b';') if self.at_case_terminator() && ends.has(ListEnds::ESAC) => Terminator::End,
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
    fn may_end_here(&self, statement: &Statement, ends: ListEnds) -> ParseResult<bool> {
        let last = statement.rest.last().map_or(&statement.first, |chained| &chained.pipeline);
        let is_compound = matches!(
            last.stages.last().map(|stage| &stage.command),
            Some(Command::Compound(_) | Command::Function(_) | Command::Coprocess(_))
        );
        if ends.has(ListEnds::SHORT_BODY) && self.is_zsh() && is_compound {
            return Ok(true);
        }
        let closes = self.peek() == Some(b')') || is_compound || self.is_zsh();
        Ok(closes && self.ends_list(ends)?)
    }

    fn skip_empty_statements(&mut self) -> ParseResult {
        while self.peek() == Some(b';') && !self.at_case_terminator() {
            self.at += 1;
            self.skip_gap()?;
        }
        Ok(())
    }

    /// Parses `a && b || c`.
    pub(super) fn parse_statement(&mut self) -> ParseResult<Statement> {
        self.count_node()?;
        let start = self.at;
        let first = self.parse_pipeline()?;
        let mut rest = Vec::new();
        loop {
            self.skip_blanks();
            let operator = if self.take_pair(b'&', b'&') {
                ChainOperator::And
            } else if self.take_pair(b'|', b'|') {
                ChainOperator::Or
            } else {
                break;
            };
            self.skip_gap()?;
            rest.push(ChainedPipeline { operator, pipeline: self.parse_pipeline()? });
        }
        Ok(Statement { first, rest, terminator: Terminator::End, span: self.span_from(start) })
    }

    /// Parses `! time a | b |& c`.
    fn parse_pipeline(&mut self) -> ParseResult<Pipeline> {
        let start = self.at;
        let mut negations = 0;
        let mut timed = false;
        while let Some((keyword, end)) = self.peek_keyword() {
            match keyword {
                Keyword::Bang => negations += 1,
                Keyword::Time => timed = true,
                _ => break,
            }
            self.pass_token(end);
            self.skip_blanks();
            if keyword == Keyword::Time {
                self.skip_time_options();
            }
        }
        let mut stages = SmallList::default();
        // `!` and `time` may be used without a command.
        let alone = (negations > 0 || timed)
            && (matches!(self.peek(), None | Some(b'\n' | b';' | b')' | b'&' | b'|')));
        loop {
            if alone {
                break;
            }
            let command = self.parse_command()?;
            self.skip_blanks();
            let pipes_stderr = self.is_extended() && self.take_pair(b'|', b'&');
            let more = pipes_stderr
                || (self.peek() == Some(b'|') && self.peek_next() != Some(b'|') && self.take(b'|'));
            stages.push(PipelineStage { command, pipes_stderr });
            if !more {
                break;
            }
            self.skip_gap()?;
            // `a | time b` is legal, but is not represented in the tree.
            while let Some((Keyword::Bang | Keyword::Time, end)) = self.peek_keyword() {
                self.pass_token(end);
                self.skip_blanks();
            }
        }
        Ok(Pipeline { stages, negations, timed, span: self.span_from(start) })
    }

    /// Skips `-p` and `--` after `time`.
    fn skip_time_options(&mut self) {
        for option in [&b"-p"[..], b"--"] {
            let end = self.at + option.len();
            let is_here = self.bytes.get(self.at..end) == Some(option);
            if is_here && self.byte(end).is_none_or(|byte| byte.is_ascii_whitespace()) {
                self.pass_token(end);
                self.skip_blanks();
            }
        }
    }
}

/// Creates a statement with a single unparsed node.
fn statement_of_unparsed(unparsed: UnparsedText) -> Statement {
    let span = unparsed.span;
    let command = Command::Unparsed(Box::new(unparsed));
    let stages = SmallList::One(PipelineStage { command, pipes_stderr: false });
    let first = Pipeline { stages, negations: 0, timed: false, span };
    Statement { first, rest: Vec::new(), terminator: Terminator::Newline, span }
}

/// Creates a script with a single unparsed node.
pub(super) fn script_of_unparsed(unparsed: UnparsedText) -> Script {
    let span = unparsed.span;
    Script { statements: SmallList::One(statement_of_unparsed(unparsed)), span }
}
