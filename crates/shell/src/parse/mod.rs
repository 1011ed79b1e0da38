// SPDX-License-Identifier: Apache-2.0 OR MIT

//! A recursive-descent parser over the bytes of the text. It has no separate tokenizer, because the meaning of a
//! character depends on its context.
//!
//! The files follow the grammar from the outside in: `list` (scripts, statements, pipelines), `command` (simple
//! commands), `compound`, `word`, `dollar`, `parameter`. `scan` has shared functions.

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

use crate::ast::{Comment, ParsedScript, Script, UnparsedReason, UnparsedText};
use crate::limits::{MAX_DEPTH, MAX_NODES, MAX_REREAD_FACTOR, MAX_SOURCE_BYTES, MIN_REREAD_BYTES};
use crate::{ParseOptions, Span, TreeVisitor};

/// The reason and position at which parsing of a statement stopped.
#[derive(Debug, Clone, Copy)]
struct ParseStop {
    at: usize,
    reason: UnparsedReason,
}

type ParseResult<T = ()> = Result<T, ParseStop>;

/// Parses a whole text.
pub(crate) fn parse(text: &str, options: ParseOptions) -> ParsedScript {
    let mut parser = ShellParser::new(text, options);
    let script = if text.len() > MAX_SOURCE_BYTES {
        parser.give_up(UnparsedReason::TooLong)
    } else if text.as_bytes().contains(&0) {
        // Bash drops NUL bytes in a script file. In an argument, the text ends at the first NUL byte.
        parser.give_up(UnparsedReason::Unexpected("NUL byte"))
    } else {
        parser.parse_text()
    };
    let unparsed = if parser.gave_up { count_unparsed(&script) } else { 0 };
    ParsedScript { script, comments: parser.comments, unparsed }
}

/// Counts the unparsed nodes in the final tree. Some nodes that were created while parsing are in parts that were
/// discarded.
fn count_unparsed(script: &Script) -> u32 {
    struct UnparsedCounter(u32);
    impl TreeVisitor for UnparsedCounter {
        fn unparsed(&mut self, _unparsed: &UnparsedText) {
            self.0 += 1;
        }
    }
    let mut count = UnparsedCounter(0);
    count.script(script);
    count.0
}

/// The state of the parser.
struct ShellParser<'t> {
    source: &'t str,
    /// The bytes that this parser may read, up to the end of the text, a here-document or a backtick.
    bytes: &'t [u8],
    at: usize,
    /// Offset after the last token, before any whitespace that follows.
    token_end: usize,
    options: ParseOptions,
    depth: u32,
    /// Number of remaining nodes.
    nodes: u32,
    /// Remaining bytes that may be read again.
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

impl<'t> ShellParser<'t> {
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

    /// Returns the whole text as one unparsed node.
    fn give_up(&mut self, reason: UnparsedReason) -> Script {
        let stop = ParseStop { at: self.at, reason };
        let unparsed = self.unparsed_node(0, self.bytes.len(), stop);
        list::script_of_unparsed(unparsed)
    }

    fn unparsed_node(&mut self, start: usize, end: usize, stop: ParseStop) -> UnparsedText {
        self.gave_up = true;
        UnparsedText {
            text: self.slice(start, end).into(),
            reason: stop.reason,
            at: self.span(stop.at, stop.at).start,
            span: self.span(start, end),
        }
    }

    // === limits ===

    /// Counts a node against the limit.
    fn count_node(&mut self) -> ParseResult {
        self.count_nodes(1)
    }

    /// Counts several nodes, or one that uses the memory of several.
    fn count_nodes(&mut self, count: u32) -> ParseResult {
        match self.nodes.checked_sub(count) {
            Some(left) => self.nodes = left,
            None => return Err(self.stop(UnparsedReason::TooManyNodes)),
        }
        Ok(())
    }

    /// Counts bytes that are read a second time.
    fn count_reread(&mut self, bytes: usize) -> ParseResult {
        match self.rereads.checked_sub(bytes) {
            Some(left) => self.rereads = left,
            None => return Err(self.stop(UnparsedReason::TooMuchRereading)),
        }
        Ok(())
    }

    /// Runs `read` at the next nesting level.
    fn with_depth<T>(&mut self, read: impl FnOnce(&mut Self) -> ParseResult<T>) -> ParseResult<T> {
        if self.depth >= MAX_DEPTH {
            return Err(self.stop(UnparsedReason::TooDeep));
        }
        self.depth += 1;
        let outcome = read(self);
        self.depth -= 1;
        outcome
    }

    /// Runs `read` on the bytes up to `end`, with a separate list of here-documents.
    fn with_end<T>(&mut self, end: usize, read: impl FnOnce(&mut Self) -> T) -> T {
        let bytes = self.bytes;
        self.bytes = bytes.get(..end).unwrap_or(bytes);
        let pending = std::mem::take(&mut self.pending);
        let result = read(self);
        self.bytes = bytes;
        self.pending = pending;
        result
    }

    // === errors ===

    fn stop(&self, reason: UnparsedReason) -> ParseStop {
        ParseStop { at: self.at, reason }
    }

    fn unexpected(&self, what: &'static str) -> ParseStop {
        self.stop(UnparsedReason::Unexpected(what))
    }

    fn unclosed(&self, what: &'static str) -> ParseStop {
        ParseStop { at: self.bytes.len(), reason: UnparsedReason::Unclosed(what) }
    }

    // === spans ===

    /// Returns the span of these offsets in the original text.
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

    /// Returns the span from `start` to the end of the last token.
    fn span_from(&self, start: usize) -> Span {
        self.span(start, self.token_end.max(start))
    }

    fn slice(&self, start: usize, end: usize) -> &'t str {
        self.source.get(start..end).unwrap_or_default()
    }
}
