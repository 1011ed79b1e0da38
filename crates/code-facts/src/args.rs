// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads lists between brackets: arguments, list literals, maps and blocks.

use super::language::description::KeyStyle;
use super::lex::TokenKind;
use super::reader::{CodeReader, TokenCursor};
use super::value::{CodeValue, ValueKind};

/// The items between brackets.
#[derive(Debug, Default)]
pub(super) struct CallArgs {
    pub(super) items: Vec<CodeValue>,
    pub(super) keys: Vec<String>,
    pub(super) named: Vec<CodeValue>,
    pub(super) commas: bool,
}

/// Maximum number of items.
const MAX_ITEMS: usize = 256;

impl CallArgs {
    pub(super) fn positional(items: Vec<CodeValue>) -> Self {
        Self { items, ..Self::default() }
    }

    pub(super) fn get(&self, at: usize) -> CodeValue {
        self.items.get(at).cloned().unwrap_or_default()
    }

    /// Returns a named argument, or an option in a map.
    pub(super) fn option(&self, key: &str) -> Option<&CodeValue> {
        let own = self.keys.iter().position(|own| own == key).and_then(|at| self.named.get(at));
        own.or_else(|| self.items.iter().find_map(|item| item.key(key)))
    }

    /// Returns an argument by its position or one of its names.
    pub(super) fn at_or(&self, at: usize, names: &[&str]) -> CodeValue {
        let named = names.iter().find_map(|name| self.option(name));
        self.items.get(at).filter(|item| item.kind != ValueKind::Map).or(named).cloned().unwrap_or_default()
    }

    pub(super) fn is_on(&self, key: &str) -> bool {
        self.option(key).is_some_and(CodeValue::is_true)
    }

    fn push(&mut self, value: Option<CodeValue>) {
        if self.items.len() < MAX_ITEMS {
            self.items.extend(value);
        }
    }

    /// Returns the least trusted origin of any argument.
    pub(super) fn from(&self) -> super::value::ValueOrigin {
        self.items.iter().chain(&self.named).map(|item| item.from).max().unwrap_or_default()
    }
}

impl CodeReader {
    /// Reads the items of the bracket at this position, and consumes its end.
    pub(super) fn read_bracket(&mut self, code: &mut TokenCursor<'_>) -> CallArgs {
        let close = code.close();
        let block = code.is_sign("{");
        code.at += 1;
        let outer = std::mem::replace(&mut code.end, close);
        let args = self.read_items(code, block);
        code.end = outer;
        code.at = (close + 1).min(outer);
        args
    }

    /// Reads items up to the end of the cursor.
    pub(super) fn read_items(&mut self, code: &mut TokenCursor<'_>, block: bool) -> CallArgs {
        let mut args = CallArgs::default();
        let mut current: Option<CodeValue> = None;
        if self.syntax().bar_parameters && block && code.is_sign("|") {
            self.read_block_parameters(code);
        }
        while code.at < code.end {
            if code.eat(",") {
                args.commas = true;
                args.push(current.take());
                continue;
            }
            // Julia separates named arguments with a semicolon.
            if !block && code.is_sign(";") {
                args.push(current.take());
            }
            if code.eat(";") || code.peek().is_some_and(|token| token.kind == TokenKind::Newline) {
                code.skip_newlines();
                continue;
            }
            if current.is_none()
                && let Some((key, length)) = self.read_key(code, block)
            {
                code.at += length;
                let value = self.read_expression(code);
                if self.syntax().labels_are_positional {
                    args.push(Some(value.clone()));
                }
                if args.named.len() < MAX_ITEMS {
                    args.keys.push(key);
                    args.named.push(value);
                }
                continue;
            }
            let before = code.at;
            let value = if block { self.read_statement(code) } else { self.read_expression(code) };
            if code.at == before {
                code.at += 1;
            } else if block || current.is_none() {
                current = Some(value);
            } else {
                // Unknown syntax between two values.
                current =
                    Some(CodeValue::from(value.from.max(current.map(|old| old.from).unwrap_or_default())));
            }
        }
        args.push(current);
        args
    }

    /// Returns the key of a named item at this position (`mode=`, `recursive:`, `'a' =>`) and its number of tokens.
    fn read_key(&self, code: &TokenCursor<'_>, block: bool) -> Option<(String, usize)> {
        let first = code.peek()?;
        // `:force => true`
        if self.syntax().symbols && first.text == ":" && code.sign_ahead(2, "=>") {
            return Some((code.word_ahead(1)?.to_owned(), 3));
        }
        let key = match first.kind {
            TokenKind::Word => first.text.to_owned(),
            TokenKind::Text => match first.parts.as_slice() {
                [super::lex::TextPart::Text(text)] => text.clone(),
                _ => return None,
            },
            _ => return None,
        };
        let sign = code.ahead(1).filter(|token| token.kind == TokenKind::Sign)?;
        let is_word = first.kind == TokenKind::Word;
        let is_key = self.syntax().keys.iter().any(|style| match style {
            KeyStyle::EqualsInCalls => sign.text == "=" && !block && is_word,
            KeyStyle::EqualsInBraces => sign.text == "=" && block && is_word,
            KeyStyle::ColonInBraces => sign.text == ":" && block,
            KeyStyle::TightColon => sign.text == ":" && !sign.space,
            KeyStyle::Arrow => sign.text == "=>",
        });
        is_key.then_some((key, 2))
    }

    /// Reads `|file, index|`; the first parameter is set to the current element.
    pub(super) fn read_block_parameters(&mut self, code: &mut TokenCursor<'_>) {
        code.at += 1;
        let mut element = self.element.take().unwrap_or_default();
        for _ in 0..8 {
            if let Some(name) = code.word_ahead(0) {
                self.set_variable(name, std::mem::take(&mut element));
            }
            if code.at >= code.end || code.eat("|") {
                break;
            }
            code.at += 1;
        }
    }
}
