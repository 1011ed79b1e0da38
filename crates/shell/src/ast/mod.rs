// SPDX-License-Identifier: Apache-2.0 OR MIT

//! The syntax tree. Every node owns its text and knows its [`Span`](crate::Span).

mod command;
mod compound;
mod parameter;
mod redirect;
mod script;
mod unparsed;
mod word;
mod word_part;

pub use command::{
    ArrayElement, ArrayLiteral, Assignment, AssignmentValue, Command, Coprocess, FunctionDefinition,
    SimpleCommand, Subscript,
};
pub use compound::{
    ArithmeticFor, CaseCommand, CaseItem, CaseTerminator, Compound, CompoundCommand, ForLoop, IfBranch,
    IfCommand, RepeatLoop, TestExpression, WhileLoop,
};
pub use parameter::{
    CaseChange, DefaultAction, Parameter, ParameterOperator, ReplaceScope, TransformedParameter,
};
pub use redirect::{Descriptor, HereDocument, HereDocumentBody, Redirect, RedirectOperator, RedirectTarget};
pub use script::{
    ChainOperator, ChainedPipeline, Comment, ParsedScript, Pipeline, PipelineStage, Script, Statement,
    Terminator,
};
pub use unparsed::{UnparsedReason, UnparsedText};
pub use word::{Word, WordPart};
pub use word_part::{
    AnsiQuoted, ArithmeticExpansion, ArithmeticText, BraceExpansion, BraceKind, CommandSubstitution,
    DoubleQuoted, Escaped, GlobKind, GlobPart, Literal, ProcessDirection, ProcessSubstitution, Tilde,
};
