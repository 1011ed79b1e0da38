// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Walks compound commands (branches and loops) and tracks the scope inside and after them.

use tenterhook_shell as ast;

use super::ShellReader;
use super::endless_loop::{creates_files_endlessly, starts_processes_endlessly};
use super::narrow::{narrowed_by_condition, narrowed_by_item};
use super::scope::{ShellScope, output_sources};
use super::walk::SourceText;

/// Maximum number of known words for which a loop is walked once per word.
const MAX_LOOP_ROUNDS: usize = 16;

impl ShellReader<'_> {
    pub(super) fn walk_compound(
        &mut self,
        compound: &ast::Compound,
        src: &SourceText,
        scope: &mut ShellScope,
    ) {
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
                    scope.cwd.assume_success();
                    reader.walk_script(&command.body, src, scope);
                    reader.merge_all(scope, &[before]);
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
                    reader.merge_all(scope, &[before]);
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

    /// Walks an `if`. Afterwards, only values that are equal in all branches are known.
    fn walk_if(&mut self, command: &ast::IfCommand, src: &SourceText, scope: &mut ShellScope) {
        let mut ends = Vec::new();
        // Every condition before a branch runs.
        for branch in &command.branches {
            self.walk_script(&branch.condition, src, scope);
            if !self.spend_steps(scope.size()) {
                return;
            }
            let mut inner = scope.clone();
            inner.cwd.assume_success();
            let whole = inner.narrow_variables(&narrowed_by_condition(&branch.condition, src));
            self.walk_script(&branch.body, src, &mut inner);
            inner.restore_variables(whole);
            ends.push(inner);
        }
        if let Some(otherwise) = &command.otherwise {
            self.walk_script(otherwise, src, scope);
        }
        self.merge_all(scope, &ends);
    }

    fn walk_case(&mut self, command: &ast::CaseCommand, src: &SourceText, scope: &mut ShellScope) {
        self.expand(&command.subject.parts, src, scope);
        let before = scope.clone();
        let mut fallen: Option<ShellScope> = None;
        for item in &command.items {
            if !self.spend_steps(2 * before.size()) {
                return;
            }
            let mut inner = before.clone();
            for pattern in &item.patterns {
                self.expand(&pattern.parts, src, &mut inner);
            }
            let whole = inner.narrow_variables(&narrowed_by_item(command, item, src));
            self.walk_script(&item.body, src, &mut inner);
            inner.restore_variables(whole);
            scope.merge_with(&inner);
            // After `;&` the next body runs too.
            if let Some(mut after) = fallen.take().filter(|after| after.differs(&before)) {
                self.walk_script(&item.body, src, &mut after);
                scope.merge_with(&after);
                inner = after;
            }
            if item.terminator != ast::CaseTerminator::Break {
                fallen = Some(inner);
            }
        }
    }

    fn walk_for(&mut self, command: &ast::ForLoop, src: &SourceText, scope: &mut ShellScope) {
        let mut words = Vec::new();
        for name in &command.variables {
            self.note_assigned(name);
        }
        match &command.words {
            None => words.extend(scope.get("@").unwrap_or_default().into_words()),
            Some(given) => {
                for word in given {
                    words.extend(self.expand_words(word, src, scope));
                }
            }
        }
        let known =
            !words.is_empty() && words.len() <= MAX_LOOP_ROUNDS && !words.iter().any(|word| word.dynamic);
        match command.variables.as_slice() {
            [name] if known => {
                for word in words {
                    scope.set(name, word.to_value());
                    self.walk_script(&command.body, src, scope);
                }
            }
            names => {
                let from = output_sources(&words);
                for name in names {
                    scope.forget(name, &from);
                }
                self.walk_rounds(scope, |reader, scope| reader.walk_script(&command.body, src, scope));
            }
        }
    }

    /// Walks the body of a loop, and walks it again if the first round changed the scope.
    fn walk_rounds(&mut self, scope: &mut ShellScope, mut walk: impl FnMut(&mut Self, &mut ShellScope)) {
        if !self.spend_steps(scope.size()) {
            return;
        }
        let before = scope.clone();
        walk(self, scope);
        if scope.differs(&before) {
            scope.merge_with(&before);
            walk(self, scope);
        }
    }

    fn merge_all(&mut self, scope: &mut ShellScope, others: &[ShellScope]) {
        for other in others {
            if !self.spend_steps(other.size()) {
                return;
            }
            scope.merge_with(other);
        }
    }

    fn mark_endless_loop(&mut self, first: usize, endless: bool, body: &ast::Script, src: &SourceText) {
        if endless && (creates_files_endlessly(body, src) || starts_processes_endlessly(body, src)) {
            self.mark_act(Some(first), "fork-bomb");
        }
    }

    /// Walks `((…))`. Shells without arithmetic parse it as two subshells, so text that looks like a command is read
    /// as a command.
    fn walk_arithmetic(&mut self, text: &ast::ArithmeticText, src: &SourceText, scope: &mut ShellScope) {
        let inner = text.span.text(src);
        if looks_like_command(inner) {
            return self.read_text(inner, &mut scope.clone());
        }
        self.expand(&text.parts, src, scope);
    }

    fn walk_test(&mut self, test: &ast::TestExpression, src: &SourceText, scope: &mut ShellScope) {
        if !self.enter_level() {
            return;
        }
        match test {
            ast::TestExpression::Word(word) => {
                self.expand(&word.parts, src, scope);
            }
            ast::TestExpression::Unary { operator, operand } => {
                let word = self.expand(&operand.parts, src, scope).into_word();
                self.run_tested_words(operator, &[word], scope);
            }
            ast::TestExpression::Binary { left, operator, right } => {
                let words = [left, right].map(|word| self.expand(&word.parts, src, scope).into_word());
                self.run_tested_words(operator, &words, scope);
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
        self.leave_level();
    }
}

/// Whether the condition of a loop is always true.
fn is_endless(command: &ast::WhileLoop, src: &str) -> bool {
    let text: String = command.condition.span.text(src).chars().filter(|c| !c.is_whitespace()).collect();
    if command.until {
        return matches!(text.as_str(), "false" | "!true");
    }
    text.starts_with("sleep0")
        || matches!(text.as_str(), "true" | ":" | "1" | "[1]" | "[[1]]" | "((1))" | "/bin/true" | "!false")
}

/// Whether the text in `((…))` looks like a command instead of arithmetic.
fn looks_like_command(text: &str) -> bool {
    let inner = text.trim_matches(['(', ')', ' ', '\t', '\n']);
    let is_operand =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'"' | b'\'' | b'.' | b'~');
    // Two operands without an operator between them: `a b`, `a -b`.
    let has_words = inner.as_bytes().windows(3).any(|three| match three {
        [before, b' ' | b'\t', after] => is_operand(*before) && is_operand(*after),
        [b' ' | b'\t', b'-', after] => after.is_ascii_alphabetic(),
        _ => false,
    });
    has_words || inner.ends_with(['/', '*', '%', '.'])
}
