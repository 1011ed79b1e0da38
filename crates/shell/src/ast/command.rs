// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines commands, assignments and functions.

use super::{ArithmeticText, CompoundCommand, Redirect, UnparsedText, Word, WordPart};
use crate::Span;

/// One command of a pipeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A program or builtin with its words, or only assignments and redirections.
    Simple(SimpleCommand),
    /// `if`, loops, `case`, groups, `(( ))`, `[[ ]]`.
    Compound(Box<CompoundCommand>),
    /// A function definition.
    Function(Box<FunctionDefinition>),
    /// `coproc`
    Coprocess(Box<Coprocess>),
    /// Text that was not understood.
    Unparsed(Box<UnparsedText>),
}

impl Command {
    /// Returns the position in the source.
    pub fn span(&self) -> Span {
        match self {
            Self::Simple(command) => command.span,
            Self::Compound(command) => command.span,
            Self::Function(function) => function.span,
            Self::Coprocess(coprocess) => coprocess.span,
            Self::Unparsed(unparsed) => unparsed.span,
        }
    }
}

/// Assignments, words and redirections. Their spans give the order in which they were written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SimpleCommand {
    /// Assignments before the first word. Without words they change the shell's own variables.
    pub assignments: Vec<Assignment>,
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// Redirections of the command.
    pub redirects: Vec<Redirect>,
    /// Position in the source.
    pub span: Span,
}

impl SimpleCommand {
    /// Returns the constant name of the program, if the first word is constant.
    pub fn program(&self) -> Option<std::borrow::Cow<'_, str>> {
        self.words.first()?.literal()
    }

    /// Returns the definitions of an `alias` command: the name and the part of each word after `=`.
    pub fn alias_definitions(&self) -> impl Iterator<Item = (&str, &Word)> {
        let is_alias = self.program().as_deref() == Some("alias");
        self.words.iter().skip(1).filter(move |_| is_alias).filter_map(|word| {
            let WordPart::Literal(first) = word.parts.first()? else { return None };
            let (name, _) = first.text.split_once('=')?;
            Some((name, word))
        })
    }
}

/// `NAME=value`, `NAME+=value`, `NAME[key]=value`, `NAME=(…)`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// Name of the variable.
    pub name: Box<str>,
    /// Key or index in brackets.
    pub subscript: Option<Subscript>,
    /// Whether it is `+=`.
    pub appends: bool,
    /// The assigned value.
    pub value: AssignmentValue,
    /// Position in the source.
    pub span: Span,
}

/// Key or index of an array element: `[1]`, `[$i]`, `[@]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subscript {
    /// `[@]`
    All,
    /// `[*]`
    Joined,
    /// Any other text. Whether it is arithmetic or a key depends on how the array was declared.
    Index(ArithmeticText),
}

/// Value of an assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssignmentValue {
    /// A word, possibly empty.
    Word(Word),
    /// `(…)`
    Array(ArrayLiteral),
}

/// `(a b [2]=c)`
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ArrayLiteral {
    /// Elements in order.
    pub elements: Vec<ArrayElement>,
    /// Position in the source, with the parentheses.
    pub span: Span,
}

/// One element of an array literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayElement {
    /// The key in `[key]=value`.
    pub subscript: Option<Subscript>,
    /// Whether it is `[key]+=value`.
    pub appends: bool,
    /// Value of the element.
    pub value: Word,
}

/// `name() { … }`, `function name { … }`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionDefinition {
    /// Names; bash has one, zsh may have several or none (`() { … }` runs immediately).
    pub names: Vec<Word>,
    /// The body: a compound command, in zsh any command.
    pub body: Command,
    /// Arguments of an anonymous function of zsh.
    pub arguments: Vec<Word>,
    /// Position in the source.
    pub span: Span,
}

/// `coproc [NAME] command`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coprocess {
    /// Name of the array with the file descriptors.
    pub name: Option<Box<str>>,
    /// The command of this stage.
    pub command: Command,
    /// Position in the source.
    pub span: Span,
}
