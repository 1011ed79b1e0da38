// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines compound commands: groups, branches, loops and tests.

use super::{ArithmeticText, Redirect, Script, Word};
use crate::Span;

/// A compound command with its redirections.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompoundCommand {
    /// The kind of compound command.
    pub kind: Compound,
    /// Redirections after it.
    pub redirects: Vec<Redirect>,
    /// Position in the source, with the redirections.
    pub span: Span,
}

/// The kinds of compound commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compound {
    /// `{ …; }`
    Group(Script),
    /// `( … )`
    Subshell(Script),
    /// `if …; then …; fi`
    If(IfCommand),
    /// `while …; do …; done` and `until`
    While(WhileLoop),
    /// `for name in …; do …; done`
    For(ForLoop),
    /// `select name in …; do …; done`
    Select(ForLoop),
    /// `for ((…; …; …)); do …; done`
    ArithmeticFor(ArithmeticFor),
    /// `case … in … esac`
    Case(CaseCommand),
    /// `(( … ))`
    Arithmetic(ArithmeticText),
    /// `[[ … ]]`
    Test(TestExpression),
    /// `repeat n …` of zsh
    Repeat(RepeatLoop),
    /// `{ … } always { … }` of zsh: the second list always runs.
    Always {
        /// The first list.
        body: Script,
        /// The list that always runs.
        always: Script,
    },
}

/// `if`, with `elif` and `else`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IfCommand {
    /// `if` and each `elif`.
    pub branches: Vec<IfBranch>,
    /// `else`
    pub otherwise: Option<Script>,
}

/// A condition and its branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IfBranch {
    /// Commands of the condition. The exit status of the last command decides.
    pub condition: Script,
    /// Commands that run if the status is zero.
    pub body: Script,
}

/// `while` or `until`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhileLoop {
    /// Whether it is `until`.
    pub until: bool,
    /// Commands of the condition. The exit status of the last command decides.
    pub condition: Script,
    /// Body of the loop.
    pub body: Script,
}

/// `for` or `select` over words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForLoop {
    /// The variables; bash has one, zsh may have several.
    pub variables: Vec<Box<str>>,
    /// The words after `in`; `None` if the loop uses the positional parameters.
    pub words: Option<Vec<Word>>,
    /// Body of the loop.
    pub body: Script,
}

/// `for (( … ))`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArithmeticFor {
    /// The expressions between the semicolons; an empty condition is true.
    pub expressions: Vec<ArithmeticText>,
    /// Body of the loop.
    pub body: Script,
}

/// `repeat n`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepeatLoop {
    /// Number of repetitions.
    pub count: Word,
    /// Body of the loop.
    pub body: Script,
}

/// `case`
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseCommand {
    /// The word that is compared.
    pub subject: Word,
    /// Branches of the command.
    pub items: Vec<CaseItem>,
}

/// One branch of a `case`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseItem {
    /// Patterns between `|`.
    pub patterns: Vec<Word>,
    /// Commands of the branch.
    pub body: Script,
    /// How the branch ends.
    pub terminator: CaseTerminator,
}

/// How a branch of a `case` ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CaseTerminator {
    /// `;;` or nothing before `esac`
    Break,
    /// `;&`: the next branch runs, too.
    FallThrough,
    /// `;;&`, in zsh `;|`: the next patterns are tried.
    Continue,
}

/// The inside of `[[ … ]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TestExpression {
    /// A word alone: true if it is not empty.
    Word(Word),
    /// `-f x`
    Unary {
        /// The operator with its `-`.
        operator: Box<str>,
        /// Operand of the test.
        operand: Word,
    },
    /// `a == b`
    Binary {
        /// Left operand of the test.
        left: Word,
        /// The operator, such as `==`, `=~`, `-nt`, `<`.
        operator: Box<str>,
        /// Right operand; a pattern after `==`, a regular expression after `=~`.
        right: Word,
    },
    /// `! a`
    Not(Box<TestExpression>),
    /// `a && b && c`
    And(Vec<TestExpression>),
    /// `a || b || c`
    Or(Vec<TestExpression>),
    /// `( a )`
    Group(Box<TestExpression>),
    /// Words that are not a valid test. The shell reports the error when it runs the command.
    Other(Vec<Word>),
}
