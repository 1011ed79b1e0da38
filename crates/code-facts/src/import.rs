// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads imports and the names that they define.

use super::lex::TokenKind;
use super::reader::{CodeReader, TokenCursor};
use super::value::CodeValue;
use super::value_functions::module_name;

impl CodeReader {
    /// Reads `import os, shutil as s`.
    pub(super) fn read_import(&mut self, code: &mut TokenCursor<'_>) -> CodeValue {
        code.at += 1;
        while let Some(module) = read_dotted_name(code) {
            if code.is_word("as") {
                if let Some(alias) = code.word_ahead(1) {
                    self.set_variable(alias, CodeValue::name(module));
                }
                code.at += 2;
            }
            if !code.eat(",") {
                break;
            }
        }
        CodeValue::unknown()
    }

    /// Reads `from os import system as s, remove`.
    pub(super) fn read_import_from(&mut self, code: &mut TokenCursor<'_>) -> CodeValue {
        code.at += 1;
        let Some(module) = read_dotted_name(code) else { return CodeValue::unknown() };
        if !code.is_word("import") {
            return CodeValue::unknown();
        }
        code.at += 1;
        code.eat("(");
        if code.eat("*") {
            for name in self.description.members_of(&module) {
                self.set_variable(name, CodeValue::name(format!("{module}.{name}")));
            }
        }
        while let Some(name) = code.word_ahead(0) {
            code.at += 1;
            let full = format!("{module}.{name}");
            let value = self.constant_value(&full).unwrap_or_else(|| CodeValue::name(full));
            let mut alias = name;
            if code.is_word("as") {
                alias = code.word_ahead(1).unwrap_or(name);
                code.at += 2;
            }
            self.set_variable(alias, value);
            if !code.eat(",") {
                break;
            }
        }
        code.eat(")");
        CodeValue::unknown()
    }

    /// Reads `import fs from 'fs'`, `import {rm as r} from 'fs'` and `import * as fs from 'fs'`.
    pub(super) fn read_js_import(&mut self, code: &mut TokenCursor<'_>) -> CodeValue {
        code.at += 1;
        let start = code.at;
        // The module is at the end.
        let mut at = start;
        while code.tokens.get(at).is_some_and(|token| token.kind != TokenKind::Text && token.text != ";")
            && at < code.end
            && at < start + 200
        {
            at += 1;
        }
        let Some(text) = code.tokens.get(at).filter(|token| token.kind == TokenKind::Text) else {
            return CodeValue::unknown();
        };
        let module = self.evaluate_parts(&text.parts);
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
                    self.set_variable(alias.unwrap_or(name), CodeValue::name(full));
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
        CodeValue::unknown()
    }
}

/// Reads `a.b.c`.
fn read_dotted_name(code: &mut TokenCursor<'_>) -> Option<String> {
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
