// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Represents text that was not understood.

use std::fmt;

use crate::Span;

/// Text that is not part of the tree, with the reason. Parsing continues after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnparsedText {
    /// The unparsed text.
    pub text: Box<str>,
    /// Why it was not parsed.
    pub reason: UnparsedReason,
    /// Offset of the byte at which parsing stopped.
    pub at: u32,
    /// Position in the source.
    pub span: Span,
}

/// Why text was not parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnparsedReason {
    /// A quote, parenthesis or compound command is not closed before the end of the text.
    Unclosed(&'static str),
    /// A token that is not allowed here; the shell would report a syntax error.
    Unexpected(&'static str),
    /// Longer than [`MAX_SOURCE_BYTES`](crate::limits::MAX_SOURCE_BYTES).
    TooLong,
    /// Deeper than [`MAX_DEPTH`](crate::limits::MAX_DEPTH).
    TooDeep,
    /// More nodes than [`MAX_NODES`](crate::limits::MAX_NODES).
    TooManyNodes,
    /// More rereading than [`MAX_REREAD_FACTOR`](crate::limits::MAX_REREAD_FACTOR) allows.
    TooMuchRereading,
}

impl UnparsedReason {
    /// Whether a limit of this crate was reached. The shell itself may understand such text.
    pub fn is_limit(self) -> bool {
        !matches!(self, Self::Unclosed(_) | Self::Unexpected(_))
    }
}

impl fmt::Display for UnparsedReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unclosed(what) => write!(out, "unclosed {what}"),
            Self::Unexpected(what) => write!(out, "unexpected {what}"),
            Self::TooLong => out.write_str("text too long"),
            Self::TooDeep => out.write_str("nested too deeply"),
            Self::TooManyNodes => out.write_str("too many words and commands"),
            Self::TooMuchRereading => out.write_str("too ambiguous"),
        }
    }
}
