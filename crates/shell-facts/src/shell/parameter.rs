// SPDX-License-Identifier: Apache-2.0 OR MIT

//! `$name` and `${…}`: variables with their operators, and arrays.

use std::borrow::Cow;

use tenterhook_shell as ast;
use tenterhook_shell::expand::{Environment, Variable, expand_value};

use super::Reader;
use super::scope::Scope;
use super::walk::Source;
use super::word::{Atom, Expansion};

/// What it costs to apply an operator to a value.
const OPERATOR_STEPS: usize = 64;
/// Operators are not applied to longer values.
const MAX_VALUE_BYTES: usize = 512;

impl Reader<'_> {
    /// The value of a parameter, as far as it is known.
    pub(super) fn parameter(
        &mut self,
        parameter: &ast::Parameter,
        src: &Source,
        scope: &mut Scope,
    ) -> Expansion {
        let ast::Parameter { parameter: subject, operator, span, .. } = parameter;
        let text = span.text(src);
        let name = &*subject.name;
        let default = self.walk_operator(operator, src, scope);
        let unknown = || Expansion::unknown(text, false);
        if let Some(nested) = &subject.nested {
            self.expand(&nested.parts, src, scope);
            return unknown();
        }
        if subject.is_length || subject.zsh_flags.is_some() {
            return unknown();
        }
        // `${!name}` is the variable whose name the other holds.
        if subject.is_indirect {
            let target = scope.get(name).and_then(|value| known_text(&value));
            return target.and_then(|target| scope.get(&target)).unwrap_or_else(unknown);
        }
        if let Some(subscript) = &subject.subscript {
            return self.element(name, subscript, operator, text, src, scope);
        }
        let value = scope.get(name);
        match operator {
            ast::ParameterOperator::None => value.unwrap_or_else(unknown),
            ast::ParameterOperator::Default { action, or_empty, .. } => {
                let unset = value.as_ref().is_none_or(|value| *or_empty && value.atoms.is_empty());
                match (action, value) {
                    (ast::DefaultAction::Alternative, Some(value)) if !value.atoms.is_empty() => default,
                    (ast::DefaultAction::Alternative, Some(_)) => Expansion::default(),
                    (ast::DefaultAction::Alternative, None) => Expansion { from: default.from, ..unknown() },
                    // The variables of the machine are not visible; a line that brings a default means it.
                    (ast::DefaultAction::Use, _) if unset => default,
                    (ast::DefaultAction::Assign, _) if unset => {
                        scope.set(name, default.clone().into_value());
                        default
                    }
                    (_, Some(value)) => value,
                    (_, None) => unknown(),
                }
            }
            _ => {
                let Some(value) = value.filter(|_| self.spend(OPERATOR_STEPS)) else { return unknown() };
                let made = match known_text(&value) {
                    Some(known) if known.len() <= MAX_VALUE_BYTES => {
                        let environment = KnownVariables { scope, name, value: &known };
                        let part = ast::WordPart::Parameter(Box::new(parameter.clone()));
                        let field = expand_value(std::slice::from_ref(&part), &environment);
                        field.is_known().then(|| Expansion::literal(&field.render("")))
                    }
                    _ => None,
                };
                Expansion { from: value.from, ..made.unwrap_or_else(unknown) }
            }
        }
    }

    /// Runs the commands in the words of an operator; returns the value of a default.
    fn walk_operator(
        &mut self,
        operator: &ast::ParameterOperator,
        src: &Source,
        scope: &mut Scope,
    ) -> Expansion {
        match operator {
            ast::ParameterOperator::Default { word, .. } => return self.expand(&word.parts, src, scope),
            ast::ParameterOperator::RemovePrefix { pattern: word, .. }
            | ast::ParameterOperator::RemoveSuffix { pattern: word, .. }
            | ast::ParameterOperator::ChangeCase { pattern: word, .. }
            | ast::ParameterOperator::Other(word) => {
                self.expand(&word.parts, src, scope);
            }
            ast::ParameterOperator::Replace { pattern, replacement, .. } => {
                self.expand(&pattern.parts, src, scope);
                if let Some(replacement) = replacement {
                    self.expand(&replacement.parts, src, scope);
                }
            }
            ast::ParameterOperator::Substring { offset, length } => {
                self.expand(&offset.parts, src, scope);
                if let Some(length) = length {
                    self.expand(&length.parts, src, scope);
                }
            }
            ast::ParameterOperator::None
            | ast::ParameterOperator::Transform(_)
            | ast::ParameterOperator::Names { .. } => {}
        }
        Expansion::default()
    }

    /// `${NAME[@]}`, `${NAME[*]}`, `${NAME[0]}`, `${NAME[key]}`
    fn element(
        &mut self,
        name: &str,
        subscript: &ast::Subscript,
        operator: &ast::ParameterOperator,
        text: &str,
        src: &Source,
        scope: &mut Scope,
    ) -> Expansion {
        let value = match subscript {
            ast::Subscript::All => scope.list(name),
            ast::Subscript::Joined => scope.list(name).map(Expansion::into_value),
            ast::Subscript::Index(index) => {
                let key = self.expand(&index.parts, src, scope);
                let key = known_text(&key).map(|key| key.trim_matches(['"', '\'']).to_owned());
                self.element_at(name, key.as_deref(), scope)
            }
        };
        match value {
            Some(value) if *operator == ast::ParameterOperator::None => value,
            Some(value) => Expansion { from: value.from, ..Expansion::list(text) },
            None => Expansion::list(text),
        }
    }

    /// The element of an array with this key, or each element in turn if the key is not known.
    fn element_at(&mut self, name: &str, key: Option<&str>, scope: &Scope) -> Option<Expansion> {
        if let Some(key) = key {
            if let Ok(at) = key.parse() {
                return scope.element(name, at);
            }
            let value = scope.get(&format!("{name}[{key}]"));
            if value.is_some() {
                return value;
            }
        }
        let choice = self.choice.as_mut()?;
        let values = scope.elements(name);
        choice.ways = choice.ways.max(values.len());
        values.get(choice.taken.min(values.len().saturating_sub(1))).cloned()
    }
}

/// The text of a value, if all of it is known.
pub(super) fn known_text(value: &Expansion) -> Option<String> {
    value.atoms.iter().map(Atom::letter).collect()
}

/// The variables that the words of an operator may use.
struct KnownVariables<'s> {
    scope: &'s Scope,
    name: &'s str,
    value: &'s str,
}

impl Environment for KnownVariables<'_> {
    fn variable(&self, name: &str) -> Variable<'_> {
        if name == self.name {
            return Variable::Value(Cow::Borrowed(self.value));
        }
        match self.scope.get(name).and_then(|value| known_text(&value)) {
            Some(text) => Variable::Value(Cow::Owned(text)),
            None => Variable::Unknown,
        }
    }
}
