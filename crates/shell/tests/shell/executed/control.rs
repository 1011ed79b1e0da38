// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Which branches of compound commands the interpreter takes.

use std::borrow::Cow;

use tenterhook_shell::expand::{Field, ShellVariable, expand_arithmetic, expand_pattern};
use tenterhook_shell::{
    ArithmeticExpansion, ArithmeticText, Compound, SmallList, TestExpression, Word, WordPart,
};

use super::predict::PredictedShell;

impl PredictedShell {
    pub(super) fn compound(&mut self, compound: &Compound) -> bool {
        match compound {
            Compound::Group(script) => self.script(script),
            Compound::Subshell(script) => {
                let mut holds = true;
                self.subshell(|shell| holds = shell.script(script));
                holds
            }
            Compound::If(command) => {
                for branch in &command.branches {
                    if self.script(&branch.condition) {
                        return self.script(&branch.body);
                    }
                }
                command.otherwise.as_ref().is_none_or(|script| self.script(script))
            }
            Compound::While(each) => {
                let mut rounds = 0;
                while self.script(&each.condition) && rounds < 10 {
                    self.script(&each.body);
                    rounds += 1;
                }
                true
            }
            Compound::For(each) => {
                let expansion = self.words(each.words.as_ref().unwrap());
                self.is_lost |= !expansion.fields.iter().all(Field::is_known);
                for field in &expansion.fields {
                    let value = if field.is_known() {
                        ShellVariable::Value(Cow::Owned(field.render("")))
                    } else {
                        ShellVariable::Unknown
                    };
                    self.known.values.insert(each.variables[0].to_string(), value);
                    self.script(&each.body);
                }
                true
            }
            Compound::ArithmeticFor(each) => {
                self.arithmetic(&each.expressions[0]);
                while self.arithmetic(&each.expressions[1]) {
                    self.script(&each.body);
                    self.arithmetic(&each.expressions[2]);
                }
                true
            }
            Compound::Arithmetic(expression) => self.arithmetic(expression),
            Compound::Test(expression) => self.test(expression),
            Compound::Case(command) => {
                let subject = self.value(&command.subject);
                for item in &command.items {
                    let fits = item.patterns.iter().any(|pattern| self.fits(subject.as_deref(), pattern));
                    if fits {
                        return self.script(&item.body);
                    }
                }
                true
            }
            other => panic!("{other:?}"),
        }
    }

    fn arithmetic(&mut self, text: &ArithmeticText) -> bool {
        // Expands the expression as a word, because only the expansion of a word applies its side effects.
        let word = Word {
            parts: SmallList::One(WordPart::Arithmetic(Box::new(ArithmeticExpansion {
                expression: text.clone(),
                span: text.span,
            }))),
            span: text.span,
        };
        let before = expand_arithmetic(text, &self.known);
        self.words(std::slice::from_ref(&word));
        self.is_lost |= before.is_none();
        before.is_some_and(|value| value != 0)
    }

    fn test(&mut self, expression: &TestExpression) -> bool {
        match expression {
            TestExpression::Unary { operator, operand } => {
                let value = self.value(operand);
                self.is_lost |= value.is_none();
                let value = value.unwrap_or_default();
                if &**operator == "-z" { value.is_empty() } else { !value.is_empty() }
            }
            TestExpression::Binary { left, operator, right } => {
                let value = self.value(left);
                self.fits(value.as_deref(), right) == (&**operator == "==")
            }
            other => panic!("{other:?}"),
        }
    }

    fn fits(&mut self, text: Option<&str>, pattern: &Word) -> bool {
        let fits =
            text.zip(expand_pattern(pattern, &self.known)).and_then(|(text, pattern)| pattern.matches(text));
        self.is_lost |= fits.is_none();
        fits.unwrap_or_default()
    }
}
