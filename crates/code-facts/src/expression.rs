// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Expressions: operands with signs between them. Only those that build texts mean anything.

use super::language::description::Operator;
use super::lex::Kind as Token;
use super::reader::{Code, DEPTH, Reader};
use super::value::{Kind, Value};

impl Reader {
    /// Reads an expression from here on. Goes nowhere when none starts here.
    pub(super) fn expression(&mut self, code: &mut Code<'_>) -> Value {
        if self.depth >= DEPTH {
            // Too deep: passed over, whole.
            self.passed_over = true;
            let opens = code.peek().is_some_and(|token| matches!(token.text, "(" | "[" | "{"));
            code.at = if opens { (code.close() + 1).min(code.end) } else { code.at + 1 };
            return Value::unknown();
        }
        self.depth += 1;
        let value = self.chain(code);
        self.depth -= 1;
        value
    }

    fn chain(&mut self, code: &mut Code<'_>) -> Value {
        let start = code.at;
        let (mut left, mut target) = self.operand(code);
        if code.at == start {
            return left;
        }
        while let Some(operator) = self.operator(code) {
            let sign = code.at;
            code.at += 1;
            match operator {
                Operator::Concatenate => {
                    let (right, _) = self.operand(code);
                    let cost = left.weight() + right.weight();
                    left = if left.kind == Kind::Number && right.kind == Kind::Number || !self.spend(cost) {
                        Value::unknown()
                    } else if left.kind == Kind::List && right.kind == Kind::List {
                        Value::list(left.items.into_iter().chain(right.items).take(256).collect())
                    } else {
                        left.concat(right)
                    };
                }
                Operator::Divide => {
                    let (right, _) = self.operand(code);
                    let is_path =
                        left.kind == Kind::Path || right.kind == Kind::Path || is_path_choice(&left);
                    left = if is_path { left.join(right) } else { Value::unknown() };
                }
                Operator::Format => {
                    let (right, _) = self.operand(code);
                    left = super::text::format_percent(&left, &right);
                }
                Operator::Either => left = left.or(self.expression(code)),
                Operator::Second => left = self.expression(code),
                Operator::Ternary => {
                    let then = self.expression(code);
                    left = if code.eat(":") { then.or(self.expression(code)) } else { left.or(then) };
                }
                Operator::Conditional => {
                    self.expression(code);
                    if code.is_word("else") {
                        code.at += 1;
                        left = left.or(self.expression(code));
                    }
                }
                Operator::Assign => {
                    let right = self.expression(code);
                    if let Some(name) = target.take() {
                        self.set_nested(&name, right.clone(), code.nested(start));
                    }
                    left = right;
                }
                Operator::Append => {
                    let right = self.expression(code);
                    let right = if code.nested(start) { Value::from(right.from) } else { right };
                    left = left.concat(right);
                    if let Some(name) = target.take() {
                        self.set(&name, left.clone());
                    }
                }
                Operator::Other | Operator::None => {
                    let (right, _) = self.operand(code);
                    left = Value::from(left.from.max(right.from));
                }
            }
            target = None;
            if code.at == sign + 1 && code.at >= code.end {
                break;
            }
        }
        left
    }

    /// The operator that stands here, if one does.
    fn operator(&self, code: &Code<'_>) -> Option<Operator> {
        let token = code.peek().filter(|token| matches!(token.kind, Token::Word | Token::Sign))?;
        let own = self.description.operators.iter().find(|(sign, _)| *sign == token.text);
        match own {
            Some((_, operator)) => Some(*operator).filter(|operator| *operator != Operator::None),
            None if token.kind == Token::Sign => common_operator(token.text),
            None => None,
        }
    }
}

/// What a sign means in languages that do not say otherwise.
fn common_operator(sign: &str) -> Option<Operator> {
    Some(match sign {
        "+" => Operator::Concatenate,
        "=" | ":=" | "||=" | "??=" => Operator::Assign,
        "+=" | ".=" => Operator::Append,
        "||" | "??" => Operator::Either,
        "&&" => Operator::Second,
        "==" | "!=" | "===" | "!==" | "<" | ">" | "<=" | ">=" | "-" | "*" | "**" | "//" | "&" | "^"
        | "<<" | ">>" | "=~" | "!~" | "~=" | "/" | "%" | "<=>" | "-=" | "*=" | "/=" | "|=" | "&=" | ".."
        | "|" => Operator::Other,
        _ => return None,
    })
}

fn is_path_choice(value: &Value) -> bool {
    value.kind == Kind::Either && value.items.iter().any(|item| item.kind == Kind::Path)
}
