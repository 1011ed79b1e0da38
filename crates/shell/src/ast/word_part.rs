// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines the kinds of word parts.

use super::{Script, Word, WordPart};
use crate::{SmallList, Span};

/// Literal text without special meaning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Literal {
    /// The text without quotes.
    pub text: Box<str>,
    /// Position in the source, with quotes.
    pub span: Span,
}

/// A character after a backslash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Escaped {
    /// The escaped character.
    pub character: char,
    /// Position in the source, with the backslash.
    pub span: Span,
}

/// `$'…'` with escape sequences decoded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsiQuoted {
    /// The decoded text. Bytes that are not UTF-8 are replaced.
    pub text: Box<str>,
    /// Whether the decoded text is exact.
    pub is_text: bool,
    /// Position in the source.
    pub span: Span,
}

/// Text in double quotes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoubleQuoted {
    /// The parts between the quotes.
    pub parts: Vec<WordPart>,
    /// Whether it is `$"…"`, which the shell translates.
    pub is_translated: bool,
    /// Position in the source.
    pub span: Span,
}

/// `~user`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tilde {
    /// The text after `~`, up to `/` or the end: a user, `+`, `-`, or empty for the current user.
    pub user: Box<str>,
    /// Position in the source.
    pub span: Span,
}

/// An unquoted pattern character or group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GlobPart {
    /// The kind of pattern.
    pub kind: GlobKind,
    /// Position in the source.
    pub span: Span,
}

/// Kinds of pattern parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GlobKind {
    /// `*`; several of them in a row are several parts.
    Star,
    /// `?`
    Question,
    /// `[…]` without quotes or expansions inside; the text between the brackets.
    Bracket(Box<str>),
    /// `[` whose end follows a quote or expansion; the parts up to `]` follow as parts of the word.
    BracketStart,
    /// `?(…)`, `*(…)`, `+(…)`, `@(…)`, `!(…)`; in zsh also `(…)` with the operator `(`.
    Extended {
        /// The character before the parenthesis.
        operator: char,
        /// The patterns between `|`.
        alternatives: Vec<Word>,
    },
    /// `<1-9>` of zsh
    NumericRange(Box<str>),
}

/// `{a,b}` or `{1..9}`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BraceExpansion {
    /// Alternatives or a sequence.
    pub kind: BraceKind,
    /// Position in the source.
    pub span: Span,
}

/// Kinds of brace expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BraceKind {
    /// `{a,b}`
    Alternatives(Vec<Word>),
    /// `{1..9}`, `{a..e..2}`
    Sequence {
        /// First element as written.
        first: Box<str>,
        /// Last element as written.
        last: Box<str>,
        /// Increment as written.
        step: Option<Box<str>>,
    },
}

/// `$(…)` or backticks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSubstitution {
    /// Commands of the substitution.
    pub script: Script,
    /// Whether it is written with backticks.
    pub is_backticks: bool,
    /// Position in the source.
    pub span: Span,
}

/// `$((…))` or `$[…]`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArithmeticExpansion {
    /// The arithmetic expression.
    pub expression: ArithmeticText,
    /// Position in the source.
    pub span: Span,
}

/// An arithmetic expression as text. The shell expands it like double-quoted text and then evaluates it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArithmeticText {
    /// Literals and expansions.
    pub parts: SmallList<WordPart>,
    /// Position in the source.
    pub span: Span,
}

/// `<(…)`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSubstitution {
    /// Direction of the data.
    pub direction: ProcessDirection,
    /// Commands of the substitution.
    pub script: Script,
    /// Position in the source.
    pub span: Span,
}

/// Direction of a process substitution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProcessDirection {
    /// `<(…)`: a file with the output of the commands
    Read,
    /// `>(…)`: a file that the commands read
    Write,
    /// `=(…)` of zsh: a temporary file with the output
    TemporaryFile,
}
