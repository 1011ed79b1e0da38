// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads statements: imports, loops and functions. Everything else is an expression.

use super::language::description::{ReaderKind, contains};
use super::lex::TokenKind;
use super::reader::{CodeReader, TokenCursor};
use super::value::{CodeValue, ValueKind};

impl CodeReader {
    /// Reads a statement. Consumes nothing if none starts here.
    pub(super) fn read_statement(&mut self, code: &mut TokenCursor<'_>) -> CodeValue {
        while code.eat(";") || code.peek().is_some_and(|token| token.kind == TokenKind::Newline) {
            code.skip_newlines();
        }
        let Some(token) = code.peek() else { return CodeValue::unknown() };
        if token.kind == TokenKind::Word {
            let syntax = self.syntax();
            match (token.text, self.description.reader) {
                ("import", ReaderKind::Python) => return self.read_import(code),
                ("from", ReaderKind::Python) => return self.read_import_from(code),
                ("import", ReaderKind::JavaScript) if !code.sign_ahead(1, "(") => {
                    return self.read_js_import(code);
                }
                ("with", ReaderKind::Python) => {
                    code.at += 1;
                    return self.read_with(code);
                }
                (word, _)
                    if contains(&syntax.declaration_words, word)
                        && code.ahead(1).is_some_and(|next| matches!(next.text, "(" | "{" | "[")) =>
                {
                    code.at += 1;
                    return self.read_unpacking(code);
                }
                (word, _) if contains(&syntax.block_words, word) => {
                    code.at += 1;
                    if code.is_sign("|") {
                        self.read_block_parameters(code);
                    }
                    return CodeValue::unknown();
                }
                (word, _) if contains(&syntax.skipped_statements, word) => {
                    while code.peek().is_some_and(|token| token.text != ";") {
                        code.at += 1;
                    }
                    return CodeValue::unknown();
                }
                _ => {}
            }
            if matches!(token.text, "for" | "foreach") && self.read_for(code) {
                return CodeValue::unknown();
            }
        }
        if self.syntax().postfix_for
            && let Some(value) = self.read_postfix_loop(code)
        {
            return value;
        }
        if self.has_reader(ReaderKind::Python)
            && token.text == "("
            && self.is_unpacked(code, code.close() + 1)
        {
            return self.read_unpacking(code);
        }
        if token.kind == TokenKind::Word && code.sign_ahead(1, ",") && self.syntax().unpacks_names {
            return self.read_bare_unpacking(code);
        }
        self.read_expression(code)
    }

    fn is_unpacked(&self, code: &TokenCursor<'_>, at: usize) -> bool {
        at < code.end && code.tokens.get(at).is_some_and(|token| matches!(token.text, "=" | ":="))
    }

    /// Reads `with open(x) as f, open(y) as g:`.
    fn read_with(&mut self, code: &mut TokenCursor<'_>) -> CodeValue {
        for _ in 0..8 {
            let value = self.read_expression(code);
            if code.is_word("as") {
                if let Some(name) = code.word_ahead(1) {
                    self.set_variable(name, value);
                }
                code.at += 2;
            }
            if !code.eat(",") {
                break;
            }
        }
        CodeValue::unknown()
    }

    /// Reads `{a, b: c} = …` and `(a, b) = …`.
    fn read_unpacking(&mut self, code: &mut TokenCursor<'_>) -> CodeValue {
        let close = code.close();
        let by_key = code.is_sign("{");
        let inside = code.tokens.get(code.at + 1..close).unwrap_or_default();
        if !self.is_unpacked(code, close + 1) {
            return self.read_expression(code);
        }
        code.at = close + 2;
        let value = self.read_expression(code);
        for (place, part) in inside.split(|token| token.text == ",").take(64).enumerate() {
            let mut words = part.iter().filter(|token| token.kind == TokenKind::Word).map(|token| token.text);
            let Some(key) = words.next() else { continue };
            let held = if by_key {
                self.resolve_member(value.clone(), key)
            } else {
                value.items.get(place).cloned().unwrap_or_else(|| CodeValue::from(value.from))
            };
            let alias = if by_key { words.next().unwrap_or(key) } else { key };
            self.set_variable(alias, held);
        }
        CodeValue::unknown()
    }

    /// Reads `a, b = 1, 2`.
    fn read_bare_unpacking(&mut self, code: &mut TokenCursor<'_>) -> CodeValue {
        let mut names = Vec::new();
        let mut at = code.at;
        while let Some(token) = code
            .tokens
            .get(at)
            .filter(|token| token.kind == TokenKind::Word && at < code.end && names.len() < 16)
        {
            names.push(token.text);
            at += 1;
            if code.tokens.get(at).is_none_or(|token| token.text != ",") {
                break;
            }
            at += 1;
        }
        if !self.is_unpacked(code, at) {
            return self.read_expression(code);
        }
        code.at = at + 1;
        let mut values = Vec::new();
        loop {
            let before = code.at;
            values.push(self.read_expression(code));
            if code.at == before || !code.eat(",") {
                break;
            }
        }
        if let [one] = values.as_slice()
            && one.kind == ValueKind::List
        {
            values = one.items.clone();
        }
        for (place, name) in names.iter().enumerate() {
            self.set_variable(name, values.get(place).cloned().unwrap_or_default());
        }
        CodeValue::unknown()
    }
}
