// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads expressions: operands and operators. Only operators that build strings are evaluated.

use super::language::description::OperatorKind;
use super::lex::TokenKind;
use super::reader::{CodeReader, MAX_BRACKET_DEPTH, TokenCursor};
use super::value::{CodeValue, ValueKind};

impl CodeReader {
    /// Reads an expression. Consumes nothing if none starts here.
    pub(super) fn read_expression(&mut self, code: &mut TokenCursor<'_>) -> CodeValue {
        if self.depth >= MAX_BRACKET_DEPTH {
            // Too deep: the whole bracket is skipped.
            self.passed_over = true;
            let opens = code.peek().is_some_and(|token| matches!(token.text, "(" | "[" | "{"));
            code.at = if opens { (code.close() + 1).min(code.end) } else { code.at + 1 };
            return CodeValue::unknown();
        }
        self.depth += 1;
        let value = self.read_operator_chain(code);
        self.depth -= 1;
        value
    }

    fn read_operator_chain(&mut self, code: &mut TokenCursor<'_>) -> CodeValue {
        let start = code.at;
        let (mut left, mut target) = self.read_operand(code);
        if code.at == start {
            return left;
        }
        while let Some(operator) = self.peek_operator(code) {
            let sign = code.at;
            code.at += 1;
            match operator {
                OperatorKind::Concatenate => {
                    let (right, _) = self.read_operand(code);
                    let cost = left.weight() + right.weight();
                    left = if left.kind == ValueKind::Number && right.kind == ValueKind::Number
                        || !self.spend_budget(cost)
                    {
                        CodeValue::unknown()
                    } else if left.kind == ValueKind::List && right.kind == ValueKind::List {
                        CodeValue::list(left.items.into_iter().chain(right.items).take(256).collect())
                    } else {
                        left.concat(right)
                    };
                }
                OperatorKind::Divide => {
                    let (right, _) = self.read_operand(code);
                    let is_path = left.kind == ValueKind::Path
                        || right.kind == ValueKind::Path
                        || is_path_choice(&left);
                    left = if is_path { left.join(right) } else { CodeValue::unknown() };
                }
                OperatorKind::Format => {
                    let (right, _) = self.read_operand(code);
                    left = super::text::format_percent(&left, &right);
                }
                OperatorKind::Either => left = left.or(self.read_expression(code)),
                OperatorKind::Second => left = self.read_expression(code),
                OperatorKind::Ternary => {
                    let then = self.read_expression(code);
                    left = if code.eat(":") { then.or(self.read_expression(code)) } else { left.or(then) };
                }
                OperatorKind::Conditional => {
                    self.read_expression(code);
                    if code.is_word("else") {
                        code.at += 1;
                        left = left.or(self.read_expression(code));
                    }
                }
                OperatorKind::Assign => {
                    let right = self.read_expression(code);
                    if let Some(name) = target.take() {
                        self.set_nested(&name, right.clone(), code.nested(start));
                    }
                    left = right;
                }
                OperatorKind::Append => {
                    let right = self.read_expression(code);
                    let right = if code.nested(start) { CodeValue::from(right.from) } else { right };
                    left = left.concat(right);
                    if let Some(name) = target.take() {
                        self.set_variable(&name, left.clone());
                    }
                }
                OperatorKind::Other | OperatorKind::None => {
                    let (right, _) = self.read_operand(code);
                    left = CodeValue::from(left.from.max(right.from));
                }
            }
            target = None;
            if code.at == sign + 1 && code.at >= code.end {
                break;
            }
        }
        left
    }

    /// Returns the operator at this position, if there is one.
    fn peek_operator(&self, code: &TokenCursor<'_>) -> Option<OperatorKind> {
        let token = code.peek().filter(|token| matches!(token.kind, TokenKind::Word | TokenKind::Sign))?;
        let own = self.description.operators.iter().find(|(sign, _)| *sign == token.text);
        match own {
            Some((_, operator)) => Some(*operator).filter(|operator| *operator != OperatorKind::None),
            None if token.kind == TokenKind::Sign => common_operator(token.text),
            None => None,
        }
    }
}

/// Returns the default meaning of an operator.
fn common_operator(sign: &str) -> Option<OperatorKind> {
    Some(match sign {
        "+" => OperatorKind::Concatenate,
        "=" | ":=" | "||=" | "??=" => OperatorKind::Assign,
        "+=" | ".=" => OperatorKind::Append,
        "||" | "??" => OperatorKind::Either,
        "&&" => OperatorKind::Second,
        "==" | "!=" | "===" | "!==" | "<" | ">" | "<=" | ">=" | "-" | "*" | "**" | "//" | "&" | "^"
        | "<<" | ">>" | "=~" | "!~" | "~=" | "/" | "%" | "<=>" | "-=" | "*=" | "/=" | "|=" | "&=" | ".."
        | "|" => OperatorKind::Other,
        _ => return None,
    })
}

fn is_path_choice(value: &CodeValue) -> bool {
    value.kind == ValueKind::Either && value.items.iter().any(|item| item.kind == ValueKind::Path)
}
