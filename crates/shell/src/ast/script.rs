// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines scripts, statements and pipelines.

use super::Command;
use crate::{SmallList, Span};

/// A parsed script, as returned by [`parse`](crate::parse).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParsedScript {
    /// The statements of the text.
    pub script: Script,
    /// Comments at any depth, in the order of the text. Comments inside backticks with escapes are included.
    pub comments: Vec<Comment>,
    /// Number of [`UnparsedText`](super::UnparsedText) nodes at any depth.
    pub unparsed: u32,
}

impl ParsedScript {
    /// Whether every part of the text was understood.
    pub fn is_complete(&self) -> bool {
        self.unparsed == 0
    }
}

/// A comment, from `#` to the end of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comment {
    /// The text with the `#`, without the line break.
    pub text: Box<str>,
    /// Position in the source.
    pub span: Span,
}

/// A list of statements: a whole text, the body of a loop, the inside of `$(…)`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// The statements in the order of the text.
    pub statements: SmallList<Statement>,
    /// From the first statement to the end of the last one.
    pub span: Span,
}

/// Pipelines joined by `&&` and `||`, up to `;`, `&` or the end of the line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Statement {
    /// The first pipeline.
    pub first: Pipeline,
    /// The pipelines after it, each with the operator before it.
    pub rest: Vec<ChainedPipeline>,
    /// How the statement ends.
    pub terminator: Terminator,
    /// The statement without its terminator.
    pub span: Span,
}

impl Statement {
    /// Returns all pipelines of the statement.
    pub fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|chained| &chained.pipeline))
    }

    /// Whether the statement runs in the background.
    pub fn is_background(&self) -> bool {
        matches!(self.terminator, Terminator::Background | Terminator::Disowned)
    }
}

/// A pipeline after `&&` or `||`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainedPipeline {
    /// The operator before the pipeline.
    pub operator: ChainOperator,
    /// Pipeline after the operator.
    pub pipeline: Pipeline,
}

/// `&&` or `||`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChainOperator {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// How a statement ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Terminator {
    /// `;`
    Semicolon,
    /// A line break.
    Newline,
    /// `&`: runs in the background.
    Background,
    /// `&!` or `&|` of zsh: runs in the background, outside the job table.
    Disowned,
    /// The end of the text or of the enclosing command.
    End,
}

/// Commands joined by `|` and `|&`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    /// The commands with the pipe after each.
    pub stages: SmallList<PipelineStage>,
    /// Number of `!` before the pipeline.
    pub negations: u32,
    /// Whether the pipeline is preceded by `time`.
    pub timed: bool,
    /// Position in the source, with `!` and `time`.
    pub span: Span,
}

impl Pipeline {
    /// Returns the commands in order.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        self.stages.iter().map(|stage| &stage.command)
    }
}

/// One command of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PipelineStage {
    /// The command of this stage.
    pub command: Command,
    /// Whether `|&` follows: standard error goes into the pipe as well.
    pub pipes_stderr: bool,
}
