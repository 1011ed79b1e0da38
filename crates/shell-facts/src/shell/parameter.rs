// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Expands parameters: `$name`, `${…}` with operators, and arrays.

use std::borrow::Cow;

use tenterhook_shell as ast;
use tenterhook_shell::expand::{Environment, ShellVariable, expand_value};

use super::ShellReader;
use super::scope::ShellScope;
use super::walk::SourceText;
use super::word::{ExpandedText, WordAtom};

/// Number of steps charged for applying an operator to a value.
const OPERATOR_STEPS: usize = 64;
/// Maximum length of a value to which an operator is applied.
const MAX_VALUE_BYTES: usize = 512;

impl ShellReader<'_> {
    /// Expands a parameter, as far as its value is known.
    pub(super) fn expand_parameter(
        &mut self,
        parameter: &ast::Parameter,
        src: &SourceText,
        scope: &mut ShellScope,
    ) -> ExpandedText {
        let ast::Parameter { parameter: subject, operator, span, .. } = parameter;
        let text = span.text(src);
        let name = &*subject.name;
        let default = self.walk_operator(operator, src, scope);
        let unknown = || ExpandedText::unknown(text, false);
        if let Some(nested) = &subject.nested {
            self.expand(&nested.parts, src, scope);
            return unknown();
        }
        if subject.is_length || subject.zsh_flags.is_some() {
            return unknown();
        }
        // `${!name}` is the variable whose name is the value of `name`.
        if subject.is_indirect {
            let target = scope.get(name).and_then(|value| known_text(&value));
            return target.and_then(|target| scope.get(&target)).unwrap_or_else(unknown);
        }
        if let Some(subscript) = &subject.subscript {
            return self.expand_element(name, subscript, operator, text, src, scope);
        }
        let value = scope.get(name);
        // `@P` expands the value like a prompt, which runs the commands in it.
        if *operator == ast::ParameterOperator::Transform('P')
            && let Some(text) = value.as_ref().and_then(known_text)
        {
            self.run_substitutions(&text, name, scope);
        }
        match operator {
            ast::ParameterOperator::None => value.unwrap_or_else(unknown),
            ast::ParameterOperator::Default { action, or_empty, .. } => {
                let unset = value.as_ref().is_none_or(|value| *or_empty && value.atoms.is_empty());
                match (action, value) {
                    (ast::DefaultAction::Alternative, Some(value)) if !value.atoms.is_empty() => default,
                    (ast::DefaultAction::Alternative, Some(_)) => ExpandedText::default(),
                    (ast::DefaultAction::Alternative, None) => {
                        ExpandedText { from: default.from, ..unknown() }
                    }
                    // Environment variables are unknown. A script with a default expects the variable to be unset.
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
                let Some(value) = value.filter(|_| self.spend_steps(OPERATOR_STEPS)) else {
                    return unknown();
                };
                let made = match known_text(&value) {
                    Some(known) if known.len() <= MAX_VALUE_BYTES => {
                        let environment = KnownVariables { scope, name, value: &known };
                        let part = ast::WordPart::Parameter(Box::new(parameter.clone()));
                        let field = expand_value(std::slice::from_ref(&part), &environment);
                        field.is_known().then(|| ExpandedText::literal(&field.render("")))
                    }
                    _ => None,
                };
                ExpandedText { from: value.from, ..made.unwrap_or_else(unknown) }
            }
        }
    }

    /// Reads the commands in the words of an operator; returns the default value.
    fn walk_operator(
        &mut self,
        operator: &ast::ParameterOperator,
        src: &SourceText,
        scope: &mut ShellScope,
    ) -> ExpandedText {
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
        ExpandedText::default()
    }

    /// Expands `${NAME[@]}`, `${NAME[*]}`, `${NAME[0]}` and `${NAME[key]}`.
    fn expand_element(
        &mut self,
        name: &str,
        subscript: &ast::Subscript,
        operator: &ast::ParameterOperator,
        text: &str,
        src: &SourceText,
        scope: &mut ShellScope,
    ) -> ExpandedText {
        let value = match subscript {
            ast::Subscript::All => scope.all_elements(name),
            ast::Subscript::Joined => scope.all_elements(name).map(ExpandedText::into_value),
            ast::Subscript::Index(index) => {
                let key = self.expand(&index.parts, src, scope);
                let key = known_text(&key).map(|key| key.trim_matches(['"', '\'']).to_owned());
                self.element_at(name, key.as_deref(), scope)
            }
        };
        match value {
            Some(value) if *operator == ast::ParameterOperator::None => value,
            Some(value) => ExpandedText { from: value.from, ..ExpandedText::list(text) },
            None => ExpandedText::list(text),
        }
    }

    /// Returns the array element with this key, or each element in turn if the key is unknown.
    fn element_at(&mut self, name: &str, key: Option<&str>, scope: &ShellScope) -> Option<ExpandedText> {
        if let Some(key) = key {
            if let Ok(at) = key.parse() {
                return scope.list_element(name, at);
            }
            let value = scope.get(&format!("{name}[{key}]"));
            if value.is_some() {
                return value;
            }
        }
        let choice = self.element_choice.as_mut()?;
        let values = scope.list_elements(name);
        choice.ways = choice.ways.max(values.len());
        values.get(choice.taken.min(values.len().saturating_sub(1))).cloned()
    }
}

/// Returns the text of a value, if all of it is known.
pub(super) fn known_text(value: &ExpandedText) -> Option<String> {
    value.atoms.iter().map(WordAtom::letter).collect()
}

/// Variables that the words of an operator may use.
struct KnownVariables<'s> {
    scope: &'s ShellScope,
    name: &'s str,
    value: &'s str,
}

impl Environment for KnownVariables<'_> {
    fn variable(&self, name: &str) -> ShellVariable<'_> {
        if name == self.name {
            return ShellVariable::Value(Cow::Borrowed(self.value));
        }
        match self.scope.get(name).and_then(|value| known_text(&value)) {
            Some(text) => ShellVariable::Value(Cow::Owned(text)),
            None => ShellVariable::Unknown,
        }
    }
}
