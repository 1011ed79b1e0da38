// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Evaluates arithmetic expressions.

use super::Expander;
use super::parameter_value::ParameterValue;
use crate::ArithmeticText;

/// Maximum nesting depth of parentheses, operators and variables whose values are expressions.
const MAX_ARITHMETIC_DEPTH: u32 = 32;
/// Maximum length of an expression. Longer expressions have an unknown value.
const MAX_ARITHMETIC_BYTES: usize = 4096;

/// Binary operators by precedence, the weakest first.
const OPERATORS: &[&[&str]] = &[
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<=", ">=", "<", ">"],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
    &["**"],
];

impl Expander<'_> {
    /// Evaluates an expression; `None` if the value is unknown or an error.
    pub(super) fn evaluate_arithmetic(&mut self, text: &ArithmeticText) -> Option<i64> {
        let text = self.expand_text(&text.parts)?;
        self.evaluate(&text, 0)
    }

    fn evaluate(&mut self, text: &str, depth: u32) -> Option<i64> {
        if text.len() > MAX_ARITHMETIC_BYTES || depth > MAX_ARITHMETIC_DEPTH || !self.spend(text.len()) {
            return None;
        }
        let mut reader = ArithmeticEvaluator { expander: self, rest: text, depth, skipping: 0 };
        reader.blanks();
        if reader.rest.is_empty() {
            return Some(0);
        }
        let value = reader.comma()?;
        reader.rest.is_empty().then_some(value)
    }
}

struct ArithmeticEvaluator<'a, 'e, 't> {
    expander: &'a mut Expander<'e>,
    rest: &'t str,
    depth: u32,
    /// Greater than zero inside a branch that is not taken.
    skipping: u32,
}

impl<'t> ArithmeticEvaluator<'_, '_, 't> {
    fn blanks(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest;
                self.blanks();
                true
            }
            None => false,
        }
    }

    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        self.depth += 1;
        let result = if self.depth > MAX_ARITHMETIC_DEPTH { None } else { read(self) };
        self.depth -= 1;
        result
    }

    fn comma(&mut self) -> Option<i64> {
        let mut value = self.assignment()?;
        while self.take(",") {
            value = self.assignment()?;
        }
        Some(value)
    }

    /// Evaluates `x = 1`, `x += 1`, or an expression of higher precedence.
    fn assignment(&mut self) -> Option<i64> {
        self.deeper(|reader| {
            let before = reader.rest;
            if let Some(name) = reader.name() {
                for operator in ["=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="] {
                    if operator == "=" && reader.rest.starts_with("==") {
                        continue;
                    }
                    if reader.take(operator) {
                        let right = reader.assignment()?;
                        let sign = operator.trim_end_matches('=');
                        let value = if sign.is_empty() {
                            right
                        } else {
                            let left = reader.variable(name)?;
                            reader.calculate(sign, left, right)?
                        };
                        reader.assign(name, value);
                        return Some(value);
                    }
                }
                reader.rest = before;
            }
            reader.choice()
        })
    }

    /// Evaluates `a ? b : c`.
    fn choice(&mut self) -> Option<i64> {
        let condition = self.binary(0)?;
        if !self.take("?") {
            return Some(condition);
        }
        let first = self.branch(condition != 0, Self::comma)?;
        if !self.take(":") {
            return None;
        }
        let second = self.branch(condition == 0, Self::assignment)?;
        Some(if condition != 0 { first } else { second })
    }

    /// Evaluates an operand. Its side effects are applied only if `taken` is true.
    fn branch(&mut self, taken: bool, read: impl FnOnce(&mut Self) -> Option<i64>) -> Option<i64> {
        self.skipping += u32::from(!taken);
        let value = self.deeper(read);
        self.skipping -= u32::from(!taken);
        value
    }

    fn binary(&mut self, weakest: usize) -> Option<i64> {
        let mut left = self.unary()?;
        loop {
            let Some((operator, strength)) = self.operator() else { return Some(left) };
            let is_assignment = self
                .rest
                .strip_prefix(operator)
                .is_some_and(|rest| rest.starts_with('=') && !matches!(operator, "==" | "!=" | "<=" | ">="));
            if strength < weakest || is_assignment {
                return Some(left);
            }
            self.take(operator);
            // `**` is right-associative.
            let next = if operator == "**" { strength } else { strength + 1 };
            let taken = match operator {
                "&&" => left != 0,
                "||" => left == 0,
                _ => true,
            };
            let right = self.branch(taken, |reader| reader.binary(next))?;
            left = self.calculate(operator, left, right)?;
        }
    }

    /// Returns the longest operator at this position and its precedence.
    fn operator(&self) -> Option<(&'static str, usize)> {
        let all = OPERATORS.iter().enumerate();
        let all = all.flat_map(|(strength, group)| group.iter().map(move |operator| (*operator, strength)));
        all.filter(|(operator, _)| self.rest.starts_with(operator)).max_by_key(|(operator, _)| operator.len())
    }

    fn unary(&mut self) -> Option<i64> {
        self.deeper(|reader| {
            for sign in ["++", "--"] {
                if reader.rest.starts_with(sign) {
                    let before = reader.rest;
                    reader.take(sign);
                    if let Some(name) = reader.name() {
                        let step = if sign == "++" { 1 } else { -1 };
                        let value = reader.variable(name)?.wrapping_add(step);
                        reader.assign(name, value);
                        return Some(value);
                    }
                    reader.rest = before;
                }
            }
            if reader.take("!") {
                return reader.unary().map(|value| i64::from(value == 0));
            }
            if reader.take("~") {
                return reader.unary().map(|value| !value);
            }
            if reader.take("-") {
                return reader.unary().map(i64::wrapping_neg);
            }
            if reader.take("+") {
                return reader.unary();
            }
            reader.primary()
        })
    }

    fn primary(&mut self) -> Option<i64> {
        if self.take("(") {
            let value = self.deeper(Self::comma)?;
            return self.take(")").then_some(value);
        }
        if let Some(name) = self.name() {
            // An array element is not supported.
            if self.rest.starts_with('[') {
                return None;
            }
            let value = self.variable(name)?;
            for (sign, step) in [("++", 1), ("--", -1)] {
                if self.take(sign) {
                    self.assign(name, value.wrapping_add(step));
                    break;
                }
            }
            return Some(value);
        }
        self.number()
    }

    fn number(&mut self) -> Option<i64> {
        let is_digit = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '#' | '@' | '_');
        let rest = self.rest.trim_start_matches(is_digit);
        let text = self.rest.get(..self.rest.len() - rest.len())?;
        self.rest = rest;
        self.blanks();
        if let Some((base, digits)) = text.split_once('#') {
            let base: u32 = base.parse().ok()?;
            // Bases above 36 also use upper-case letters, `@` and `_` as digits. They are not supported.
            return if (2..=36).contains(&base) { i64::from_str_radix(digits, base).ok() } else { None };
        }
        let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
        match (hexadecimal, text.strip_prefix('0')) {
            (Some(digits), _) => i64::from_str_radix(digits, 16).ok(),
            (None, Some(digits)) if !digits.is_empty() => i64::from_str_radix(digits, 8).ok(),
            _ => text.parse().ok(),
        }
    }

    /// Reads the name of a variable.
    fn name(&mut self) -> Option<&'t str> {
        let text: &'t str = self.rest;
        if !text.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_') {
            return None;
        }
        let rest = text.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        let name = text.get(..text.len() - rest.len())?;
        self.rest = rest;
        self.blanks();
        Some(name)
    }

    fn variable(&mut self, name: &str) -> Option<i64> {
        match self.expander.lookup(name, None) {
            ParameterValue::Unset => Some(0),
            ParameterValue::Scalar(text) => {
                let text = text.trim();
                match text.parse() {
                    Ok(number) if !text.starts_with(['0', '+', '-']) || text == "0" => Some(number),
                    _ => self.expander.evaluate(text, self.depth + 1),
                }
            }
            ParameterValue::List { .. } | ParameterValue::Unknown => None,
        }
    }

    fn assign(&mut self, name: &str, value: i64) {
        if self.skipping == 0 {
            self.expander.assign(name, Some(value.to_string()));
        }
    }

    fn calculate(&self, operator: &str, left: i64, right: i64) -> Option<i64> {
        let shift = u32::try_from(right & 63).unwrap_or_default();
        Some(match operator {
            "||" => i64::from(left != 0 || right != 0),
            "&&" => i64::from(left != 0 && right != 0),
            "|" => left | right,
            "^" => left ^ right,
            "&" => left & right,
            "==" => i64::from(left == right),
            "!=" => i64::from(left != right),
            "<=" => i64::from(left <= right),
            ">=" => i64::from(left >= right),
            "<" => i64::from(left < right),
            ">" => i64::from(left > right),
            "<<" => left.wrapping_shl(shift),
            ">>" => left.wrapping_shr(shift),
            "+" => left.wrapping_add(right),
            "-" => left.wrapping_sub(right),
            "*" => left.wrapping_mul(right),
            "/" | "%" if right == 0 => return (self.skipping > 0).then_some(0),
            "/" => left.wrapping_div(right),
            "%" => left.wrapping_rem(right),
            "**" => left.wrapping_pow(u32::try_from(right).ok()?),
            _ => return None,
        })
    }
}
