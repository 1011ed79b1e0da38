// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Expressions: operands with signs between them. Only those that build texts mean anything.

use super::Language;
use super::lex::Kind as Token;
use super::reader::{Code, DEPTH, Reader};
use super::value::{Kind, Value};

/// What a sign between two values makes of them.
enum Between {
    Concat,
    /// `a or b`
    Choice,
    /// `a and b`
    Second,
    /// `a ? b : c`
    Question,
    /// `a if b else c`
    Condition,
    Set,
    Append,
    Divide,
    Format,
    /// Something that is no text.
    Other,
}

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
        while let Some(between) = self.between(code) {
            let sign = code.at;
            code.at += 1;
            match between {
                Between::Concat => {
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
                Between::Divide => {
                    let (right, _) = self.operand(code);
                    let is_path =
                        left.kind == Kind::Path || right.kind == Kind::Path || is_path_choice(&left);
                    left = if is_path { left.join(right) } else { Value::unknown() };
                }
                Between::Format => {
                    let (right, _) = self.operand(code);
                    left = super::text::format_percent(&left, &right);
                }
                Between::Choice => left = left.or(self.expression(code)),
                Between::Second => left = self.expression(code),
                Between::Question => {
                    let then = self.expression(code);
                    left = if code.eat(":") { then.or(self.expression(code)) } else { left.or(then) };
                }
                Between::Condition => {
                    self.expression(code);
                    if code.is_word("else") {
                        code.at += 1;
                        left = left.or(self.expression(code));
                    }
                }
                Between::Set => {
                    let right = self.expression(code);
                    if let Some(name) = target.take() {
                        self.set_nested(&name, right.clone(), code.nested(start));
                    }
                    left = right;
                }
                Between::Append => {
                    let right = self.expression(code);
                    let right = if code.nested(start) { Value::from(right.from) } else { right };
                    left = left.concat(right);
                    if let Some(name) = target.take() {
                        self.set(&name, left.clone());
                    }
                }
                Between::Other => {
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

    /// What stands between two values here, if anything does.
    fn between(&self, code: &Code<'_>) -> Option<Between> {
        use Language::{Lua, Perl, Php, Python, Ruby};
        let token = code.peek()?;
        let language = self.language;
        if token.kind == Token::Word {
            return match (token.text, language) {
                ("if", Python) => Some(Between::Condition),
                ("or", Python | Lua) => Some(Between::Choice),
                ("and", Python | Lua) => Some(Between::Second),
                ("in" | "is", Python) | ("eq" | "ne" | "lt" | "gt" | "le" | "ge" | "x" | "cmp", Perl) => {
                    Some(Between::Other)
                }
                ("in" | "instanceof", Language::JavaScript) => Some(Between::Other),
                _ => None,
            };
        }
        if token.kind != Token::Sign {
            return None;
        }
        match (token.text, language) {
            ("+", Perl | Php | Lua) => Some(Between::Other),
            ("+", _) | ("." | "..", Perl | Php | Lua) => Some(Between::Concat),
            ("/", Python | Ruby) => Some(Between::Divide),
            ("%", Python | Ruby) => Some(Between::Format),
            ("=" | ":=" | "||=" | "??=", _) | ("//=", Perl) => Some(Between::Set),
            ("+=" | ".=", _) | ("<<", Ruby) => Some(Between::Append),
            ("||" | "??", _) | ("//", Perl) => Some(Between::Choice),
            ("&&", _) => Some(Between::Second),
            ("?", Language::JavaScript | Perl | Ruby | Php) => Some(Between::Question),
            (
                "==" | "!=" | "===" | "!==" | "<" | ">" | "<=" | ">=" | "-" | "*" | "**" | "//" | "&" | "^"
                | "<<" | ">>" | "=~" | "!~" | "~=" | "/" | "%" | "<=>" | "-=" | "*=" | "/=" | "|=" | "&="
                | "..",
                _,
            ) => Some(Between::Other),
            ("|", _) if language != Ruby => Some(Between::Other),
            _ => None,
        }
    }
}

fn is_path_choice(value: &Value) -> bool {
    value.kind == Kind::Either && value.items.iter().any(|item| item.kind == Kind::Path)
}
