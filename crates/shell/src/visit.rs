// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Visits the nodes of a tree in source order.

use crate::ast::{
    ArithmeticText, ArrayLiteral, Assignment, AssignmentValue, BraceKind, Command, Compound, GlobKind,
    Parameter, ParameterOperator, Pipeline, Redirect, RedirectTarget, Script, SimpleCommand, Statement,
    Subscript, TestExpression, UnparsedText, Word, WordPart,
};

/// A visitor of tree nodes. The default methods visit the children of a node. An overriding method visits them by
/// calling the `walk_…` function of its node.
pub trait TreeVisitor {
    /// Visits a list of statements: the whole text, the body of a compound command, or the inside of a substitution.
    fn script(&mut self, script: &Script) {
        walk_script(self, script);
    }

    /// Visits a statement.
    fn statement(&mut self, statement: &Statement) {
        for command in statement.pipelines().flat_map(Pipeline::commands) {
            self.command(command);
        }
    }

    /// Visits a command of any kind.
    fn command(&mut self, command: &Command) {
        walk_command(self, command);
    }

    /// Visits a simple command.
    fn simple(&mut self, command: &SimpleCommand) {
        walk_simple(self, command);
    }

    /// Visits a word.
    fn word(&mut self, word: &Word) {
        walk_word(self, word);
    }

    /// Visits text that was not understood.
    fn unparsed(&mut self, _unparsed: &UnparsedText) {}
}

/// Walks the statements of a script.
pub fn walk_script<V: TreeVisitor + ?Sized>(visitor: &mut V, script: &Script) {
    for statement in &script.statements {
        visitor.statement(statement);
    }
}

/// Walks the children of a command.
pub fn walk_command<V: TreeVisitor + ?Sized>(visitor: &mut V, command: &Command) {
    match command {
        Command::Simple(simple) => visitor.simple(simple),
        Command::Compound(compound) => {
            walk_compound(visitor, &compound.kind);
            walk_redirects(visitor, &compound.redirects);
        }
        Command::Function(function) => {
            walk_words(visitor, &function.names);
            visitor.command(&function.body);
            walk_words(visitor, &function.arguments);
        }
        Command::Coprocess(coprocess) => visitor.command(&coprocess.command),
        Command::Unparsed(unparsed) => visitor.unparsed(unparsed),
    }
}

/// Walks the assignments, words and redirections of a simple command.
pub fn walk_simple<V: TreeVisitor + ?Sized>(visitor: &mut V, command: &SimpleCommand) {
    for assignment in &command.assignments {
        walk_assignment(visitor, assignment);
    }
    walk_words(visitor, &command.words);
    walk_redirects(visitor, &command.redirects);
}

fn walk_assignment<V: TreeVisitor + ?Sized>(visitor: &mut V, assignment: &Assignment) {
    walk_subscript(visitor, assignment.subscript.as_ref());
    match &assignment.value {
        AssignmentValue::Word(word) => visitor.word(word),
        AssignmentValue::Array(array) => walk_array(visitor, array),
    }
}

fn walk_array<V: TreeVisitor + ?Sized>(visitor: &mut V, array: &ArrayLiteral) {
    for element in &array.elements {
        walk_subscript(visitor, element.subscript.as_ref());
        visitor.word(&element.value);
    }
}

fn walk_redirects<V: TreeVisitor + ?Sized>(visitor: &mut V, redirects: &[Redirect]) {
    for redirect in redirects {
        match &redirect.target {
            RedirectTarget::Word(word) => visitor.word(word),
            RedirectTarget::HereDocument(document) => {
                walk_parts(visitor, document.body().map(|body| body.parts.as_slice()).unwrap_or_default());
            }
        }
    }
}

fn walk_compound<V: TreeVisitor + ?Sized>(visitor: &mut V, compound: &Compound) {
    match compound {
        Compound::Group(script) | Compound::Subshell(script) => visitor.script(script),
        Compound::If(command) => {
            for branch in &command.branches {
                visitor.script(&branch.condition);
                visitor.script(&branch.body);
            }
            command.otherwise.iter().for_each(|script| visitor.script(script));
        }
        Compound::While(each) => {
            visitor.script(&each.condition);
            visitor.script(&each.body);
        }
        Compound::For(each) | Compound::Select(each) => {
            walk_words(visitor, each.words.as_deref().unwrap_or_default());
            visitor.script(&each.body);
        }
        Compound::ArithmeticFor(each) => {
            each.expressions.iter().for_each(|expression| walk_arithmetic(visitor, expression));
            visitor.script(&each.body);
        }
        Compound::Case(command) => {
            visitor.word(&command.subject);
            for item in &command.items {
                walk_words(visitor, &item.patterns);
                visitor.script(&item.body);
            }
        }
        Compound::Arithmetic(expression) => walk_arithmetic(visitor, expression),
        Compound::Test(expression) => walk_test(visitor, expression),
        Compound::Repeat(each) => {
            visitor.word(&each.count);
            visitor.script(&each.body);
        }
        Compound::Always { body, always } => {
            visitor.script(body);
            visitor.script(always);
        }
    }
}

fn walk_test<V: TreeVisitor + ?Sized>(visitor: &mut V, expression: &TestExpression) {
    match expression {
        TestExpression::Word(word) | TestExpression::Unary { operand: word, .. } => visitor.word(word),
        TestExpression::Binary { left, right, .. } => {
            visitor.word(left);
            visitor.word(right);
        }
        TestExpression::Not(inner) | TestExpression::Group(inner) => walk_test(visitor, inner),
        TestExpression::And(all) | TestExpression::Or(all) => {
            for each in all {
                walk_test(visitor, each);
            }
        }
        TestExpression::Other(words) => walk_words(visitor, words),
    }
}

fn walk_arithmetic<V: TreeVisitor + ?Sized>(visitor: &mut V, expression: &ArithmeticText) {
    walk_parts(visitor, &expression.parts);
}

fn walk_subscript<V: TreeVisitor + ?Sized>(visitor: &mut V, subscript: Option<&Subscript>) {
    if let Some(Subscript::Index(expression)) = subscript {
        walk_arithmetic(visitor, expression);
    }
}

fn walk_words<V: TreeVisitor + ?Sized>(visitor: &mut V, words: &[Word]) {
    for word in words {
        visitor.word(word);
    }
}

/// Walks the words and scripts inside a word.
pub fn walk_word<V: TreeVisitor + ?Sized>(visitor: &mut V, word: &Word) {
    walk_parts(visitor, &word.parts);
}

fn walk_parts<V: TreeVisitor + ?Sized>(visitor: &mut V, parts: &[WordPart]) {
    for part in parts {
        match part {
            WordPart::Literal(_)
            | WordPart::Escaped(_)
            | WordPart::SingleQuoted(_)
            | WordPart::AnsiQuoted(_)
            | WordPart::Tilde(_)
            | WordPart::ProgramPath(_)
            | WordPart::History(_) => {}
            WordPart::DoubleQuoted(quoted) => walk_parts(visitor, &quoted.parts),
            WordPart::Glob(glob) => {
                if let GlobKind::Extended { alternatives, .. } = &glob.kind {
                    walk_words(visitor, alternatives);
                }
            }
            WordPart::Brace(brace) => {
                if let BraceKind::Alternatives(words) = &brace.kind {
                    walk_words(visitor, words);
                }
            }
            WordPart::Parameter(parameter) => walk_parameter(visitor, parameter),
            WordPart::Command(command) => visitor.script(&command.script),
            WordPart::Arithmetic(arithmetic) => walk_arithmetic(visitor, &arithmetic.expression),
            WordPart::Process(process) => visitor.script(&process.script),
            WordPart::Array(array) => walk_array(visitor, array),
            WordPart::Unparsed(unparsed) => visitor.unparsed(unparsed),
        }
    }
}

fn walk_parameter<V: TreeVisitor + ?Sized>(visitor: &mut V, parameter: &Parameter) {
    walk_subscript(visitor, parameter.parameter.subscript.as_ref());
    if let Some(nested) = &parameter.parameter.nested {
        visitor.word(nested);
    }
    match &parameter.operator {
        ParameterOperator::None | ParameterOperator::Transform(_) | ParameterOperator::Names { .. } => {}
        ParameterOperator::Default { word, .. } | ParameterOperator::Other(word) => visitor.word(word),
        ParameterOperator::RemovePrefix { pattern, .. }
        | ParameterOperator::RemoveSuffix { pattern, .. }
        | ParameterOperator::ChangeCase { pattern, .. } => visitor.word(pattern),
        ParameterOperator::Replace { pattern, replacement, .. } => {
            visitor.word(pattern);
            if let Some(word) = replacement {
                visitor.word(word);
            }
        }
        ParameterOperator::Substring { offset, length } => {
            walk_arithmetic(visitor, offset);
            if let Some(length) = length {
                walk_arithmetic(visitor, length);
            }
        }
    }
}
