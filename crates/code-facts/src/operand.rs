// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Operands: a name, a text, a list or a bracket, and the members, calls and indices behind it.

use super::args::Args;
use super::language::description::{ReaderKind, contains};
use super::lex::{Kind as Token, Part};
use super::process_start::is_bare_shell;
use super::reader::{Code, Reader};
use super::value::{Kind, Value};
use super::{Act, value_functions};

impl Reader {
    /// An operand, and the name it has if a value can be given to it.
    pub(super) fn operand(&mut self, code: &mut Code<'_>) -> (Value, Option<String>) {
        code.skip_newlines();
        while let Some(token) = code.peek() {
            let before = match token.kind {
                Token::Sign => {
                    matches!(
                        token.text,
                        "!" | "-" | "+" | "~" | "&" | "*" | "**" | "..." | "\\" | "@" | "++" | "--" | "::"
                    )
                }
                Token::Word => {
                    contains(&self.syntax().prefix_words, token.text)
                        && !code.ahead(1).is_some_and(|next| matches!(next.text, "=" | "." | "->" | "["))
                }
                _ => false,
            };
            if !before {
                break;
            }
            code.at += 1;
        }
        let Some(token) = code.peek() else { return (Value::unknown(), None) };
        let mut target = None;
        let value = match token.kind {
            Token::Text | Token::Template => {
                code.at += 1;
                let mut value = self.parts(&token.parts);
                // Texts side by side are one text.
                if self.syntax().adjacent_texts_join {
                    while let Some(next) = code.peek().filter(|next| next.kind == Token::Text) {
                        code.at += 1;
                        let more = self.parts(&next.parts);
                        value = if self.spend(value.weight() + more.weight()) {
                            value.concat(more)
                        } else {
                            Value::unknown()
                        };
                    }
                }
                value
            }
            Token::Run => {
                code.at += 1;
                let text = self.parts(&token.parts);
                self.shell_text(&text);
                Value::unknown()
            }
            Token::Words => {
                code.at += 1;
                let words = self.parts(&token.parts);
                Value::list(words.shape.split_whitespace().take(256).map(Value::text).collect())
            }
            Token::Glob => {
                code.at += 1;
                self.angle(token.text, &token.parts)
            }
            Token::Number => {
                code.at += 1;
                Value { kind: Kind::Number, ..Value::text(token.text) }
            }
            Token::Pattern => {
                code.at += 1;
                Value::unknown()
            }
            Token::Newline => return (Value::unknown(), None),
            Token::Word => {
                if let Some(value) = self.special(code, token.text) {
                    value
                } else {
                    code.at += 1;
                    target = Some(token.text.to_owned());
                    self.named(token.text)
                }
            }
            Token::Sign => match token.text {
                "(" => self.group(code),
                "[" => self.array(code),
                "{" => self.braces(code),
                ":" if self.syntax().symbols && code.word_ahead(1).is_some() => {
                    let name = code.word_ahead(1).unwrap_or_default();
                    code.at += 2;
                    Value::text(name)
                }
                _ => return (Value::unknown(), None),
            },
        };
        self.postfix(code, value, target)
    }

    /// What a name stands for.
    pub(super) fn named(&mut self, name: &str) -> Value {
        if let Some(value) = self.variable(name) {
            return value;
        }
        self.constant(name).unwrap_or_else(|| Value::name(name))
    }

    /// `<~/*>`, `<$pattern>`, `<STDIN>`, `<$file>`
    fn angle(&mut self, text: &str, parts: &[Part<'_>]) -> Value {
        let inner = text.trim_matches(['<', '>']);
        if matches!(inner, "" | "STDIN" | "$STDIN" | "ARGV") {
            return Value::from(super::value::From::Input);
        }
        if inner.starts_with('$') && !inner.contains(['*', '/', '?', '[', '~']) {
            let from = self.variable(inner).map_or(super::value::From::Here, |value| value.from);
            return Value::from(from);
        }
        if !inner.contains(['*', '/', '?', '[', '~', '.']) {
            return self.variable(inner).unwrap_or_default();
        }
        let text = self.parts(parts);
        value_functions::glob(text)
    }

    /// The value of a text with expressions inside.
    pub(super) fn parts(&mut self, parts: &[Part<'_>]) -> Value {
        if let [Part::Text(text)] = parts {
            return Value::text(text.as_str());
        }
        let mut value = Value::text("");
        for part in parts {
            let piece = match part {
                Part::Text(text) => Value::text(text.as_str()),
                Part::Code(code) => self.inner(code),
            };
            if !self.spend(value.weight()) {
                return Value::unknown();
            }
            value = value.concat(piece);
        }
        value
    }

    fn inner(&mut self, code: &str) -> Value {
        // `${x}` is `$x`
        if let Some(name) = code.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) {
            let bare = name.trim();
            return self.variable(&format!("${bare}")).unwrap_or_default();
        }
        if let Some(value) = self.variable(code) {
            return if value.kind == Kind::List { value.element() } else { value };
        }
        if self.depth >= super::reader::DEPTH {
            self.passed_over = true;
            return Value::unknown();
        }
        self.depth += 1;
        let value = self.text(code);
        self.depth -= 1;
        value
    }

    /// `(a)`, `(a, b)`, `(a, b) => c`
    fn group(&mut self, code: &mut Code<'_>) -> Value {
        let close = code.close();
        let arrow =
            code.tokens.get(close + 1).is_some_and(|token| token.text == "=>") && close + 1 < code.end;
        if arrow && self.has_reader(ReaderKind::JavaScript) {
            self.parameters(code);
            code.at += 1;
            return self.body(code);
        }
        if let Some(value) = self.comprehension(code) {
            return value;
        }
        let mut args = self.bracket(code);
        if args.commas || args.items.len() != 1 {
            let mut items = args.items;
            items.append(&mut args.named);
            return Value::list(items);
        }
        args.items.pop().unwrap_or_default()
    }

    /// `[a, b]`, `[a for b in c]`
    fn array(&mut self, code: &mut Code<'_>) -> Value {
        if let Some(value) = self.comprehension(code) {
            return value;
        }
        let args = self.bracket(code);
        Value::list(args.items.into_iter().chain(args.named).collect())
    }

    /// The value that stands for a run of statements between braces, or one expression.
    pub(super) fn body(&mut self, code: &mut Code<'_>) -> Value {
        if code.is_sign("{") {
            let args = self.bracket(code);
            return args.items.into_iter().next_back().unwrap_or_default();
        }
        self.expression(code)
    }

    /// A shell is given a text.
    pub(super) fn shell_text(&mut self, text: &Value) {
        for one in text.each() {
            if one.from == super::value::From::Network {
                self.act(Act::RunsFetched);
                self.shell = true;
            }
            if one.is_text() && is_bare_shell(&one.shape) {
                self.shell = true;
            }
            self.act(Act::Shell(one.argument()));
        }
    }
}

/// What stands between braces, as a map, or as the last value of a block.
pub(super) fn map(args: Args) -> Value {
    if args.named.is_empty() {
        return args.items.into_iter().next_back().unwrap_or_default();
    }
    let from = args.from();
    Value { kind: Kind::Map, items: args.named, keys: args.keys, from, ..Value::default() }
}
