// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Statements: imports, loops, functions. Everything else is an expression.

use super::Language;
use super::lex::Kind as Token;
use super::reader::{Code, Reader};
use super::value::{Kind, Value};
use super::{calls, pure};

impl Reader {
    /// Reads a statement from here on. Goes nowhere when none starts here.
    pub(super) fn statement(&mut self, code: &mut Code<'_>) -> Value {
        while code.eat(";") || code.peek().is_some_and(|token| token.kind == Token::Newline) {
            code.skip_newlines();
        }
        let Some(token) = code.peek() else { return Value::unknown() };
        if token.kind == Token::Word {
            match (token.text, self.language) {
                ("import", Language::Python) => return self.import(code),
                ("from", Language::Python) => return self.import_from(code),
                ("import", Language::JavaScript) if !code.sign_ahead(1, "(") => return self.import_js(code),
                ("with", Language::Python) => {
                    code.at += 1;
                    return self.with(code);
                }
                ("const" | "let" | "var", Language::JavaScript)
                    if code.sign_ahead(1, "{") || code.sign_ahead(1, "[") =>
                {
                    code.at += 1;
                    return self.unpack(code);
                }
                ("my" | "our" | "local", Language::Perl) if code.sign_ahead(1, "(") => {
                    code.at += 1;
                    return self.unpack(code);
                }
                ("local", Language::Lua) if code.word_ahead(1) == Some("function") => code.at += 1,
                ("do", Language::Ruby) => {
                    code.at += 1;
                    if code.is_sign("|") {
                        self.block_parameters(code);
                    }
                    return Value::unknown();
                }
                ("use" | "no" | "package" | "namespace", Language::Perl | Language::Php) => {
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
        if self.language == Language::Perl
            && let Some(value) = self.modified(code)
        {
            return value;
        }
        if self.language == Language::Python && token.text == "(" && self.is_unpacked(code, code.close() + 1)
        {
            return self.unpack(code);
        }
        if token.kind == Token::Word
            && code.sign_ahead(1, ",")
            && matches!(self.language, Language::Python | Language::Ruby | Language::Lua)
        {
            return self.unpack_bare(code);
        }
        self.expression(code)
    }

    fn is_unpacked(&self, code: &Code<'_>, at: usize) -> bool {
        at < code.end && code.tokens.get(at).is_some_and(|token| token.text == "=")
    }

    /// `import os, shutil as s`
    fn import(&mut self, code: &mut Code<'_>) -> Value {
        code.at += 1;
        while let Some(module) = dotted(code) {
            if code.is_word("as") {
                if let Some(alias) = code.word_ahead(1) {
                    self.set(alias, Value::name(module));
                }
                code.at += 2;
            }
            if !code.eat(",") {
                break;
            }
        }
        Value::unknown()
    }

    /// `from os import system as s, remove`
    fn import_from(&mut self, code: &mut Code<'_>) -> Value {
        code.at += 1;
        let Some(module) = dotted(code) else { return Value::unknown() };
        if !code.is_word("import") {
            return Value::unknown();
        }
        code.at += 1;
        code.eat("(");
        if code.eat("*") {
            for name in calls::members(self.language, &module) {
                self.set(name, Value::name(format!("{module}.{name}")));
            }
        }
        while let Some(name) = code.word_ahead(0) {
            code.at += 1;
            let full = format!("{module}.{name}");
            let value = pure::constant(self.language, &full).unwrap_or_else(|| Value::name(full));
            let mut alias = name;
            if code.is_word("as") {
                alias = code.word_ahead(1).unwrap_or(name);
                code.at += 2;
            }
            self.set(alias, value);
            if !code.eat(",") {
                break;
            }
        }
        code.eat(")");
        Value::unknown()
    }

    /// `import fs from 'fs'`, `import {rm as r} from 'fs'`, `import * as fs from 'fs'`
    fn import_js(&mut self, code: &mut Code<'_>) -> Value {
        code.at += 1;
        let start = code.at;
        // The module stands at the end.
        let mut at = start;
        while code.tokens.get(at).is_some_and(|token| token.kind != Token::Text && token.text != ";")
            && at < code.end
            && at < start + 200
        {
            at += 1;
        }
        let Some(text) = code.tokens.get(at).filter(|token| token.kind == Token::Text) else {
            return Value::unknown();
        };
        let module = self.parts(&text.parts);
        let module = pure::module(&module.shape).to_owned();
        let mut braces = false;
        while code.at < at {
            match code.peek().map(|token| token.text) {
                Some("{") => braces = true,
                Some("}") => braces = false,
                Some("from" | "type" | "as" | "," | "*") => {}
                Some(name) => {
                    let alias = if code.ahead(1).is_some_and(|token| token.text == "as") {
                        code.word_ahead(2)
                    } else {
                        None
                    };
                    let full = if braces { format!("{module}.{name}") } else { module.clone() };
                    self.set(alias.unwrap_or(name), Value::name(full));
                    code.at += if alias.is_some() { 2 } else { 0 };
                }
                None => break,
            }
            // `* as fs`
            if code.is_sign("*") && code.word_ahead(1) == Some("as") {
                code.at += 1;
            }
            code.at += 1;
        }
        code.at = (at + 1).min(code.end);
        Value::unknown()
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

    /// `for x in …`, `for (const x of …)`, `foreach (… as $x)`, `foreach my $x (…)`
    fn for_loop(&mut self, code: &mut Code<'_>) -> bool {
        let start = code.at;
        code.at += 1;
        if code.is_word("await") {
            code.at += 1;
        }
        let open = code.is_sign("(");
        let end = if open { code.close() } else { code.end };
        let from = code.at + usize::from(open);
        // Where the list is: behind `in` or `of`, before `as`, between the brackets.
        let mut at = from;
        let mut found = None;
        while at < end && at < from + 24 {
            let Some(token) = code.tokens.get(at) else { break };
            if token.kind == Token::Word && matches!(token.text, "in" | "of") {
                found = Some(at);
                break;
            }
            if matches!(token.text, ":" | ";" | "=") || token.kind == Token::Newline {
                break;
            }
            at += 1;
        }
        if let Some(found) = found {
            let names: Vec<&str> = code
                .tokens
                .get(from..found)
                .unwrap_or_default()
                .iter()
                .filter(|token| {
                    token.kind == Token::Word && !matches!(token.text, "const" | "let" | "var" | "my")
                })
                .map(|token| token.text)
                .collect();
            code.at = found + 1;
            let list = self.expression(code);
            self.bind(&names, &list);
            return true;
        }
        match self.language {
            Language::Perl => self.foreach_perl(code, start),
            Language::Php if open => self.foreach_php(code),
            _ => {
                code.at = start + 1;
                true
            }
        }
    }

    fn foreach_perl(&mut self, code: &mut Code<'_>, start: usize) -> bool {
        if matches!(code.word_ahead(0), Some("my" | "our")) {
            code.at += 1;
        }
        let name = match code.word_ahead(0) {
            Some(name) if name.starts_with('$') => {
                code.at += 1;
                name
            }
            _ => "$_",
        };
        if !code.is_sign("(") {
            code.at = start + 1;
            return true;
        }
        let args = self.bracket(code);
        let list = list_of(args.items);
        self.bind(&[name], &list);
        true
    }

    fn foreach_php(&mut self, code: &mut Code<'_>) -> bool {
        let close = code.close();
        code.at += 1;
        let list = self.expression(code);
        if code.is_word("as") {
            let names = code.tokens.get(code.at..close).unwrap_or_default();
            if let Some(name) = names.iter().rfind(|token| token.kind == Token::Word) {
                self.bind(&[name.text], &list);
            }
            code.at = (close + 1).min(code.end);
        }
        true
    }

    /// Gives loop variables what the list holds.
    pub(super) fn bind(&mut self, names: &[&str], list: &Value) {
        let element = if list.kind == Kind::List || list.kind == Kind::Either {
            list.element()
        } else {
            Value { items: Vec::new(), ..Value::from(list.from) }
        };
        match names {
            [one] => self.set(one, element),
            // `for root, dirs, files in os.walk(…)`
            [first, rest @ ..] if element.deep => {
                self.set(first, element);
                for name in rest {
                    self.set(name, Value::unknown());
                }
            }
            // `for i, x in enumerate(…)`, `for _, x in ipairs(…)`
            [rest @ .., last] => {
                for name in rest {
                    self.set(name, Value::unknown());
                }
                self.set(last, element);
            }
            [] => {}
        }
    }

    /// `unlink $_ for glob("*")`: the list stands behind, and is read first.
    fn modified(&mut self, code: &mut Code<'_>) -> Option<Value> {
        let first = code.at == 0
            || code.tokens.get(code.at - 1).is_some_and(|token| matches!(token.text, ";" | "{" | "}"));
        if !first {
            return None;
        }
        let start = code.at;
        let mut at = start;
        let mut found = None;
        while at < code.end {
            let token = code.tokens.get(at)?;
            match token.text {
                ";" | "}" if token.kind == Token::Sign => break,
                "(" | "[" | "{" if token.kind == Token::Sign => {
                    at = code.pairs.get(at).copied().unwrap_or(code.end);
                }
                "for" | "foreach" if at > start && token.kind == Token::Word => found = Some(at),
                _ => {}
            }
            at += 1;
        }
        let (found, end) = (found?, at.min(code.end));
        let outer = std::mem::replace(&mut code.end, end);
        code.at = found + 1;
        let args = self.items(code, false);
        self.bind(&["$_"], &list_of(args.items));
        (code.at, code.end) = (start, found);
        let mut value = Value::unknown();
        while code.at < found {
            let before = code.at;
            value = self.expression(code);
            code.at += usize::from(code.at == before);
        }
        (code.at, code.end) = (end, outer);
        Some(value)
    }

    /// `[f(x) for x in y]`: the list stands behind, and is read first.
    pub(super) fn comprehension(&mut self, code: &mut Code<'_>) -> Option<Value> {
        if self.language != Language::Python || self.depth >= super::reader::DEPTH {
            return None;
        }
        let (start, close) = (code.at + 1, code.close());
        let mut at = start;
        let found = loop {
            let token = code.tokens.get(at).filter(|_| at < close)?;
            match token.text {
                "(" | "[" | "{" if token.kind == Token::Sign => {
                    at = code.pairs.get(at).copied().unwrap_or(close);
                }
                "for" if token.kind == Token::Word && at > start => break at,
                _ => {}
            }
            at += 1;
        };
        let outer = std::mem::replace(&mut code.end, close);
        code.at = found;
        self.depth += 1;
        while code.at < close {
            let before = code.at;
            if code.is_word("for") {
                self.for_loop(code);
            } else {
                self.expression(code);
            }
            code.at += usize::from(code.at == before);
        }
        (code.at, code.end) = (start, found);
        let mut value = Value::unknown();
        while code.at < found {
            let before = code.at;
            value = self.expression(code);
            code.at += usize::from(code.at == before);
        }
        self.depth -= 1;
        (code.at, code.end) = ((close + 1).min(outer), outer);
        Some(Value::list(vec![value]))
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

/// A list that is one already, or the items as one.
pub(super) fn list_of(mut items: Vec<Value>) -> Value {
    if items.len() == 1
        && let Some(one) = items.pop_if(|one| one.kind == Kind::List)
    {
        return one;
    }
    Value::list(items)
}

/// `a.b.c`
fn dotted(code: &mut Code<'_>) -> Option<String> {
    while code.eat(".") {}
    let mut name = code.word_ahead(0)?.to_owned();
    code.at += 1;
    while code.is_sign(".") && code.word_ahead(1).is_some() && name.len() < 100 {
        name.push('.');
        name.push_str(code.word_ahead(1).unwrap_or_default());
        code.at += 2;
    }
    Some(name)
}
