// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads operands: names, strings, lists and brackets, with the members, calls and indices after them.

use super::args::CallArgs;
use super::language::description::{ReaderKind, contains};
use super::lex::{TextPart, TokenKind};
use super::process_start::is_bare_shell;
use super::reader::{CodeReader, TokenCursor};
use super::value::{CodeValue, ValueKind};
use super::{CodeEffect, value_functions};

impl CodeReader {
    /// Reads an operand; returns its value and, if it is assignable, its name.
    pub(super) fn read_operand(&mut self, code: &mut TokenCursor<'_>) -> (CodeValue, Option<String>) {
        code.skip_newlines();
        while let Some(token) = code.peek() {
            let before = match token.kind {
                TokenKind::Sign => {
                    matches!(
                        token.text,
                        "!" | "-" | "+" | "~" | "&" | "*" | "**" | "..." | "\\" | "@" | "++" | "--" | "::"
                    )
                }
                TokenKind::Word => {
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
        let Some(token) = code.peek() else { return (CodeValue::unknown(), None) };
        let mut target = None;
        let value = match token.kind {
            TokenKind::Text | TokenKind::Template => {
                code.at += 1;
                let mut value = self.evaluate_parts(&token.parts);
                // Adjacent strings are concatenated.
                if self.syntax().adjacent_texts_join {
                    while let Some(next) = code.peek().filter(|next| next.kind == TokenKind::Text) {
                        code.at += 1;
                        let more = self.evaluate_parts(&next.parts);
                        value = if self.spend_budget(value.weight() + more.weight()) {
                            value.concat(more)
                        } else {
                            CodeValue::unknown()
                        };
                    }
                }
                value
            }
            TokenKind::Run => {
                code.at += 1;
                let text = self.evaluate_parts(&token.parts);
                self.run_shell_text(&text);
                CodeValue::unknown()
            }
            TokenKind::Words => {
                code.at += 1;
                let words = self.evaluate_parts(&token.parts);
                CodeValue::list(words.shape.split_whitespace().take(256).map(CodeValue::text).collect())
            }
            TokenKind::Glob => {
                code.at += 1;
                self.read_angle_brackets(token.text, &token.parts)
            }
            TokenKind::Number => {
                code.at += 1;
                CodeValue { kind: ValueKind::Number, ..CodeValue::text(token.text) }
            }
            TokenKind::Pattern => {
                code.at += 1;
                CodeValue::unknown()
            }
            TokenKind::Newline => return (CodeValue::unknown(), None),
            TokenKind::Word => {
                if let Some(value) = self.read_special(code, token.text) {
                    value
                } else {
                    code.at += 1;
                    target = Some(token.text.to_owned());
                    self.resolve_name(token.text)
                }
            }
            TokenKind::Sign => match token.text {
                "(" => self.read_group(code),
                "[" => self.read_array(code),
                "{" => self.read_braces(code),
                ":" if self.syntax().symbols && code.word_ahead(1).is_some() => {
                    let name = code.word_ahead(1).unwrap_or_default();
                    code.at += 2;
                    CodeValue::text(name)
                }
                _ => return (CodeValue::unknown(), None),
            },
        };
        self.read_postfix(code, value, target)
    }

    /// Returns the value of a name.
    pub(super) fn resolve_name(&mut self, name: &str) -> CodeValue {
        if let Some(value) = self.variable(name) {
            return value;
        }
        self.constant_value(name).unwrap_or_else(|| CodeValue::name(name))
    }

    /// Reads `<~/*>`, `<$pattern>`, `<STDIN>` and `<$file>`.
    fn read_angle_brackets(&mut self, text: &str, parts: &[TextPart<'_>]) -> CodeValue {
        let inner = text.trim_matches(['<', '>']);
        if matches!(inner, "" | "STDIN" | "$STDIN" | "ARGV") {
            return CodeValue::from(super::value::ValueOrigin::Input);
        }
        if inner.starts_with('$') && !inner.contains(['*', '/', '?', '[', '~']) {
            let from = self.variable(inner).map_or(super::value::ValueOrigin::Here, |value| value.from);
            return CodeValue::from(from);
        }
        if !inner.contains(['*', '/', '?', '[', '~', '.']) {
            return self.variable(inner).unwrap_or_default();
        }
        let text = self.evaluate_parts(parts);
        value_functions::glob(text)
    }

    /// Evaluates text with interpolated expressions.
    pub(super) fn evaluate_parts(&mut self, parts: &[TextPart<'_>]) -> CodeValue {
        if let [TextPart::Text(text)] = parts {
            return CodeValue::text(text.as_str());
        }
        let mut value = CodeValue::text("");
        for part in parts {
            let piece = match part {
                TextPart::Text(text) => CodeValue::text(text.as_str()),
                TextPart::Code(code) => self.evaluate_inner(code),
            };
            if !self.spend_budget(value.weight()) {
                return CodeValue::unknown();
            }
            value = value.concat(piece);
        }
        value
    }

    fn evaluate_inner(&mut self, code: &str) -> CodeValue {
        // `${x}` is `$x`
        if let Some(name) = code.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) {
            let bare = name.trim();
            return self.variable(&format!("${bare}")).unwrap_or_default();
        }
        if let Some(value) = self.variable(code) {
            return if value.kind == ValueKind::List { value.element() } else { value };
        }
        if self.depth >= super::reader::MAX_BRACKET_DEPTH {
            self.passed_over = true;
            return CodeValue::unknown();
        }
        self.depth += 1;
        let value = self.read_text(code);
        self.depth -= 1;
        value
    }

    /// Reads `(a)`, `(a, b)` and `(a, b) => c`.
    fn read_group(&mut self, code: &mut TokenCursor<'_>) -> CodeValue {
        let close = code.close();
        let arrow =
            code.tokens.get(close + 1).is_some_and(|token| token.text == "=>") && close + 1 < code.end;
        if arrow && self.has_reader(ReaderKind::JavaScript) {
            self.read_parameters(code);
            code.at += 1;
            return self.read_body(code);
        }
        if let Some(value) = self.read_comprehension(code) {
            return value;
        }
        let mut args = self.read_bracket(code);
        if args.commas || args.items.len() != 1 {
            let mut items = args.items;
            items.append(&mut args.named);
            return CodeValue::list(items);
        }
        args.items.pop().unwrap_or_default()
    }

    /// Reads `[a, b]` and `[a for b in c]`.
    fn read_array(&mut self, code: &mut TokenCursor<'_>) -> CodeValue {
        if let Some(value) = self.read_comprehension(code) {
            return value;
        }
        let args = self.read_bracket(code);
        CodeValue::list(args.items.into_iter().chain(args.named).collect())
    }

    /// Reads a block or an expression; returns the value of the last statement.
    pub(super) fn read_body(&mut self, code: &mut TokenCursor<'_>) -> CodeValue {
        if code.is_sign("{") {
            let args = self.read_bracket(code);
            return args.items.into_iter().next_back().unwrap_or_default();
        }
        self.read_expression(code)
    }

    /// Reports that a shell runs a string.
    pub(super) fn run_shell_text(&mut self, text: &CodeValue) {
        for one in text.each() {
            if one.from == super::value::ValueOrigin::Network {
                self.push_effect(CodeEffect::RunsFetched);
                self.shell = true;
            }
            if one.is_text() && is_bare_shell(&one.shape) {
                self.shell = true;
            }
            self.push_effect(CodeEffect::Shell(one.argument()));
        }
    }
}

/// Converts the items between braces to a map, or to the last value of a block.
pub(super) fn to_map(args: CallArgs) -> CodeValue {
    if args.named.is_empty() {
        return args.items.into_iter().next_back().unwrap_or_default();
    }
    let from = args.from();
    CodeValue { kind: ValueKind::Map, items: args.named, keys: args.keys, from, ..CodeValue::default() }
}
