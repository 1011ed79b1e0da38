// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Imports, and the names they give.

use super::lex::Kind as Token;
use super::reader::{Code, Reader};
use super::value::Value;
use super::value_functions::module_name;

impl Reader {
    /// `import os, shutil as s`
    pub(super) fn import(&mut self, code: &mut Code<'_>) -> Value {
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
    pub(super) fn import_from(&mut self, code: &mut Code<'_>) -> Value {
        code.at += 1;
        let Some(module) = dotted(code) else { return Value::unknown() };
        if !code.is_word("import") {
            return Value::unknown();
        }
        code.at += 1;
        code.eat("(");
        if code.eat("*") {
            for name in self.description.members_of(&module) {
                self.set(name, Value::name(format!("{module}.{name}")));
            }
        }
        while let Some(name) = code.word_ahead(0) {
            code.at += 1;
            let full = format!("{module}.{name}");
            let value = self.constant(&full).unwrap_or_else(|| Value::name(full));
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
    pub(super) fn import_js(&mut self, code: &mut Code<'_>) -> Value {
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
        let module = module_name(&module.shape).to_owned();
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
