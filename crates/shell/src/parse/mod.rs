// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Text → tree. A recursive-descent parser over the bytes of the text: what a character means depends on where it
//! stands, so there is no separate pass that makes tokens.
//!
//! The files follow the grammar from the outside in: `list` (scripts, statements, pipelines), `command` (simple
//! commands), `compound`, `word`, `dollar`, `parameter`. `scan` has what all of them use.

mod ansi;
mod arithmetic;
mod assignment;
mod backtick;
mod brace;
mod case_command;
mod command;
mod compound;
mod condition;
mod dollar;
mod function;
mod glob;
mod here_document;
mod keyword;
mod list;
mod loops;
mod operand;
mod parameter;
mod quote;
mod redirect;
mod scan;
mod word;

use here_document::PendingDocument;

use crate::ast::{Comment, Parsed, Script, Unparsed, UnparsedReason};
use crate::limits::{MAX_DEPTH, MAX_NODES, MAX_REREAD_FACTOR, MAX_SOURCE_BYTES, MIN_REREAD_BYTES};
use crate::{ParseOptions, Span, Visitor};

/// Why and where parsing of a statement stopped.
#[derive(Debug, Clone, Copy)]
struct Stop {
    at: usize,
    reason: UnparsedReason,
}

type Outcome<T = ()> = Result<T, Stop>;

/// Reads a whole text.
pub(crate) fn parse(text: &str, options: ParseOptions) -> Parsed {
    let mut parser = Parser::new(text, options);
    let script = if text.len() > MAX_SOURCE_BYTES {
        parser.give_up(UnparsedReason::TooLong)
    } else if text.as_bytes().contains(&0) {
        // Bash drops NUL bytes in files and ends the text at one in arguments.
        parser.give_up(UnparsedReason::Unexpected("NUL byte"))
    } else {
        parser.whole_text()
    };
    let unparsed = if parser.gave_up { count_unparsed(&script) } else { 0 };
    Parsed { script, comments: parser.comments, unparsed }
}

/// Counts the nodes that were not understood. Some of those made on the way are in parts of the tree that were given
/// up later.
fn count_unparsed(script: &Script) -> u32 {
    struct Count(u32);
    impl Visitor for Count {
        fn unparsed(&mut self, _unparsed: &Unparsed) {
            self.0 += 1;
        }
    }
    let mut count = Count(0);
    count.script(script);
    count.0
}

/// A place in a text.
struct Parser<'t> {
    source: &'t str,
    /// The bytes up to where this parser may read: the end of the text, of a here-document, of a backtick.
    bytes: &'t [u8],
    at: usize,
    /// Offset after the last token, without the blanks behind it.
    token_end: usize,
    options: ParseOptions,
    depth: u32,
    /// Nodes that may still be made.
    nodes: u32,
    /// Bytes that may still be read again.
    rereads: usize,
    /// Here-documents whose bodies follow at the end of the line.
    pending: Vec<PendingDocument>,
    comments: Vec<Comment>,
    /// Whether any text was not understood.
    gave_up: bool,
    /// For an unescaped copy: pairs of an offset in `source` and the offset in the original text, ascending.
    origins: &'t [(usize, usize)],
    bracket_memo: glob::BracketMemo,
}

impl<'t> Parser<'t> {
    fn new(source: &'t str, options: ParseOptions) -> Self {
        Self {
            source,
            bytes: source.as_bytes(),
            at: 0,
            token_end: 0,
            options,
            depth: 0,
            nodes: MAX_NODES,
            rereads: source.len().saturating_mul(MAX_REREAD_FACTOR).saturating_add(MIN_REREAD_BYTES),
            pending: Vec::new(),
            comments: Vec::new(),
            gave_up: false,
            origins: &[],
            bracket_memo: glob::BracketMemo::default(),
        }
    }

    /// The whole text as one node that says why it was not parsed.
    fn give_up(&mut self, reason: UnparsedReason) -> Script {
        let stop = Stop { at: self.at, reason };
        let unparsed = self.unparsed_node(0, self.bytes.len(), stop);
        list::script_of_unparsed(unparsed)
    }

    fn unparsed_node(&mut self, start: usize, end: usize, stop: Stop) -> Unparsed {
        self.gave_up = true;
        Unparsed {
            text: self.slice(start, end).into(),
            reason: stop.reason,
            at: self.span(stop.at, stop.at).start,
            span: self.span(start, end),
        }
    }

    // === limits ===

    /// Counts a node.
    fn node(&mut self) -> Outcome {
        self.count_nodes(1)
    }

    /// Counts several nodes, or one that takes the memory of several.
    fn count_nodes(&mut self, count: u32) -> Outcome {
        match self.nodes.checked_sub(count) {
            Some(left) => self.nodes = left,
            None => return Err(self.stop(UnparsedReason::TooManyNodes)),
        }
        Ok(())
    }

    /// Counts bytes that are read a second time.
    fn reread(&mut self, bytes: usize) -> Outcome {
        match self.rereads.checked_sub(bytes) {
            Some(left) => self.rereads = left,
            None => return Err(self.stop(UnparsedReason::TooMuchRereading)),
        }
        Ok(())
    }

    /// Runs `read` one level deeper.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Outcome<T>) -> Outcome<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.stop(UnparsedReason::TooDeep));
        }
        self.depth += 1;
        let outcome = read(self);
        self.depth -= 1;
        outcome
    }

    /// Runs `read` on the bytes up to `end` only, with here-documents of its own.
    fn within<T>(&mut self, end: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        let bytes = self.bytes;
        self.bytes = bytes.get(..end).unwrap_or(bytes);
        let pending = std::mem::take(&mut self.pending);
        let result = read(self);
        self.bytes = bytes;
        self.pending = pending;
        result
    }

    // === errors ===

    fn stop(&self, reason: UnparsedReason) -> Stop {
        Stop { at: self.at, reason }
    }

    fn unexpected(&self, what: &'static str) -> Stop {
        self.stop(UnparsedReason::Unexpected(what))
    }

    fn unclosed(&self, what: &'static str) -> Stop {
        Stop { at: self.bytes.len(), reason: UnparsedReason::Unclosed(what) }
    }

    // === spans ===

    /// The span of these offsets in the original text.
    fn span(&self, start: usize, end: usize) -> Span {
        if self.origins.is_empty() {
            return Span::new(start, end);
        }
        Span::new(self.original(start), self.original(end))
    }

    fn original(&self, offset: usize) -> usize {
        let at = self.origins.partition_point(|(copied, _)| *copied <= offset);
        match at.checked_sub(1).and_then(|at| self.origins.get(at)) {
            Some((copied, original)) => original + (offset - copied),
            None => offset,
        }
    }

    /// From `start` to the end of the last token.
    fn span_from(&self, start: usize) -> Span {
        self.span(start, self.token_end.max(start))
    }

    fn slice(&self, start: usize, end: usize) -> &'t str {
        self.source.get(start..end).unwrap_or_default()
    }
}
