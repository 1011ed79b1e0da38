// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What follows an operand: members, calls and indices.

use super::args::Args;
use super::function::hands_on;
use super::language::description::contains;
use super::lex::Kind as Token;
use super::operand::map;
use super::reader::{Code, LONGEST_NAME, Reader};
use super::value::{Kind, Value};

impl Reader {
    /// Members, calls and indices behind a value.
    pub(super) fn postfix(
        &mut self,
        code: &mut Code<'_>,
        mut value: Value,
        mut target: Option<String>,
    ) -> (Value, Option<String>) {
        let syntax = self.syntax();
        while let Some(token) = code.peek() {
            let dotted = token.kind == Token::Sign
                && contains(&syntax.member_signs, token.text)
                && (token.text != ":" || code.word_ahead(1).is_some() && !token.space);
            if dotted {
                let Some(next) = code.ahead(1) else {
                    code.at += 1;
                    break;
                };
                if next.kind == Token::Word {
                    code.at += 2;
                    value = self.member(value, next.text);
                    target = (value.kind == Kind::Name).then(|| value.shape.clone());
                    value = self.after_member(code, value);
                    continue;
                }
                if matches!(next.text, "(" | "[" | "{") {
                    code.at += 1;
                    if next.text == "{" {
                        value = self.index(code, value);
                    }
                    continue;
                }
                break;
            }
            match (token.kind, token.text) {
                (Token::Sign, "(") => {
                    let args = self.arguments(code, &value);
                    value = self.call(value, args);
                }
                (Token::Sign, "[") if !(token.space && syntax.spaced_bracket_is_argument) => {
                    value = self.index(code, value);
                }
                (Token::Sign, "{")
                    if syntax.brace_indices
                        && !token.space
                        && target.as_deref().is_some_and(|name| name.starts_with('$')) =>
                {
                    value = self.index(code, value);
                }
                (Token::Sign, "{") if syntax.bar_parameters && code.sign_ahead(1, "|") => {
                    if value.kind == Kind::List {
                        self.element = Some(value.element());
                    }
                    let args = self.bracket(code);
                    let last = args.items.into_iter().next_back().unwrap_or_default();
                    value = if value.kind == Kind::Member && value.shape == "map" {
                        Value::list(vec![last])
                    } else {
                        value
                    };
                }
                (Token::Sign, "{") if syntax.literal_arguments && value.kind == Kind::Name => {
                    let table = self.braces(code);
                    value = self.call(value, Args::of(vec![table]));
                }
                (Token::Text, _)
                    if syntax.literal_arguments && matches!(value.kind, Kind::Name | Kind::Member) =>
                {
                    code.at += 1;
                    let text = self.parts(&token.parts);
                    value = self.call(value, Args::of(vec![text]));
                }
                (Token::Template, _) if matches!(value.kind, Kind::Name | Kind::Member | Kind::Unknown) => {
                    code.at += 1;
                    let text = self.parts(&token.parts);
                    value = self.tagged(&value, text);
                }
                _ if self.takes_bare(code, &value) => {
                    let args = self.bare(code);
                    value = self.call(value, args);
                }
                _ => break,
            }
            target = None;
        }
        // `Dir.glob("*") do |f|`
        if value.kind == Kind::List
            && code.word_ahead(0).is_some_and(|word| contains(&syntax.block_words, word))
        {
            self.element = Some(value.element());
        }
        // `unlink for …`
        let alone =
            code.peek().is_none_or(|token| matches!(token.text, ";" | "}" | "for" | "foreach" | "if"));
        if alone && value.kind == Kind::Name && contains(&syntax.topic_calls, &value.shape) {
            value = self.call(value, Args::default());
        }
        (value, target)
    }

    /// What stands between braces: a map, a block, or a list.
    pub(super) fn braces(&mut self, code: &mut Code<'_>) -> Value {
        let args = self.bracket(code);
        if self.syntax().braces_are_lists && args.named.is_empty() {
            Value::list(args.items)
        } else {
            map(args)
        }
    }

    /// A template with a tag: a command for those that run it.
    fn tagged(&mut self, tag: &Value, text: Value) -> Value {
        let name = tag.shape.as_str();
        if tag.kind == Kind::Name
            && matches!(
                name,
                "$" | "Bun.$" | "bun.$" | "zx.$" | "execa.$" | "execa" | "sh" | "shell" | "dax.$"
            )
        {
            self.shell_text(&text);
            return Value::unknown();
        }
        if name == "String.raw" { text } else { Value::from(text.from) }
    }

    /// Whether arguments without brackets follow: `unlink "a", "b"`, `system "ls"`.
    fn takes_bare(&self, code: &Code<'_>, value: &Value) -> bool {
        let syntax = self.syntax();
        if !syntax.bare_arguments || value.kind != Kind::Name {
            return false;
        }
        let Some(next) = code.peek() else { return false };
        let starts = match next.kind {
            Token::Text | Token::Run | Token::Words | Token::Glob | Token::Number => true,
            Token::Word => {
                let ends = matches!(
                    next.text,
                    "if" | "unless"
                        | "for"
                        | "foreach"
                        | "or"
                        | "and"
                        | "do"
                        | "while"
                        | "until"
                        | "then"
                        | "end"
                        | "rescue"
                        | "in"
                        | "as"
                        | "not"
                );
                !ends && !self.description.operators.iter().any(|(word, _)| *word == next.text)
            }
            Token::Sign => {
                next.space && contains(&syntax.bare_argument_signs, next.text)
                    || next.text == "{" && contains(&syntax.bare_block_calls, &value.shape)
            }
            _ => false,
        };
        starts && self.description.find_call(&value.shape).is_some()
    }

    /// Arguments without brackets: until the statement ends.
    fn bare(&mut self, code: &mut Code<'_>) -> Args {
        let mut args = Args::default();
        // `exec {"/bin/sh"} "sh"`
        if code.is_sign("{") {
            let block = self.bracket(code);
            args.items.extend(block.items);
        }
        loop {
            if self.syntax().symbols
                && code.sign_ahead(1, ":")
                && code.ahead(1).is_some_and(|sign| !sign.space)
            {
                let key = code.word_ahead(0).unwrap_or_default().to_owned();
                code.at += 2;
                args.keys.push(key);
                let value = self.expression(code);
                args.named.push(value);
            } else {
                let before = code.at;
                let value = self.expression(code);
                if code.at == before {
                    break;
                }
                if args.items.len() < 256 {
                    args.items.push(value);
                }
            }
            if !(code.eat(",") || code.eat("=>")) {
                break;
            }
        }
        args
    }

    /// `a.b`
    pub(super) fn member(&mut self, value: Value, name: &str) -> Value {
        match value.kind {
            // `os.__dict__['system']`
            Kind::Name if name == "__dict__" => value,
            Kind::Name if value.shape.len() + name.len() < LONGEST_NAME => {
                let full = format!("{}.{name}", value.shape);
                if let Some(known) = self.variable(&full) {
                    return known;
                }
                let named = |full| Value { items: value.items, ..Value::name(full) };
                self.constant(&full).unwrap_or_else(|| named(full))
            }
            Kind::Map => value.key(name).cloned().unwrap_or_default(),
            // Only the last member of a chain means anything.
            Kind::Member => {
                let held = value.items.into_iter().next().map(|inner| inner.items).unwrap_or_default();
                let receiver = Value { items: held, ..Value::from(value.from) };
                Value {
                    kind: Kind::Member,
                    shape: name.to_owned(),
                    from: receiver.from,
                    items: vec![receiver],
                    ..Value::default()
                }
            }
            _ => Value {
                kind: Kind::Member,
                shape: name.to_owned(),
                from: value.from,
                items: vec![value],
                ..Value::default()
            },
        }
    }

    /// Methods without brackets are called, too; blocks behind them are given what the receiver holds.
    fn after_member(&mut self, code: &Code<'_>, value: Value) -> Value {
        if !self.syntax().bare_methods {
            return value;
        }
        if code.is_sign("(")
            || code.is_sign("=")
            || self.takes_bare(code, &value)
            || code.is_sign("::")
            || code.is_sign(".")
                && value.kind == Kind::Name
                && value.shape.chars().next_back().is_some_and(char::is_alphanumeric)
                && is_constant(&value.shape)
        {
            return value;
        }
        if value.kind == Kind::Member {
            let receiver = value.items.first().cloned().unwrap_or_default();
            if hands_on(&value.shape) {
                self.element = Some(receiver.element());
                return Value { kind: Kind::Member, ..value };
            }
            return self.call(value, Args::default());
        }
        let next_is_value =
            code.peek().is_some_and(|token| matches!(token.kind, Token::Text | Token::Word | Token::Number));
        if value.kind == Kind::Name && !is_constant(&value.shape) && !next_is_value {
            if hands_on(value.shape.rsplit('.').next().unwrap_or_default()) {
                self.element = Some(Value::unknown());
            }
            return self.call(value, Args::default());
        }
        value
    }
}

/// Whether the last part of a name begins with a capital: a class, not a method.
fn is_constant(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|last| last.starts_with(|c: char| c.is_ascii_uppercase()))
}
