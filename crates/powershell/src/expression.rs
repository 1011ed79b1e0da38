// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses expressions: operators, values, types, members and hash tables.

use crate::ast::{HashEntry, MemberAccess, PowerShellExpression, PowerShellScript, PowerShellStatement};
use crate::scan::{ScriptParser, is_dash, is_line_end, is_name_char};

/// Operators that consist of punctuation, longest first.
const SIGN_OPERATORS: &[&str] = &["??", "..", "+", "-", "*", "/", "%", "?", ":"];
/// Operators that are written before their operand.
const PREFIX_OPERATORS: &[&str] = &["not", "bnot", "join", "split", "isplit", "csplit"];

impl ScriptParser<'_> {
    /// Parses an expression up to an operator that does not belong to it. Operators are read from left to right.
    pub(crate) fn parse_expression(&mut self) -> PowerShellExpression {
        let mut left = self.parse_operand_list();
        loop {
            let before = self.at;
            self.skip_spaces();
            let Some(operator) = self.read_operator() else {
                self.at = before;
                return left;
            };
            self.skip_blanks();
            let right = self.parse_operand_list();
            left = PowerShellExpression::Binary(operator, Box::new([left, right]));
        }
    }

    /// Parses operands that are separated by commas.
    fn parse_operand_list(&mut self) -> PowerShellExpression {
        let first = self.parse_operand();
        let mut items = Vec::new();
        loop {
            let before = self.at;
            self.skip_spaces();
            if !self.skip_text(",") {
                self.at = before;
                break;
            }
            self.skip_blanks();
            items.push(self.parse_operand());
        }
        if items.is_empty() {
            return first;
        }
        items.insert(0, first);
        PowerShellExpression::List(items)
    }

    fn read_operator(&mut self) -> Option<String> {
        let rest = self.rest();
        if self.peek().is_some_and(is_dash) {
            let name: String = rest.chars().skip(1).take_while(|c| c.is_alphabetic()).collect();
            if !name.is_empty() {
                let dash = rest.chars().next().map_or(1, char::len_utf8);
                self.at += dash + name.len();
                return Some(name.to_lowercase());
            }
        }
        let sign = SIGN_OPERATORS.iter().find(|sign| rest.starts_with(**sign))?;
        let after = rest.get(sign.len()..).unwrap_or_default();
        // `+=` is an assignment. `++` belongs to the operand.
        if after.starts_with('=') || after.starts_with(*sign) {
            return None;
        }
        self.at += sign.len();
        Some((*sign).to_owned())
    }

    /// Parses an operand with the operators before it.
    fn parse_operand(&mut self) -> PowerShellExpression {
        if !self.enter() {
            return PowerShellExpression::Statements(PowerShellScript {
                statements: vec![PowerShellStatement::TooDeep(self.take_rest())],
                parameters: Vec::new(),
            });
        }
        let operand = match self.read_prefix() {
            Some(prefix) => {
                self.skip_spaces();
                PowerShellExpression::Unary(prefix, Box::new(self.parse_operand()))
            }
            None => self.parse_primary(),
        };
        self.leave();
        operand
    }

    fn read_prefix(&mut self) -> Option<String> {
        let rest = self.rest();
        for sign in ["++", "--", "!", "+", ","] {
            if rest.starts_with(sign) {
                self.at += sign.len();
                return Some(sign.to_owned());
            }
        }
        let letter = self.peek().filter(|letter| is_dash(*letter))?;
        let name: String = rest.chars().skip(1).take_while(|c| c.is_alphabetic()).collect();
        let folded = name.to_lowercase();
        if PREFIX_OPERATORS.contains(&folded.as_str()) {
            self.at += letter.len_utf8() + name.len();
            return Some(folded);
        }
        // `-1` is a number, not an operator and a number.
        let is_number = rest.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
        if name.is_empty() && !is_number {
            self.at += letter.len_utf8();
            return Some("-".to_owned());
        }
        None
    }

    /// Parses a value with its members: `$x.Name`, `[IO.File]::Delete('a')`, `(…)[0]`.
    pub(crate) fn parse_primary(&mut self) -> PowerShellExpression {
        if !self.enter() {
            return PowerShellExpression::Statements(PowerShellScript {
                statements: vec![PowerShellStatement::TooDeep(self.take_rest())],
                parameters: Vec::new(),
            });
        }
        let mut value = self.parse_value();
        // Each member adds one level to the tree, so the nesting limit applies.
        let mut members = 0;
        while members < crate::MAX_NESTING
            && let Some(member) = self.parse_member(&mut value)
        {
            value = member;
            members += 1;
        }
        if !matches!(value, PowerShellExpression::Text(_)) && !self.skip_text("++") {
            self.skip_text("--");
        }
        self.leave();
        value
    }

    fn parse_value(&mut self) -> PowerShellExpression {
        if let Some(text) = self.read_string() {
            return PowerShellExpression::Text(text);
        }
        match self.peek() {
            Some('$') => {
                if let Some(value) = self.read_variable_or_statements() {
                    return value;
                }
                self.next_char();
                PowerShellExpression::literal("$")
            }
            Some('(') => {
                self.next_char();
                PowerShellExpression::Statements(self.parse_enclosed(')'))
            }
            Some('{') => {
                self.next_char();
                PowerShellExpression::Block(self.parse_enclosed('}'))
            }
            Some('@') => {
                self.next_char();
                match self.peek() {
                    Some('(') => {
                        self.next_char();
                        PowerShellExpression::Statements(self.parse_enclosed(')'))
                    }
                    Some('{') => {
                        self.next_char();
                        PowerShellExpression::Hash(self.parse_hash_entries())
                    }
                    _ => PowerShellExpression::Splat(self.take_while(is_name_char).to_lowercase()),
                }
            }
            Some('[') => self.parse_type(),
            _ => {
                let word = self.take_while(|c| {
                    is_name_char(c) || matches!(c, '.' | '-' | '\\' | '/') && !c.is_whitespace()
                });
                PowerShellExpression::literal(word)
            }
        }
    }

    /// Parses `[type]`, or a value that is converted to it.
    fn parse_type(&mut self) -> PowerShellExpression {
        self.next_char();
        let mut open = 1_usize;
        let name = self.take_while(|c| {
            match c {
                '[' => open += 1,
                ']' => open -= 1,
                _ => {}
            }
            open > 0 && !is_line_end(c)
        });
        let name = name.to_lowercase();
        self.skip_text("]");
        let begins_value = |c: char| matches!(c, '$' | '(' | '@' | '[' | '\'' | '"') || c.is_ascii_digit();
        let before = self.at;
        self.skip_spaces();
        if self.peek().is_some_and(begins_value) {
            return PowerShellExpression::Cast(name, Box::new(self.parse_primary()));
        }
        self.at = before;
        PowerShellExpression::Type(name)
    }

    /// Parses one member access after a value.
    fn parse_member(&mut self, target: &mut PowerShellExpression) -> Option<PowerShellExpression> {
        let rest = self.rest();
        if rest.starts_with('[') && !matches!(target, PowerShellExpression::Text(_)) {
            self.next_char();
            self.skip_blanks();
            let name = self.parse_expression();
            self.skip_blanks();
            self.skip_text("]");
            return Some(make_member(target, name, None));
        }
        let sign = ["::", "?.", "."].into_iter().find(|sign| rest.starts_with(sign))?;
        let after = rest.get(sign.len()..).unwrap_or_default();
        if !after.starts_with(|c: char| is_name_char(c) || matches!(c, '$' | '\'' | '"' | '(')) {
            return None;
        }
        self.at += sign.len();
        let name = match self.peek() {
            Some(letter) if is_name_char(letter) => {
                PowerShellExpression::literal(self.take_while(is_name_char))
            }
            Some('$') => self.read_variable_or_statements()?,
            Some('(') => {
                self.next_char();
                PowerShellExpression::Statements(self.parse_enclosed(')'))
            }
            _ => PowerShellExpression::Text(self.read_string()?),
        };
        let arguments = match self.peek() {
            Some('(') => {
                self.next_char();
                Some(self.parse_method_arguments())
            }
            Some('{') => Some(vec![self.parse_value()]),
            _ => None,
        };
        Some(make_member(target, name, arguments))
    }

    fn parse_method_arguments(&mut self) -> Vec<PowerShellExpression> {
        let mut arguments = Vec::new();
        loop {
            self.skip_blanks();
            if self.peek().is_none() || self.skip_text(")") {
                return arguments;
            }
            let before = self.at;
            match self.parse_expression() {
                PowerShellExpression::List(items) => arguments.extend(items),
                argument => arguments.push(argument),
            }
            self.skip_blanks();
            if self.at == before {
                self.next_char();
            }
        }
    }

    /// Parses the entries of `@{ … }` after the opening bracket.
    fn parse_hash_entries(&mut self) -> Vec<HashEntry> {
        let mut entries = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                None => return entries,
                Some('}') => {
                    self.next_char();
                    return entries;
                }
                Some(';') => {
                    self.next_char();
                    continue;
                }
                _ => {}
            }
            let before = self.at;
            let key = self.parse_primary();
            self.skip_spaces();
            if self.skip_text("=") {
                self.skip_blanks();
                if let Some(value) = self.parse_statement() {
                    entries.push(HashEntry { key, value });
                }
            }
            if self.at == before {
                self.next_char();
            }
        }
    }
}

/// Moves a value into a member access.
fn make_member(
    target: &mut PowerShellExpression,
    name: PowerShellExpression,
    arguments: Option<Vec<PowerShellExpression>>,
) -> PowerShellExpression {
    let target = std::mem::replace(target, PowerShellExpression::List(Vec::new()));
    PowerShellExpression::Member(Box::new(MemberAccess { target, name, arguments }))
}
