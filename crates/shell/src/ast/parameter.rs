// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `$name` and `${…}`.

use super::{ArithmeticText, Subscript, Word};
use crate::Span;

/// A parameter expansion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// What is expanded.
    pub parameter: TransformedParameter,
    /// What is done with the value.
    pub operator: ParameterOperator,
    /// Whether it is written with braces.
    pub braced: bool,
    /// Position in the source.
    pub span: Span,
}

/// A parameter with its prefix and subscript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TransformedParameter {
    /// Name of a variable, digits of a positional parameter, or one of `@*#?-$!_0`. Empty if the parameter is
    /// itself an expansion (`${${x}…}` of zsh), which is then the [`nested`](Self::nested) word.
    pub name: Box<str>,
    /// `${name[…]}`
    pub subscript: Option<Subscript>,
    /// `${#name}`: the length of the value or the number of elements.
    pub is_length: bool,
    /// `${!name}`: the value is the name of another variable. With `[@]`, the result is the keys of the array.
    pub is_indirect: bool,
    /// Flags in parentheses (`${(f)x}`) and the prefixes `=`, `~`, `^`, `+` of zsh.
    pub zsh_flags: Option<Box<str>>,
    /// What zsh expands in place of a name.
    pub nested: Option<Box<Word>>,
}

/// What is done with the value of a parameter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ParameterOperator {
    /// No operator is given.
    #[default]
    None,
    /// `-`, `=`, `?`, `+`, with or without `:`
    Default {
        /// The action if the parameter is unset.
        action: DefaultAction,
        /// Whether an empty value counts as unset (`:`).
        or_empty: bool,
        /// The word after the operator.
        word: Word,
    },
    /// `#pattern`, `##pattern`
    RemovePrefix {
        /// Whether the longest match is removed (`##`).
        longest: bool,
        /// Pattern to match.
        pattern: Word,
    },
    /// `%pattern`, `%%pattern`
    RemoveSuffix {
        /// Whether the longest match is removed (`%%`).
        longest: bool,
        /// Pattern to match.
        pattern: Word,
    },
    /// `/pattern/replacement`
    Replace {
        /// Which matches are replaced.
        scope: ReplaceScope,
        /// Pattern to match.
        pattern: Word,
        /// The replacement; `None` removes the match.
        replacement: Option<Word>,
    },
    /// `:offset`, `:offset:length`
    Substring {
        /// First character, counted from the end if negative.
        offset: ArithmeticText,
        /// Number of characters.
        length: Option<ArithmeticText>,
    },
    /// `^`, `^^`, `,`, `,,`, `~`, `~~`
    ChangeCase {
        /// The kind of change.
        change: CaseChange,
        /// Whether all matching characters are changed, not only the first.
        all: bool,
        /// Pattern for the characters that are changed; empty for all.
        pattern: Word,
    },
    /// `@Q`, `@E`, …
    Transform(char),
    /// `${!prefix@}`, `${!prefix*}`: names of variables
    Names {
        /// Whether it is `*`.
        joined: bool,
    },
    /// An operator of zsh, or one that the shell rejects at run time.
    Other(Word),
}

/// The action if a parameter is unset (or, for `+`, set).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DefaultAction {
    /// `-`: the word is used instead.
    Use,
    /// `=`: the word is assigned and used.
    Assign,
    /// `?`: the shell stops with the word as message.
    Fail,
    /// `+`: the word is used if the parameter is set.
    Alternative,
}

/// Which matches `${x/a/b}` replaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ReplaceScope {
    /// `/`: the first match
    First,
    /// `//`: all matches
    All,
    /// `/#`: a match at the start
    Prefix,
    /// `/%`: a match at the end
    Suffix,
}

/// How `${x^}` and similar operators change letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CaseChange {
    /// `^`
    Upper,
    /// `,`
    Lower,
    /// `~`
    Toggle,
}
