// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates PowerShell expressions and reads the commands in them.

use std::sync::Arc;

use tenterhook_powershell::{PowerShellExpression, PowerShellScript, StringPart};

use super::super::ShellReader;
use super::super::scope::ShellScope;
use super::super::word::ShellWord;
use super::known_values::variable_text;
use super::value::{PowerShellScope, PowerShellValue, append_word, unknown_word};

/// Operators whose result says nothing about files or commands.
const COMPARISONS: &[&str] = &["and", "or", "xor", "is", "isnot", "in", "notin", "contains", "notcontains"];

impl ShellReader<'_> {
    /// Evaluates an expression, and analyses the commands in it.
    pub(super) fn evaluate_powershell(
        &mut self,
        expression: &PowerShellExpression,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        if !self.spend_steps(1) || !self.enter_level() {
            return PowerShellValue::unknown("", &[]);
        }
        let value = self.evaluate_entered(expression, ps, scope);
        self.leave_level();
        value
    }

    fn evaluate_entered(
        &mut self,
        expression: &PowerShellExpression,
        ps: &mut PowerShellScope,
        scope: &mut ShellScope,
    ) -> PowerShellValue {
        match expression {
            PowerShellExpression::Text(parts) => {
                let mut word = ShellWord::default();
                for part in parts {
                    match part {
                        StringPart::Literal(text) => append_word(&mut word, &ShellWord::literal(text)),
                        StringPart::Value(value) => {
                            let value = self.evaluate_powershell(value, ps, scope);
                            append_word(&mut word, &value.join(" "));
                        }
                    }
                }
                PowerShellValue { items: vec![word], ..PowerShellValue::default() }
            }
            PowerShellExpression::Variable(name) | PowerShellExpression::Splat(name) => {
                read_variable(name, ps, scope)
            }
            PowerShellExpression::List(items) => {
                let mut list = PowerShellValue::default();
                for item in items {
                    let item = self.evaluate_powershell(item, ps, scope);
                    list.extend(item);
                }
                list
            }
            PowerShellExpression::Statements(script) => self.walk_powershell(script, ps, scope),
            PowerShellExpression::Block(script) => PowerShellValue::from_block(script.clone()),
            PowerShellExpression::Hash(entries) => {
                let mut value = PowerShellValue::default();
                for entry in entries {
                    let key = self.evaluate_powershell(&entry.key, ps, scope).join(" ").text.to_lowercase();
                    let content = self.walk_powershell_statement(&entry.value, ps, scope);
                    value.entries.push((key, content));
                }
                value
            }
            PowerShellExpression::Type(name) => PowerShellValue {
                object: name.strip_prefix("system.").unwrap_or(name).to_owned(),
                ..PowerShellValue::default()
            },
            PowerShellExpression::Cast(name, value) => {
                let value = self.evaluate_powershell(value, ps, scope);
                self.cast_value(name, value)
            }
            PowerShellExpression::Member(member) => self.evaluate_member(member, ps, scope),
            PowerShellExpression::Unary(operator, value) => {
                let value = self.evaluate_powershell(value, ps, scope);
                match operator.as_str() {
                    "join" => PowerShellValue { items: vec![value.join("")], ..PowerShellValue::default() },
                    "," => value,
                    _ => PowerShellValue::unknown("", &value.sources()),
                }
            }
            PowerShellExpression::Binary(operator, sides) => {
                let [left, right] = &**sides;
                let left = self.evaluate_powershell(left, ps, scope);
                let right = self.evaluate_powershell(right, ps, scope);
                apply_operator(operator, left, right)
            }
        }
    }

    fn cast_value(&mut self, name: &str, value: PowerShellValue) -> PowerShellValue {
        match name.strip_prefix("system.").unwrap_or(name) {
            "char" => {
                let letter =
                    value.known_text().and_then(|text| text.parse::<u32>().ok()).and_then(char::from_u32);
                letter.map_or(value, |letter| PowerShellValue::literal(&letter.to_string()))
            }
            "char[]" => {
                let letters = value.items.iter().map(|item| item.text.parse().ok().and_then(char::from_u32));
                match letters.collect::<Option<String>>() {
                    Some(text) if value.is_known() => PowerShellValue::literal(&text),
                    _ => value,
                }
            }
            "scriptblock" => self.block_from_text(&value),
            "void" => PowerShellValue::default(),
            _ => value,
        }
    }

    /// Returns a script block that is parsed from the text of a value. If the text is unknown, records that the
    /// commands that print it feed an interpreter.
    pub(super) fn block_from_text(&mut self, value: &PowerShellValue) -> PowerShellValue {
        if let Some(text) = value.known_text() {
            return PowerShellValue::from_block(tenterhook_powershell::parse_powershell(text));
        }
        self.mark_fed(&value.sources(), "invoke-expression");
        PowerShellValue { block: Some(Arc::new(PowerShellScript::default())), ..value.clone() }
    }
}

/// Returns the value of a variable.
fn read_variable(name: &str, ps: &PowerShellScope, scope: &ShellScope) -> PowerShellValue {
    if let Some(value) = ps.vars.get(name) {
        return value.clone();
    }
    if let Some(text) = variable_text(name, scope) {
        return PowerShellValue::literal(&text);
    }
    // Rules know environment variables by their usual spelling.
    let source = name
        .strip_prefix("env:")
        .map_or_else(|| format!("${name}"), |name| format!("${}", name.to_uppercase()));
    PowerShellValue::unknown(&source, &[])
}

fn apply_operator(operator: &str, left: PowerShellValue, right: PowerShellValue) -> PowerShellValue {
    match operator {
        "+" if left.items.len() == 1 && right.items.len() == 1 => {
            let mut word = left.join("");
            append_word(&mut word, &right.join(""));
            PowerShellValue { items: vec![word], ..PowerShellValue::default() }
        }
        // `:` separates the branches of `a ? b : c`.
        "+" | "??" | ":" => {
            let mut all = left;
            all.extend(right);
            all
        }
        "?" => right,
        "f" => format_items(&left, &right),
        "join" => {
            let separator = right.join("").text;
            PowerShellValue { items: vec![left.join(&separator)], ..PowerShellValue::default() }
        }
        "replace" | "creplace" | "ireplace" => replace_text(&left, &right),
        "as" => left,
        operator if COMPARISONS.contains(&operator) => PowerShellValue::unknown("", &[]),
        _ => {
            let mut from = left.sources();
            from.extend(right.sources());
            PowerShellValue::unknown("", &from)
        }
    }
}

/// Applies `-f`: `'{0}\{1}' -f $a, $b`.
fn format_items(format: &PowerShellValue, items: &PowerShellValue) -> PowerShellValue {
    let mut word = ShellWord::default();
    let format = format.join("").text;
    let mut rest = format.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        append_word(&mut word, &ShellWord::literal(before));
        let Some((index, behind)) = after.split_once('}') else {
            rest = after;
            break;
        };
        let item = index.trim().parse::<usize>().ok().and_then(|index| items.items.get(index));
        append_word(&mut word, &item.cloned().unwrap_or_else(|| unknown_word("", &[])));
        rest = behind;
    }
    append_word(&mut word, &ShellWord::literal(rest));
    PowerShellValue { items: vec![word], ..PowerShellValue::default() }
}

/// Applies `-replace` if the pattern is plain text.
fn replace_text(value: &PowerShellValue, pair: &PowerShellValue) -> PowerShellValue {
    let is_plain = |text: &str| !text.contains(|c: char| "\\.^$|?*+()[]{}".contains(c));
    match (value.known_text(), pair.items.as_slice()) {
        (Some(text), [from, to]) if !from.text.is_empty() && is_plain(&from.text) && !to.dynamic => {
            PowerShellValue::literal(&text.replace(&from.text, &to.text))
        }
        (Some(text), [from]) if !from.text.is_empty() && is_plain(&from.text) => {
            PowerShellValue::literal(&text.replace(&from.text, ""))
        }
        _ => PowerShellValue::unknown("", &value.sources()),
    }
}
