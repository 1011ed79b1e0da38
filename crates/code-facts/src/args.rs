// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Lists between brackets: arguments, list literals, maps and blocks.

use super::language::description::KeyStyle;
use super::lex::Kind as Token;
use super::reader::{Code, Reader};
use super::value::{Kind, Value};

/// What stands between brackets.
#[derive(Debug, Default)]
pub(super) struct Args {
    pub(super) items: Vec<Value>,
    pub(super) keys: Vec<String>,
    pub(super) named: Vec<Value>,
    pub(super) commas: bool,
}

/// So many items are kept.
const ITEMS: usize = 256;

impl Args {
    pub(super) fn of(items: Vec<Value>) -> Self {
        Self { items, ..Self::default() }
    }

    pub(super) fn get(&self, at: usize) -> Value {
        self.items.get(at).cloned().unwrap_or_default()
    }

    /// A named argument, or an option in a map.
    pub(super) fn option(&self, key: &str) -> Option<&Value> {
        let own = self.keys.iter().position(|own| own == key).and_then(|at| self.named.get(at));
        own.or_else(|| self.items.iter().find_map(|item| item.key(key)))
    }

    /// An argument by its place or by one of its names.
    pub(super) fn at_or(&self, at: usize, names: &[&str]) -> Value {
        let named = names.iter().find_map(|name| self.option(name));
        self.items.get(at).filter(|item| item.kind != Kind::Map).or(named).cloned().unwrap_or_default()
    }

    pub(super) fn is_on(&self, key: &str) -> bool {
        self.option(key).is_some_and(Value::is_true)
    }

    fn push(&mut self, value: Option<Value>) {
        if self.items.len() < ITEMS {
            self.items.extend(value);
        }
    }

    /// The worst place any of them comes from.
    pub(super) fn from(&self) -> super::value::From {
        self.items.iter().chain(&self.named).map(|item| item.from).max().unwrap_or_default()
    }
}

impl Reader {
    /// What stands between the bracket that opens here and its end; goes past it.
    pub(super) fn bracket(&mut self, code: &mut Code<'_>) -> Args {
        let close = code.close();
        let block = code.is_sign("{");
        code.at += 1;
        let outer = std::mem::replace(&mut code.end, close);
        let args = self.items(code, block);
        code.end = outer;
        code.at = (close + 1).min(outer);
        args
    }

    /// Items until the end of what is looked at.
    pub(super) fn items(&mut self, code: &mut Code<'_>, block: bool) -> Args {
        let mut args = Args::default();
        let mut current: Option<Value> = None;
        if self.syntax().bar_parameters && block && code.is_sign("|") {
            self.block_parameters(code);
        }
        while code.at < code.end {
            if code.eat(",") {
                args.commas = true;
                args.push(current.take());
                continue;
            }
            if code.eat(";") || code.peek().is_some_and(|token| token.kind == Token::Newline) {
                code.skip_newlines();
                continue;
            }
            if current.is_none()
                && let Some((key, length)) = self.key(code, block)
            {
                code.at += length;
                let value = self.expression(code);
                if args.named.len() < ITEMS {
                    args.keys.push(key);
                    args.named.push(value);
                }
                continue;
            }
            let before = code.at;
            let value = if block { self.statement(code) } else { self.expression(code) };
            if code.at == before {
                code.at += 1;
            } else if block || current.is_none() {
                current = Some(value);
            } else {
                // Something between two values that nobody knows.
                current = Some(Value::from(value.from.max(current.map(|old| old.from).unwrap_or_default())));
            }
        }
        args.push(current);
        args
    }

    /// The key of a named item that starts here: `mode=`, `recursive:`, `'a' =>`.
    fn key(&self, code: &Code<'_>, block: bool) -> Option<(String, usize)> {
        let first = code.peek()?;
        // `:force => true`
        if self.syntax().symbols && first.text == ":" && code.sign_ahead(2, "=>") {
            return Some((code.word_ahead(1)?.to_owned(), 3));
        }
        let key = match first.kind {
            Token::Word => first.text.to_owned(),
            Token::Text => match first.parts.as_slice() {
                [super::lex::Part::Text(text)] => text.clone(),
                _ => return None,
            },
            _ => return None,
        };
        let sign = code.ahead(1).filter(|token| token.kind == Token::Sign)?;
        let is_word = first.kind == Token::Word;
        let is_key = self.syntax().keys.iter().any(|style| match style {
            KeyStyle::EqualsInCalls => sign.text == "=" && !block && is_word,
            KeyStyle::EqualsInBraces => sign.text == "=" && block && is_word,
            KeyStyle::ColonInBraces => sign.text == ":" && block,
            KeyStyle::TightColon => sign.text == ":" && !sign.space,
            KeyStyle::Arrow => sign.text == "=>",
        });
        is_key.then_some((key, 2))
    }

    /// `|file, index|`: the first stands for what the block is given.
    pub(super) fn block_parameters(&mut self, code: &mut Code<'_>) {
        code.at += 1;
        let mut element = self.element.take().unwrap_or_default();
        for _ in 0..8 {
            if let Some(name) = code.word_ahead(0) {
                self.set(name, std::mem::take(&mut element));
            }
            if code.at >= code.end || code.eat("|") {
                break;
            }
            code.at += 1;
        }
    }
}
