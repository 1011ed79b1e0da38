// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines words and their parts.

use std::borrow::Cow;

use super::{
    AnsiQuoted, ArithmeticExpansion, ArrayLiteral, BraceExpansion, CommandSubstitution, DoubleQuoted,
    Escaped, GlobPart, Literal, Parameter, ProcessSubstitution, Tilde, UnparsedText,
};
use crate::{SmallList, Span};

/// A word: adjacent parts without whitespace between them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Word {
    /// The parts in order; an empty word has none.
    pub parts: SmallList<WordPart>,
    /// Position in the source.
    pub span: Span,
}

impl Word {
    /// Returns the value of the word, if it consists only of literals and quotes.
    pub fn literal(&self) -> Option<Cow<'_, str>> {
        match self.parts.as_slice() {
            [] => Some(Cow::Borrowed("")),
            [WordPart::Literal(only) | WordPart::SingleQuoted(only)] => Some(Cow::Borrowed(&only.text)),
            [WordPart::DoubleQuoted(quoted)] => match quoted.parts.as_slice() {
                [] => Some(Cow::Borrowed("")),
                [WordPart::Literal(only)] => Some(Cow::Borrowed(&only.text)),
                parts => append_literals(parts).map(Cow::Owned),
            },
            parts => append_literals(parts).map(Cow::Owned),
        }
    }

    /// Whether the word is exactly this unquoted text.
    pub fn is_unquoted(&self, text: &str) -> bool {
        matches!(self.parts.as_slice(), [WordPart::Literal(only)] if &*only.text == text)
    }

    /// Whether any part is quoted. A quoted word is neither a keyword nor an alias. If the delimiter of a here-document
    /// is quoted, nothing in the body is expanded.
    pub fn is_quoted(&self) -> bool {
        self.parts.iter().any(|part| {
            matches!(
                part,
                WordPart::Escaped(_)
                    | WordPart::SingleQuoted(_)
                    | WordPart::DoubleQuoted(_)
                    | WordPart::AnsiQuoted(_)
            )
        })
    }

    /// Whether the word contains an unquoted `*`, `?`, `[…]` or extended pattern.
    pub fn has_glob(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, WordPart::Glob(_)))
    }

    /// Returns the literal text up to the first expansion, and whether that is the whole word.
    pub fn literal_prefix(&self) -> (String, bool) {
        let mut text = String::new();
        for part in &self.parts {
            if !part.append_literal(&mut text) {
                return (text, false);
            }
        }
        (text, true)
    }
}

fn append_literals(parts: &[WordPart]) -> Option<String> {
    let mut text = String::new();
    parts.iter().all(|part| part.append_literal(&mut text)).then_some(text)
}

/// A part of a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPart {
    /// Unquoted text without special meaning.
    Literal(Literal),
    /// `\x`
    Escaped(Escaped),
    /// `'…'`
    SingleQuoted(Literal),
    /// `$'…'`
    AnsiQuoted(AnsiQuoted),
    /// `"…"` and `$"…"`
    DoubleQuoted(DoubleQuoted),
    /// `~`, `~user`
    Tilde(Tilde),
    /// `*`, `?`, `[…]`, `@(…)`
    Glob(Box<GlobPart>),
    /// `{a,b}`, `{1..9}`
    Brace(Box<BraceExpansion>),
    /// `$x`, `${x…}`
    Parameter(Box<Parameter>),
    /// `$(…)` and backticks
    Command(Box<CommandSubstitution>),
    /// `$((…))` and `$[…]`
    Arithmetic(Box<ArithmeticExpansion>),
    /// `<(…)`, `>(…)`, and `=(…)` of zsh
    Process(Box<ProcessSubstitution>),
    /// The value of `declare x=(…)`
    Array(Box<ArrayLiteral>),
    /// `=cmd` of zsh: the path of a program. The text is the name without `=`.
    ProgramPath(Literal),
    /// `!…` in an interactive shell: text from the history.
    History(Literal),
    /// Text that is not valid here. The shell reports the error only when it expands the word.
    Unparsed(Box<UnparsedText>),
}

impl WordPart {
    /// Returns the position in the source.
    pub fn span(&self) -> Span {
        match self {
            Self::Literal(part)
            | Self::SingleQuoted(part)
            | Self::ProgramPath(part)
            | Self::History(part) => part.span,
            Self::Escaped(part) => part.span,
            Self::AnsiQuoted(part) => part.span,
            Self::DoubleQuoted(part) => part.span,
            Self::Tilde(part) => part.span,
            Self::Glob(part) => part.span,
            Self::Brace(part) => part.span,
            Self::Parameter(part) => part.span,
            Self::Command(part) => part.span,
            Self::Arithmetic(part) => part.span,
            Self::Process(part) => part.span,
            Self::Array(part) => part.span,
            Self::Unparsed(part) => part.span,
        }
    }

    /// Appends the constant text of the part; `false` if it has none.
    fn append_literal(&self, text: &mut String) -> bool {
        match self {
            Self::Literal(part) | Self::SingleQuoted(part) => text.push_str(&part.text),
            Self::Escaped(part) => text.push(part.character),
            Self::AnsiQuoted(part) if part.is_text => text.push_str(&part.text),
            Self::DoubleQuoted(part) => return part.parts.iter().all(|part| part.append_literal(text)),
            _ => return false,
        }
        true
    }
}
