// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads members, calls and indices after an operand.

use super::args::CallArgs;
use super::function::passes_elements;
use super::language::description::{ReaderKind, contains};
use super::lex::TokenKind;
use super::operand::to_map;
use super::reader::{CodeReader, MAX_NAME_BYTES, TokenCursor};
use super::value::{CodeValue, ValueKind};

impl CodeReader {
    /// Reads members, calls and indices after a value.
    pub(super) fn read_postfix(
        &mut self,
        code: &mut TokenCursor<'_>,
        mut value: CodeValue,
        mut target: Option<String>,
    ) -> (CodeValue, Option<String>) {
        let syntax = self.syntax();
        while let Some(token) = code.peek() {
            let dotted = token.kind == TokenKind::Sign
                && contains(&syntax.member_signs, token.text)
                && (token.text != ":" || code.word_ahead(1).is_some() && !token.space);
            if dotted {
                let Some(next) = code.ahead(1) else {
                    code.at += 1;
                    break;
                };
                if next.kind == TokenKind::Word {
                    code.at += 2;
                    value = self.resolve_member(value, next.text);
                    target = (value.kind == ValueKind::Name).then(|| value.shape.clone());
                    value = self.finish_member(code, value);
                    continue;
                }
                if matches!(next.text, "(" | "[" | "{") {
                    code.at += 1;
                    if next.text == "{" {
                        value = self.read_index(code, value);
                    }
                    continue;
                }
                break;
            }
            match (token.kind, token.text) {
                (TokenKind::Sign, "(") => {
                    let args = self.read_arguments(code, &value);
                    value = self.call_value(value, args);
                }
                (TokenKind::Sign, "[") if !(token.space && syntax.spaced_bracket_is_argument) => {
                    value = self.read_index(code, value);
                }
                (TokenKind::Sign, "{")
                    if syntax.brace_indices
                        && !token.space
                        && target.as_deref().is_some_and(|name| name.starts_with('$')) =>
                {
                    value = self.read_index(code, value);
                }
                (TokenKind::Sign, "{") if syntax.bar_parameters && code.sign_ahead(1, "|") => {
                    if value.kind == ValueKind::List {
                        self.element = Some(value.element());
                    }
                    let args = self.read_bracket(code);
                    let last = args.items.into_iter().next_back().unwrap_or_default();
                    value = if value.kind == ValueKind::Member && value.shape == "map" {
                        CodeValue::list(vec![last])
                    } else {
                        value
                    };
                }
                (TokenKind::Sign, "{") if syntax.literal_arguments && value.kind == ValueKind::Name => {
                    let table = self.read_braces(code);
                    value = self.call_value(value, CallArgs::positional(vec![table]));
                }
                (TokenKind::Text, _)
                    if syntax.literal_arguments
                        && matches!(value.kind, ValueKind::Name | ValueKind::Member) =>
                {
                    code.at += 1;
                    let text = self.evaluate_parts(&token.parts);
                    value = self.call_value(value, CallArgs::positional(vec![text]));
                }
                (TokenKind::Template, _)
                    if matches!(value.kind, ValueKind::Name | ValueKind::Member | ValueKind::Unknown) =>
                {
                    code.at += 1;
                    let text = self.evaluate_parts(&token.parts);
                    value = self.run_tagged_template(&value, text);
                }
                _ if self.takes_bare_arguments(code, &value) => {
                    let args = self.read_bare_arguments(code);
                    value = self.call_value(value, args);
                }
                _ => break,
            }
            target = None;
        }
        // `Dir.glob("*") do |f|`
        if value.kind == ValueKind::List
            && code.word_ahead(0).is_some_and(|word| contains(&syntax.block_words, word))
        {
            self.element = Some(value.element());
        }
        // `unlink for …`
        let alone =
            code.peek().is_none_or(|token| matches!(token.text, ";" | "}" | "for" | "foreach" | "if"));
        if alone && value.kind == ValueKind::Name && contains(&syntax.topic_calls, &value.shape) {
            value = self.call_value(value, CallArgs::default());
        }
        (value, target)
    }

    /// Reads braces: a map, a block or a list.
    pub(super) fn read_braces(&mut self, code: &mut TokenCursor<'_>) -> CodeValue {
        let args = self.read_bracket(code);
        if self.syntax().braces_are_lists && args.named.is_empty() {
            CodeValue::list(args.items)
        } else {
            to_map(args)
        }
    }

    /// Reads a tagged template, which some tags run as a command.
    fn run_tagged_template(&mut self, tag: &CodeValue, text: CodeValue) -> CodeValue {
        let name = tag.shape.as_str();
        if tag.kind == ValueKind::Name
            && matches!(
                name,
                "$" | "Bun.$" | "bun.$" | "zx.$" | "execa.$" | "execa" | "sh" | "shell" | "dax.$"
            )
        {
            self.run_shell_text(&text);
            return CodeValue::unknown();
        }
        if name == "String.raw" { text } else { CodeValue::from(text.from) }
    }

    /// Whether arguments without parentheses follow: `unlink "a", "b"`, `system "ls"`.
    fn takes_bare_arguments(&self, code: &TokenCursor<'_>, value: &CodeValue) -> bool {
        let syntax = self.syntax();
        if !syntax.bare_arguments || value.kind != ValueKind::Name {
            return false;
        }
        let Some(next) = code.peek() else { return false };
        let starts = match next.kind {
            TokenKind::Text | TokenKind::Run | TokenKind::Words | TokenKind::Glob | TokenKind::Number => true,
            TokenKind::Word => {
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
            TokenKind::Sign => {
                next.space && contains(&syntax.bare_argument_signs, next.text)
                    || next.text == "{" && contains(&syntax.bare_block_calls, &value.shape)
            }
            _ => false,
        };
        starts && self.description.find_call(&value.shape).is_some()
    }

    /// Reads arguments without parentheses, up to the end of the statement.
    fn read_bare_arguments(&mut self, code: &mut TokenCursor<'_>) -> CallArgs {
        let mut args = CallArgs::default();
        // `exec {"/bin/sh"} "sh"`
        if code.is_sign("{") {
            let block = self.read_bracket(code);
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
                let value = self.read_expression(code);
                args.named.push(value);
            } else {
                let before = code.at;
                let value = self.read_expression(code);
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

    /// Resolves `a.b`.
    pub(super) fn resolve_member(&mut self, value: CodeValue, name: &str) -> CodeValue {
        // `import("fs").then(fs => …)`: the module itself is passed on.
        let is_promise = name == "then" && self.has_reader(ReaderKind::JavaScript);
        match value.kind {
            // `os.__dict__['system']`
            ValueKind::Name if name == "__dict__" => value,
            ValueKind::Name if !is_promise && value.shape.len() + name.len() < MAX_NAME_BYTES => {
                let full = format!("{}.{name}", value.shape);
                if let Some(known) = self.variable(&full) {
                    return known;
                }
                let named = |full| CodeValue { items: value.items, ..CodeValue::name(full) };
                self.constant_value(&full).unwrap_or_else(|| named(full))
            }
            ValueKind::Map => value.key(name).cloned().unwrap_or_default(),
            // Only the last member of a chain matters.
            ValueKind::Member => {
                let held = value.items.into_iter().next().map(|inner| inner.items).unwrap_or_default();
                let receiver = CodeValue { items: held, ..CodeValue::from(value.from) };
                CodeValue {
                    kind: ValueKind::Member,
                    shape: name.to_owned(),
                    from: receiver.from,
                    items: vec![receiver],
                    ..CodeValue::default()
                }
            }
            _ => CodeValue {
                kind: ValueKind::Member,
                shape: name.to_owned(),
                from: value.from,
                items: vec![value],
                ..CodeValue::default()
            },
        }
    }

    /// Evaluates a method that is called without parentheses. A block after it receives the elements of the receiver.
    fn finish_member(&mut self, code: &TokenCursor<'_>, value: CodeValue) -> CodeValue {
        if !self.syntax().bare_methods {
            return value;
        }
        if code.is_sign("(")
            || code.is_sign("=")
            || self.takes_bare_arguments(code, &value)
            || code.is_sign("::")
            || code.is_sign(".")
                && value.kind == ValueKind::Name
                && value.shape.chars().next_back().is_some_and(char::is_alphanumeric)
                && is_constant(&value.shape)
        {
            return value;
        }
        if value.kind == ValueKind::Member {
            let receiver = value.items.first().cloned().unwrap_or_default();
            if passes_elements(&value.shape) {
                self.element = Some(receiver.element());
                return CodeValue { kind: ValueKind::Member, ..value };
            }
            return self.call_value(value, CallArgs::default());
        }
        let next_is_value = code
            .peek()
            .is_some_and(|token| matches!(token.kind, TokenKind::Text | TokenKind::Word | TokenKind::Number));
        if value.kind == ValueKind::Name && !is_constant(&value.shape) && !next_is_value {
            if passes_elements(value.shape.rsplit('.').next().unwrap_or_default()) {
                self.element = Some(CodeValue::unknown());
            }
            return self.call_value(value, CallArgs::default());
        }
        value
    }
}

/// Whether the last part of a name starts with an upper-case letter, so that it is a class and not a method.
fn is_constant(name: &str) -> bool {
    name.rsplit('.').next().is_some_and(|last| last.starts_with(|c: char| c.is_ascii_uppercase()))
}
