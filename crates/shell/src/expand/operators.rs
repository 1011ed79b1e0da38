// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Applies the operators of `${…}`.

use super::field::FieldBuilder;
use super::parameter_value::ParameterValue;
use super::{ExpandMode, Expander, ShellPattern};
use crate::{
    ArithmeticText, CaseChange, DefaultAction, Parameter, ParameterOperator, ReplaceScope,
    TransformedParameter, Word,
};

impl Expander<'_> {
    /// Expands `${x-a}` and similar operators.
    #[expect(clippy::too_many_arguments, reason = "the parts of one operator and where its result goes")]
    pub(super) fn default_operator(
        &mut self,
        parameter: &Parameter,
        value: ParameterValue,
        action: DefaultAction,
        or_empty: bool,
        word: &Word,
        mode: ExpandMode,
        out: &mut FieldBuilder,
    ) {
        let is_missing = match &value {
            ParameterValue::Unset => true,
            ParameterValue::Scalar(text) => or_empty && text.is_empty(),
            ParameterValue::List { all, .. } => {
                all.is_empty() || (or_empty && all.iter().all(String::is_empty))
            }
            ParameterValue::Unknown => return self.push_value(parameter, value, mode, out),
        };
        match (action, is_missing) {
            (DefaultAction::Alternative, true) => {
                self.push_value(parameter, ParameterValue::Unset, mode, out);
            }
            (DefaultAction::Alternative, false) | (DefaultAction::Use, true) => {
                self.expand_operand(word, mode, out);
            }
            // The shell stops here, so the value does not matter.
            (DefaultAction::Fail, true) => self.push_value(parameter, ParameterValue::Unknown, mode, out),
            (DefaultAction::Assign, true) => {
                let text = self.expand_text(&word.parts);
                self.assign(&parameter.parameter.name, text.clone());
                let value = text.map_or(ParameterValue::Unknown, ParameterValue::Scalar);
                self.push_value(parameter, value, mode, out);
            }
            (_, false) => self.push_value(parameter, value, mode, out),
        }
    }

    /// Expands the word after an operator in place of the value.
    fn expand_operand(&mut self, word: &Word, mode: ExpandMode, out: &mut FieldBuilder) {
        match mode {
            ExpandMode::Quoted | ExpandMode::Value => {
                out.push_quoted("");
                self.expand_parts(&word.parts, mode, out);
            }
            ExpandMode::Argument | ExpandMode::Operand if self.environment.dialect().splits_parameters() => {
                self.expand_parts(&word.parts, ExpandMode::Operand, out);
            }
            ExpandMode::Argument | ExpandMode::Operand => {
                self.expand_parts(&word.parts, ExpandMode::Argument, out);
            }
        }
    }

    /// Applies any other operator to a value.
    pub(super) fn apply(
        &mut self,
        operator: &ParameterOperator,
        parameter: &TransformedParameter,
        value: ParameterValue,
    ) -> ParameterValue {
        if *operator == ParameterOperator::None || value == ParameterValue::Unknown {
            return value;
        }
        if let ParameterOperator::Substring { offset, length } = operator
            && let ParameterValue::List { all, joined } = &value
        {
            let is_arguments = matches!(&*parameter.name, "@" | "*");
            let part = self.slice_list(all, offset, length.as_ref(), is_arguments);
            return part.map_or(ParameterValue::Unknown, |all| ParameterValue::List { all, joined: *joined });
        }
        let Some(change) = self.prepare_change(operator) else { return ParameterValue::Unknown };
        let mut budget = self.steps;
        let changed = match value {
            ParameterValue::Unset => change.apply("", &mut budget).map(ParameterValue::Scalar),
            ParameterValue::Scalar(text) => change.apply(&text, &mut budget).map(ParameterValue::Scalar),
            ParameterValue::List { all, joined } => {
                let all: Option<Vec<_>> = all.iter().map(|text| change.apply(text, &mut budget)).collect();
                all.map(|all| ParameterValue::List { all, joined })
            }
            ParameterValue::Unknown => None,
        };
        self.steps = budget;
        changed.unwrap_or(ParameterValue::Unknown)
    }

    /// Expands the operands of an operator; `None` if one is unknown.
    fn prepare_change(&mut self, operator: &ParameterOperator) -> Option<ValueChange> {
        Some(match operator {
            ParameterOperator::RemovePrefix { longest, pattern } => {
                ValueChange::RemovePrefix(self.expand_pattern(pattern)?, *longest)
            }
            ParameterOperator::RemoveSuffix { longest, pattern } => {
                ValueChange::RemoveSuffix(self.expand_pattern(pattern)?, *longest)
            }
            ParameterOperator::Replace { scope, pattern, replacement } => {
                let text = match replacement {
                    Some(word) => self.expand_text(&word.parts)?,
                    None => String::new(),
                };
                // Since bash 5.2, `&` in the replacement is the matched text; before, it was literal.
                if text.contains('&') || text.contains('\\') {
                    return None;
                }
                ValueChange::Replace(self.expand_pattern(pattern)?, *scope, text)
            }
            ParameterOperator::Substring { offset, length } => {
                let length = match length {
                    Some(length) => Some(self.evaluate_arithmetic(length)?),
                    None => None,
                };
                ValueChange::Substring(self.evaluate_arithmetic(offset)?, length)
            }
            ParameterOperator::ChangeCase { change, all, pattern } if pattern.parts.is_empty() => {
                ValueChange::Case(*change, *all)
            }
            ParameterOperator::Transform('U') => ValueChange::Case(CaseChange::Upper, true),
            ParameterOperator::Transform('u') => ValueChange::Case(CaseChange::Upper, false),
            ParameterOperator::Transform('L') => ValueChange::Case(CaseChange::Lower, true),
            _ => return None,
        })
    }

    /// Expands `${@:1:2}` and `${a[@]:1}`.
    fn slice_list(
        &mut self,
        all: &[String],
        offset: &ArithmeticText,
        length: Option<&ArithmeticText>,
        is_arguments: bool,
    ) -> Option<Vec<String>> {
        let offset = self.evaluate_arithmetic(offset)?;
        let length = match length {
            Some(length) => Some(self.evaluate_arithmetic(length)?),
            None => None,
        };
        // Positional parameters are numbered from one; `$0` is not included here.
        let offset = match (is_arguments, offset) {
            (true, 0) => return None,
            (true, offset) if offset > 0 => offset - 1,
            _ => offset,
        };
        let (start, end) = bounds(all.len(), offset, length.filter(|length| *length >= 0))?;
        if length.is_some_and(|length| length < 0) {
            return None;
        }
        Some(all.get(start..end).unwrap_or_default().to_vec())
    }
}

/// An operator whose operands are known.
enum ValueChange {
    RemovePrefix(ShellPattern, bool),
    RemoveSuffix(ShellPattern, bool),
    Replace(ShellPattern, ReplaceScope, String),
    Substring(i64, Option<i64>),
    Case(CaseChange, bool),
}

impl ValueChange {
    fn apply(&self, text: &str, budget: &mut usize) -> Option<String> {
        let letters: Vec<char> = text.chars().collect();
        let part =
            |start: usize, end: usize| letters.get(start..end).unwrap_or_default().iter().collect::<String>();
        match self {
            Self::RemovePrefix(pattern, longest) => {
                let start = pattern.prefix(&letters, *longest, budget).ok()?.unwrap_or(0);
                Some(part(start, letters.len()))
            }
            Self::RemoveSuffix(pattern, longest) => {
                let end = pattern.suffix(&letters, *longest, budget).ok()?.unwrap_or(letters.len());
                Some(part(0, end))
            }
            Self::Replace(pattern, scope, by) => replace(&letters, pattern, *scope, by, budget),
            Self::Substring(offset, length) => {
                // An offset outside the text gives an empty result.
                let count = i64::try_from(letters.len()).ok()?;
                if *offset < -count || *offset > count {
                    return Some(String::new());
                }
                let (start, end) = bounds(letters.len(), *offset, *length)?;
                Some(part(start, end))
            }
            Self::Case(change, all) => change_case(text, *change, *all),
        }
    }
}

/// Returns the start and end of a substring; `None` if the shell reports an error.
fn bounds(count: usize, offset: i64, length: Option<i64>) -> Option<(usize, usize)> {
    let count = i64::try_from(count).ok()?;
    let start = if offset < 0 { offset.checked_add(count)? } else { offset };
    if start < 0 || start > count {
        return Some((0, 0));
    }
    let end = match length {
        None => count,
        Some(length) if length < 0 => length.checked_add(count)?,
        Some(length) => start.saturating_add(length).min(count),
    };
    if end < start {
        return None;
    }
    Some((usize::try_from(start).ok()?, usize::try_from(end).ok()?))
}

fn replace(
    letters: &[char],
    pattern: &ShellPattern,
    scope: ReplaceScope,
    by: &str,
    budget: &mut usize,
) -> Option<String> {
    let text =
        |start: usize, end: usize| letters.get(start..end).unwrap_or_default().iter().collect::<String>();
    if *pattern == ShellPattern::default() {
        return Some(match scope {
            ReplaceScope::Prefix => format!("{by}{}", text(0, letters.len())),
            ReplaceScope::Suffix => format!("{}{by}", text(0, letters.len())),
            ReplaceScope::First | ReplaceScope::All => text(0, letters.len()),
        });
    }
    match scope {
        ReplaceScope::Prefix => match pattern.prefix(letters, true, budget).ok()? {
            Some(end) => Some(format!("{by}{}", text(end, letters.len()))),
            None => Some(text(0, letters.len())),
        },
        ReplaceScope::Suffix => match pattern.suffix(letters, true, budget).ok()? {
            Some(start) => Some(format!("{}{by}", text(0, start))),
            None => Some(text(0, letters.len())),
        },
        ReplaceScope::First | ReplaceScope::All => {
            let mut result = String::new();
            let mut at = 0;
            while at < letters.len() {
                let rest = letters.get(at..).unwrap_or_default();
                match pattern.prefix(rest, true, budget).ok()? {
                    // The effect of an empty match differs between versions.
                    Some(0) => return None,
                    Some(length) => {
                        result.push_str(by);
                        at += length;
                        if scope == ReplaceScope::First {
                            result.push_str(&text(at, letters.len()));
                            return Some(result);
                        }
                    }
                    None => {
                        result.extend(letters.get(at));
                        at += 1;
                    }
                }
            }
            Some(result)
        }
    }
}

/// Changes the case of ASCII letters; `None` for other letters, which depend on the locale.
fn change_case(text: &str, change: CaseChange, all: bool) -> Option<String> {
    if !text.is_ascii() {
        return None;
    }
    let changed = text.char_indices().map(|(at, letter)| match change {
        _ if at > 0 && !all => letter,
        CaseChange::Toggle if letter.is_ascii_uppercase() => letter.to_ascii_lowercase(),
        CaseChange::Upper | CaseChange::Toggle => letter.to_ascii_uppercase(),
        CaseChange::Lower => letter.to_ascii_lowercase(),
    });
    Some(changed.collect())
}
