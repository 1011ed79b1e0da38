// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Statements: imports, loops, functions. Everything else is an expression.

use super::language::description::{ReaderKind, contains};
use super::lex::Kind as Token;
use super::reader::{Code, Reader};
use super::value::{Kind, Value};

impl Reader {
    /// Reads a statement from here on. Goes nowhere when none starts here.
    pub(super) fn statement(&mut self, code: &mut Code<'_>) -> Value {
        while code.eat(";") || code.peek().is_some_and(|token| token.kind == Token::Newline) {
            code.skip_newlines();
        }
        let Some(token) = code.peek() else { return Value::unknown() };
        if token.kind == Token::Word {
            let syntax = self.syntax();
            match (token.text, self.description.reader) {
                ("import", ReaderKind::Python) => return self.import(code),
                ("from", ReaderKind::Python) => return self.import_from(code),
                ("import", ReaderKind::JavaScript) if !code.sign_ahead(1, "(") => {
                    return self.import_js(code);
                }
                ("with", ReaderKind::Python) => {
                    code.at += 1;
                    return self.with(code);
                }
                (word, _)
                    if contains(&syntax.declaration_words, word)
                        && code.ahead(1).is_some_and(|next| matches!(next.text, "(" | "{" | "[")) =>
                {
                    code.at += 1;
                    return self.unpack(code);
                }
                (word, _) if contains(&syntax.block_words, word) => {
                    code.at += 1;
                    if code.is_sign("|") {
                        self.block_parameters(code);
                    }
                    return Value::unknown();
                }
                (word, _) if contains(&syntax.skipped_statements, word) => {
                    while code.peek().is_some_and(|token| token.text != ";") {
                        code.at += 1;
                    }
                    return Value::unknown();
                }
                _ => {}
            }
            if matches!(token.text, "for" | "foreach") && self.for_loop(code) {
                return Value::unknown();
            }
        }
        if self.syntax().postfix_for
            && let Some(value) = self.postfix_loop(code)
        {
            return value;
        }
        if self.has_reader(ReaderKind::Python)
            && token.text == "("
            && self.is_unpacked(code, code.close() + 1)
        {
            return self.unpack(code);
        }
        if token.kind == Token::Word && code.sign_ahead(1, ",") && self.syntax().unpacks_names {
            return self.unpack_bare(code);
        }
        self.expression(code)
    }

    fn is_unpacked(&self, code: &Code<'_>, at: usize) -> bool {
        at < code.end && code.tokens.get(at).is_some_and(|token| token.text == "=")
    }

    /// `with open(x) as f, open(y) as g:`
    fn with(&mut self, code: &mut Code<'_>) -> Value {
        for _ in 0..8 {
            let value = self.expression(code);
            if code.is_word("as") {
                if let Some(name) = code.word_ahead(1) {
                    self.set(name, value);
                }
                code.at += 2;
            }
            if !code.eat(",") {
                break;
            }
        }
        Value::unknown()
    }

    /// `{a, b: c} = …`, `(a, b) = …`
    fn unpack(&mut self, code: &mut Code<'_>) -> Value {
        let close = code.close();
        let by_key = code.is_sign("{");
        let inside = code.tokens.get(code.at + 1..close).unwrap_or_default();
        if !self.is_unpacked(code, close + 1) {
            return self.expression(code);
        }
        code.at = close + 2;
        let value = self.expression(code);
        for (place, part) in inside.split(|token| token.text == ",").take(64).enumerate() {
            let mut words = part.iter().filter(|token| token.kind == Token::Word).map(|token| token.text);
            let Some(key) = words.next() else { continue };
            let held = if by_key {
                self.member(value.clone(), key)
            } else {
                value.items.get(place).cloned().unwrap_or_else(|| Value::from(value.from))
            };
            let alias = if by_key { words.next().unwrap_or(key) } else { key };
            self.set(alias, held);
        }
        Value::unknown()
    }

    /// `a, b = 1, 2`
    fn unpack_bare(&mut self, code: &mut Code<'_>) -> Value {
        let mut names = Vec::new();
        let mut at = code.at;
        while let Some(token) =
            code.tokens.get(at).filter(|token| token.kind == Token::Word && at < code.end && names.len() < 16)
        {
            names.push(token.text);
            at += 1;
            if code.tokens.get(at).is_none_or(|token| token.text != ",") {
                break;
            }
            at += 1;
        }
        if !self.is_unpacked(code, at) {
            return self.expression(code);
        }
        code.at = at + 1;
        let mut values = Vec::new();
        loop {
            let before = code.at;
            values.push(self.expression(code));
            if code.at == before || !code.eat(",") {
                break;
            }
        }
        if let [one] = values.as_slice()
            && one.kind == Kind::List
        {
            values = one.items.clone();
        }
        for (place, name) in names.iter().enumerate() {
            self.set(name, values.get(place).cloned().unwrap_or_default());
        }
        Value::unknown()
    }
}
