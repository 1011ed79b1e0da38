// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Determines the values of parameters before operators are applied.

use super::field::FieldBuilder;
use super::{ExpandMode, Expander, ShellVariable};
use crate::{Dialect, Parameter, ParameterOperator, Subscript, TransformedParameter};

/// The value of a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ParameterValue {
    Unset,
    Scalar(String),
    /// The list `$@` or `${a[@]}`; `$*` and `${a[*]}` are joined.
    List {
        all: Vec<String>,
        joined: bool,
    },
    Unknown,
}

impl Expander<'_> {
    pub(super) fn expand_parameter(
        &mut self,
        parameter: &Parameter,
        mode: ExpandMode,
        out: &mut FieldBuilder,
    ) {
        let value = self.value_of(&parameter.parameter, &parameter.operator);
        let value = match &parameter.operator {
            ParameterOperator::Default { action, or_empty, word } => {
                return self.default_operator(parameter, value, *action, *or_empty, word, mode, out);
            }
            operator => self.apply(operator, &parameter.parameter, value),
        };
        self.push_value(parameter, value, mode, out);
    }

    pub(super) fn push_value(
        &mut self,
        parameter: &Parameter,
        value: ParameterValue,
        mode: ExpandMode,
        out: &mut FieldBuilder,
    ) {
        let is_split = matches!(mode, ExpandMode::Argument | ExpandMode::Operand);
        match value {
            ParameterValue::Unset if is_split => {}
            ParameterValue::Unset => out.push_quoted(""),
            ParameterValue::Scalar(text) if !is_split => out.push_quoted(&text),
            ParameterValue::Scalar(text) => self.push_field_text(&text, parameter, mode, out),
            ParameterValue::List { all, joined } => match mode {
                ExpandMode::Quoted if !joined => {
                    for (at, text) in all.iter().enumerate() {
                        if at > 0 {
                            out.end_field();
                        }
                        out.push_quoted(text);
                    }
                }
                ExpandMode::Quoted | ExpandMode::Value => {
                    let separator = match self.separators() {
                        Some(separators) if joined => separators.chars().next().map(String::from),
                        Some(_) => Some(" ".to_owned()),
                        None => return out.push_unknown(parameter.span, false),
                    };
                    out.push_quoted(&all.join(&separator.unwrap_or_default()));
                }
                ExpandMode::Argument | ExpandMode::Operand => {
                    for (at, text) in all.iter().enumerate() {
                        if at > 0 {
                            out.end_field();
                        }
                        self.push_field_text(text, parameter, mode, out);
                    }
                }
            },
            ParameterValue::Unknown => {
                let is_list = matches!(&*parameter.parameter.name, "@")
                    || parameter.parameter.subscript == Some(Subscript::All)
                    || matches!(parameter.operator, ParameterOperator::Names { .. });
                let is_text = !is_list && !is_split;
                out.push_unknown(parameter.span, !is_text && mode != ExpandMode::Value);
            }
        }
    }

    /// Adds an unquoted value, which bash splits and zsh does not.
    fn push_field_text(
        &mut self,
        text: &str,
        parameter: &Parameter,
        mode: ExpandMode,
        out: &mut FieldBuilder,
    ) {
        if self.environment.dialect().splits_parameters() {
            self.push_text(text, parameter.span, mode, out);
        } else if !text.is_empty() {
            out.push_quoted(text);
        }
    }

    fn value_of(&mut self, parameter: &TransformedParameter, operator: &ParameterOperator) -> ParameterValue {
        if parameter.zsh_flags.is_some() || parameter.nested.is_some() {
            return ParameterValue::Unknown;
        }
        if parameter.is_indirect {
            return self.expand_indirect(parameter, operator);
        }
        let value = self.lookup(&parameter.name, parameter.subscript.as_ref());
        if !parameter.is_length {
            return value;
        }
        match value {
            ParameterValue::Unset => ParameterValue::Scalar("0".to_owned()),
            ParameterValue::Scalar(text) => ParameterValue::Scalar(text.chars().count().to_string()),
            ParameterValue::List { all, .. } => ParameterValue::Scalar(all.len().to_string()),
            ParameterValue::Unknown => ParameterValue::Unknown,
        }
    }

    /// Expands `${!name}`.
    fn expand_indirect(
        &mut self,
        parameter: &TransformedParameter,
        operator: &ParameterOperator,
    ) -> ParameterValue {
        if matches!(operator, ParameterOperator::Names { .. }) {
            return ParameterValue::Unknown;
        }
        if let Some(subscript @ (Subscript::All | Subscript::Joined)) = &parameter.subscript {
            let joined = *subscript == Subscript::Joined;
            return match self.environment.variable(&parameter.name) {
                ShellVariable::Array(all) => {
                    let all = (0..all.len()).map(|at| at.to_string()).collect();
                    ParameterValue::List { all, joined }
                }
                ShellVariable::Unset => ParameterValue::List { all: Vec::new(), joined },
                _ => ParameterValue::Unknown,
            };
        }
        match self.lookup(&parameter.name, parameter.subscript.as_ref()) {
            ParameterValue::Scalar(name) if is_parameter_name(&name) => self.lookup(&name, None),
            _ => ParameterValue::Unknown,
        }
    }

    pub(super) fn lookup(&mut self, name: &str, subscript: Option<&Subscript>) -> ParameterValue {
        if self.lost_assignments {
            return ParameterValue::Unknown;
        }
        let value = self.known_value(name, subscript);
        let steps = match &value {
            ParameterValue::Scalar(text) => text.len(),
            ParameterValue::List { all, .. } => all.iter().map(|text| text.len() + 1).sum(),
            ParameterValue::Unset | ParameterValue::Unknown => 0,
        };
        if self.spend(steps + self.assigned.len()) { value } else { ParameterValue::Unknown }
    }

    fn known_value(&mut self, name: &str, subscript: Option<&Subscript>) -> ParameterValue {
        let arguments = self.environment.arguments();
        match (name, arguments) {
            ("@" | "*", Some(all)) => {
                return ParameterValue::List { all: all.to_vec(), joined: name == "*" };
            }
            ("#", Some(all)) => return ParameterValue::Scalar(all.len().to_string()),
            ("@" | "*" | "#", None) => return ParameterValue::Unknown,
            _ => {}
        }
        if let Some(at) = name.parse::<usize>().ok().and_then(|at| at.checked_sub(1)) {
            return match arguments {
                Some(all) => {
                    all.get(at).map_or(ParameterValue::Unset, |text| ParameterValue::Scalar(text.clone()))
                }
                None => ParameterValue::Unknown,
            };
        }
        if let Some((_, value)) = self.assigned.iter().rev().find(|(assigned, _)| assigned == name) {
            return match value {
                Some(value) if subscript.is_none() => ParameterValue::Scalar(value.clone()),
                _ => ParameterValue::Unknown,
            };
        }
        let is_zsh = self.environment.dialect() == Dialect::Zsh;
        let joined = subscript == Some(&Subscript::Joined);
        match (self.environment.variable(name), subscript) {
            (ShellVariable::Unset, Some(Subscript::All | Subscript::Joined)) => {
                ParameterValue::List { all: Vec::new(), joined }
            }
            (ShellVariable::Unset, _) => ParameterValue::Unset,
            (ShellVariable::Value(text), None) => ParameterValue::Scalar(text.into_owned()),
            (ShellVariable::Value(text), Some(Subscript::All | Subscript::Joined)) => {
                ParameterValue::List { all: vec![text.into_owned()], joined }
            }
            (ShellVariable::Array(all), None) if !is_zsh => {
                all.first().map_or(ParameterValue::Unset, |text| ParameterValue::Scalar(text.clone()))
            }
            (ShellVariable::Array(all), None | Some(Subscript::All | Subscript::Joined)) => {
                ParameterValue::List { all: all.into_owned(), joined }
            }
            (ShellVariable::Array(all), Some(Subscript::Index(text))) => {
                let first = i64::from(is_zsh);
                match self.evaluate_arithmetic(text) {
                    Some(at) => element(&all, at, first),
                    None => ParameterValue::Unknown,
                }
            }
            (ShellVariable::Keyed(all), Some(Subscript::Index(text))) => {
                match self.expand_text(&text.parts) {
                    Some(key) => all
                        .get(&key)
                        .map_or(ParameterValue::Unset, |text| ParameterValue::Scalar(text.clone())),
                    None => ParameterValue::Unknown,
                }
            }
            (ShellVariable::OneOf(all), None) => self.one_of(name, &all),
            _ => ParameterValue::Unknown,
        }
    }

    fn one_of(&mut self, name: &str, all: &[String]) -> ParameterValue {
        let Some(choices) = self.choices.as_mut() else { return ParameterValue::Unknown };
        if all.is_empty() {
            return ParameterValue::Unknown;
        }
        let taken = choices.get(name).copied().unwrap_or_else(|| {
            choices.insert(name.to_owned(), 0);
            self.met.push((name.to_owned(), all.len()));
            0
        });
        all.get(taken).map_or(ParameterValue::Unknown, |text| ParameterValue::Scalar(text.clone()))
    }
}

/// Returns the element of an array whose first index is `first`.
fn element(all: &[String], at: i64, first: i64) -> ParameterValue {
    let count = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let at = if at < 0 { count.saturating_add(at) } else { at.saturating_sub(first) };
    match usize::try_from(at) {
        Ok(at) => all.get(at).map_or(ParameterValue::Unset, |text| ParameterValue::Scalar(text.clone())),
        Err(_) => ParameterValue::Unknown,
    }
}

fn is_parameter_name(name: &str) -> bool {
    let is_name = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
        && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_name || (!name.is_empty() && name.chars().all(|letter| letter.is_ascii_digit()))
}
