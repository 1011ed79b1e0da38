// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Compound commands: branches and loops, with what is known in and after them.

use tenterhook_shell as ast;

use super::Reader;
use super::endless::{makes_files_without_end, starts_processes_without_end};
use super::narrow::{narrowed_by_condition, narrowed_by_item};
use super::scope::{Scope, from_all};
use super::walk::Source;

/// A loop over this many known words is walked once for each.
const MAX_ROUNDS: usize = 16;

impl Reader<'_> {
    pub(super) fn walk_compound(&mut self, compound: &ast::Compound, src: &Source, scope: &mut Scope) {
        match compound {
            ast::Compound::Group(script) => self.walk_script(script, src, scope),
            ast::Compound::Subshell(script) => {
                self.walk_subshell(script, src, scope);
            }
            ast::Compound::If(command) => self.walk_if(command, src, scope),
            ast::Compound::While(command) => {
                let first = self.commands.len();
                self.walk_rounds(scope, |reader, scope| {
                    let before = scope.clone();
                    reader.walk_script(&command.condition, src, scope);
                    scope.cwd.worked();
                    reader.walk_script(&command.body, src, scope);
                    reader.meet_all(scope, &[before]);
                });
                self.mark_endless_loop(first, is_endless(command, src), &command.body, src);
            }
            ast::Compound::ArithmeticFor(command) => {
                for expression in &command.expressions {
                    self.expand(&expression.parts, src, scope);
                }
                let first = self.commands.len();
                self.walk_rounds(scope, |reader, scope| {
                    let before = scope.clone();
                    reader.walk_script(&command.body, src, scope);
                    reader.meet_all(scope, &[before]);
                });
                let condition = command.expressions.get(1);
                let endless = condition.is_none_or(|text| matches!(text.span.text(src).trim(), "" | "1"));
                self.mark_endless_loop(first, endless, &command.body, src);
            }
            ast::Compound::For(command) | ast::Compound::Select(command) => {
                self.walk_for(command, src, scope);
            }
            ast::Compound::Case(command) => self.walk_case(command, src, scope),
            ast::Compound::Arithmetic(text) => self.walk_arithmetic(text, src, scope),
            ast::Compound::Test(test) => self.walk_test(test, src, scope),
            ast::Compound::Repeat(command) => {
                self.expand(&command.count.parts, src, scope);
                self.walk_rounds(scope, |reader, scope| reader.walk_script(&command.body, src, scope));
            }
            ast::Compound::Always { body, always } => {
                self.walk_script(body, src, scope);
                self.walk_script(always, src, scope);
            }
        }
    }

    /// After an `if` only that is known which holds whichever branch ran.
    fn walk_if(&mut self, command: &ast::IfCommand, src: &Source, scope: &mut Scope) {
        let mut ends = Vec::new();
        // Every condition before a branch ran.
        for branch in &command.branches {
            self.walk_script(&branch.condition, src, scope);
            if !self.spend(scope.size()) {
                return;
            }
            let mut inner = scope.clone();
            inner.cwd.worked();
            let whole = inner.narrow(&narrowed_by_condition(&branch.condition, src));
            self.walk_script(&branch.body, src, &mut inner);
            inner.widen(whole);
            ends.push(inner);
        }
        if let Some(otherwise) = &command.otherwise {
            self.walk_script(otherwise, src, scope);
        }
        self.meet_all(scope, &ends);
    }

    fn walk_case(&mut self, command: &ast::CaseCommand, src: &Source, scope: &mut Scope) {
        self.expand(&command.subject.parts, src, scope);
        let before = scope.clone();
        let mut fallen: Option<Scope> = None;
        for item in &command.items {
            if !self.spend(2 * before.size()) {
                return;
            }
            let mut inner = before.clone();
            for pattern in &item.patterns {
                self.expand(&pattern.parts, src, &mut inner);
            }
            let whole = inner.narrow(&narrowed_by_item(command, item, src));
            self.walk_script(&item.body, src, &mut inner);
            inner.widen(whole);
            scope.meet(&inner);
            // `;&`: the body also runs after the one before it.
            if let Some(mut after) = fallen.take().filter(|after| after.differs(&before)) {
                self.walk_script(&item.body, src, &mut after);
                scope.meet(&after);
                inner = after;
            }
            if item.terminator != ast::CaseTerminator::Break {
                fallen = Some(inner);
            }
        }
    }

    fn walk_for(&mut self, command: &ast::ForLoop, src: &Source, scope: &mut Scope) {
        let mut words = Vec::new();
        match &command.words {
            None => words.extend(scope.get("@").unwrap_or_default().into_words()),
            Some(given) => {
                for word in given {
                    words.extend(self.words(word, src, scope));
                }
            }
        }
        let known = !words.is_empty() && words.len() <= MAX_ROUNDS && !words.iter().any(|word| word.dynamic);
        match command.variables.as_slice() {
            [name] if known => {
                for word in words {
                    scope.set(name, word.to_value());
                    self.walk_script(&command.body, src, scope);
                }
            }
            names => {
                let from = from_all(&words);
                for name in names {
                    scope.forget(name, &from);
                }
                self.walk_rounds(scope, |reader, scope| reader.walk_script(&command.body, src, scope));
            }
        }
    }

    /// Walks a loop's body again if the first round changed what is known in the next one.
    fn walk_rounds(&mut self, scope: &mut Scope, mut walk: impl FnMut(&mut Self, &mut Scope)) {
        if !self.spend(scope.size()) {
            return;
        }
        let before = scope.clone();
        walk(self, scope);
        if scope.differs(&before) {
            scope.meet(&before);
            walk(self, scope);
        }
    }

    fn meet_all(&mut self, scope: &mut Scope, others: &[Scope]) {
        for other in others {
            if !self.spend(other.size()) {
                return;
            }
            scope.meet(other);
        }
    }

    fn mark_endless_loop(&mut self, first: usize, endless: bool, body: &ast::Script, src: &Source) {
        if endless && (makes_files_without_end(body, src) || starts_processes_without_end(body, src)) {
            self.mark(Some(first), "fork-bomb");
        }
    }

    /// `((…))`: what runs in its expansions. Shells without arithmetic read it as two subshells, so text that
    /// looks like a command is read as one as well.
    fn walk_arithmetic(&mut self, text: &ast::ArithmeticText, src: &Source, scope: &mut Scope) {
        let inner = text.span.text(src);
        if looks_like_command(inner) {
            return self.text(inner, &mut scope.clone());
        }
        self.expand(&text.parts, src, scope);
    }

    fn walk_test(&mut self, test: &ast::TestExpression, src: &Source, scope: &mut Scope) {
        if !self.enter() {
            return;
        }
        match test {
            ast::TestExpression::Word(word) | ast::TestExpression::Unary { operand: word, .. } => {
                self.expand(&word.parts, src, scope);
            }
            ast::TestExpression::Binary { left, right, .. } => {
                self.expand(&left.parts, src, scope);
                self.expand(&right.parts, src, scope);
            }
            ast::TestExpression::Not(inner) | ast::TestExpression::Group(inner) => {
                self.walk_test(inner, src, scope);
            }
            ast::TestExpression::And(all) | ast::TestExpression::Or(all) => {
                for each in all {
                    self.walk_test(each, src, scope);
                }
            }
            ast::TestExpression::Other(words) => {
                for word in words {
                    self.expand(&word.parts, src, scope);
                }
            }
        }
        self.leave();
    }
}

/// Whether the condition of a loop always holds.
fn is_endless(command: &ast::WhileLoop, src: &str) -> bool {
    let text: String = command.condition.span.text(src).chars().filter(|c| !c.is_whitespace()).collect();
    if command.until {
        return matches!(text.as_str(), "false" | "!true");
    }
    text.starts_with("sleep0")
        || matches!(text.as_str(), "true" | ":" | "1" | "[1]" | "[[1]]" | "((1))" | "/bin/true" | "!false")
}

/// Whether the text of `((…))` reads more like a command than like arithmetic.
fn looks_like_command(text: &str) -> bool {
    let inner = text.trim_matches(['(', ')', ' ', '\t', '\n']);
    let is_operand =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'"' | b'\'' | b'.' | b'~');
    // `a b` and `a -b` with nothing between them.
    let has_words = inner.as_bytes().windows(3).any(|three| match three {
        [before, b' ' | b'\t', after] => is_operand(*before) && is_operand(*after),
        [b' ' | b'\t', b'-', after] => after.is_ascii_alphabetic(),
        _ => false,
    });
    has_words || inner.ends_with(['/', '*', '%', '.'])
}
