// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads anonymous functions, their parameters, and the values that calls pass to them.

use super::alphabet::{decode_base64, decode_hex};
use super::args::CallArgs;
use super::language::description::{ReaderKind, contains};
use super::lex::TokenKind;
use super::reader::{CodeReader, TokenCursor};
use super::value::{CodeValue, ValueKind};
use super::value_functions::everything_below;

impl CodeReader {
    /// Reads words that start a function, class or block; `None` for other words.
    pub(super) fn read_special(&mut self, code: &mut TokenCursor<'_>, word: &str) -> Option<CodeValue> {
        let next = code.ahead(1)?;
        let syntax = self.syntax();
        match (word, self.description.reader) {
            // `x => …`
            (_, ReaderKind::JavaScript) if next.text == "=>" => {
                let element = self.element.take().unwrap_or_default();
                self.set_variable(word, element);
                code.at += 2;
                Some(self.read_body(code))
            }
            ("lambda", ReaderKind::Python) => {
                code.at += 1;
                let element = self.element.take().unwrap_or_default();
                if let Some(name) = code.word_ahead(0) {
                    self.set_variable(name, element);
                }
                while code.peek().is_some_and(|token| !matches!(token.text, ":" | ")" | "]")) {
                    code.at += 1;
                }
                code.eat(":");
                Some(self.read_expression(code))
            }
            (word, _) if contains(&syntax.function_words, word) => {
                code.at += 1;
                code.eat("*");
                let mut name = "";
                while code.word_ahead(0).is_some() || code.is_sign(".") || code.is_sign(":") {
                    name = code.word_ahead(0).unwrap_or(name);
                    code.at += 1;
                }
                if let Some(topic) = syntax.topic {
                    let element = self.element.clone().unwrap_or_default();
                    self.set_variable(topic, element);
                }
                if code.is_sign("(") {
                    self.read_named_parameters(code, name);
                }
                // Variables of the surrounding function that the body uses: `function () use ($x) { … }`
                if code.is_word("use") && code.sign_ahead(1, "(") {
                    code.at += 1;
                    code.at = (code.close() + 1).min(code.end);
                }
                if code.eat("=>") {
                    return Some(self.read_expression(code));
                }
                Some(if code.is_sign("{") { self.read_body(code) } else { CodeValue::unknown() })
            }
            // `map { … } LIST`, `grep { … } LIST`
            (word, _) if next.text == "{" && contains(&syntax.block_functions, word) => {
                code.at += 1;
                let close = code.close();
                let start = code.at;
                code.at = (close + 1).min(code.end);
                let list = self.read_expression(code);
                let after = code.at;
                self.bind_loop_variables(&[syntax.topic.unwrap_or_default()], &list);
                code.at = start;
                let body = self.read_bracket(code).items.into_iter().next_back();
                code.at = after;
                Some(if word == "map" { CodeValue::list(body.into_iter().collect()) } else { list })
            }
            ("class" | "module" | "interface" | "enum", _) if next.kind == TokenKind::Word => {
                code.at += 2;
                Some(CodeValue::unknown())
            }
            _ => None,
        }
    }

    /// Reads the parameters of a function that has a name. If calls of the function are known, their arguments are
    /// the values of the parameters.
    fn read_named_parameters(&mut self, code: &mut TokenCursor<'_>, name: &str) {
        let inside = code.tokens.get(code.at + 1..code.close()).unwrap_or_default();
        self.read_parameters(code);
        if name.is_empty() {
            return;
        }
        self.defined.insert(name.to_owned());
        let Some(values) = self.parameters.get(name).cloned() else { return };
        let mut values = values.into_iter();
        let (mut depth, mut starts) = (0usize, true);
        for token in inside {
            match (token.kind, token.text) {
                (TokenKind::Sign, "(" | "[" | "{") => depth += 1,
                (TokenKind::Sign, ")" | "]" | "}") => depth = depth.saturating_sub(1),
                (TokenKind::Sign, ",") if depth == 0 => starts = true,
                (TokenKind::Word, "self" | "cls") => starts = false,
                (TokenKind::Word, parameter) if depth == 0 && starts => {
                    starts = false;
                    let Some(value) = values.next() else { return };
                    self.set_variable(parameter, value);
                }
                _ => {}
            }
        }
    }

    /// Reads the parameters of a function; the first one is set to the current element.
    pub(super) fn read_parameters(&mut self, code: &mut TokenCursor<'_>) {
        let close = code.close();
        let mut element = self.element.take().unwrap_or_default();
        let mut depth = 0usize;
        for token in code.tokens.get(code.at + 1..close).unwrap_or_default() {
            match (token.kind, token.text) {
                (TokenKind::Sign, "(" | "[" | "{") => depth += 1,
                (TokenKind::Sign, ")" | "]" | "}") => depth = depth.saturating_sub(1),
                (TokenKind::Word, name) if depth == 0 && name != "self" => {
                    self.set_variable(name, std::mem::take(&mut element));
                }
                _ => {}
            }
        }
        code.at = (close + 1).min(code.end);
    }

    /// Reads the arguments of a call. Functions among them receive the elements that the callee passes on.
    pub(super) fn read_arguments(&mut self, code: &mut TokenCursor<'_>, callee: &CodeValue) -> CallArgs {
        let outer = self.element.take();
        if callee.kind == ValueKind::Member
            && passes_elements(&callee.shape)
            && let Some(receiver) = callee.items.first()
        {
            let held = matches!(receiver.kind, ValueKind::List | ValueKind::Either);
            let element = if held { receiver.element() } else { receiver.clone() };
            self.element = self.spend_budget(element.weight()).then_some(element);
        }
        if callee.kind == ValueKind::Name && self.walks_tree(&callee.shape) {
            return self.read_tree_walker_arguments(code);
        }
        let args = if let Some(value) = self.read_comprehension(code) {
            CallArgs::positional(vec![value])
        } else {
            self.read_bracket(code)
        };
        self.element = outer;
        args
    }

    /// Whether a function calls its first argument for everything below its other arguments.
    fn walks_tree(&self, name: &str) -> bool {
        let walkers = &self.syntax().tree_walkers;
        !walkers.is_empty() && contains(walkers, &self.description.simplify_name(name))
    }

    /// Reads `find(sub { unlink $_ }, "/")`, where the list follows the function and is read first.
    fn read_tree_walker_arguments(&mut self, code: &mut TokenCursor<'_>) -> CallArgs {
        let (start, close) = (code.at, code.close());
        let mut at = start + 1;
        while at < close {
            match code.tokens.get(at).map(|token| token.text) {
                Some("(" | "[" | "{") => at = code.pairs.get(at).copied().unwrap_or(close),
                Some(",") => break,
                _ => {}
            }
            at += 1;
        }
        if at >= close {
            return self.read_bracket(code);
        }
        let outer = std::mem::replace(&mut code.end, close);
        code.at = at + 1;
        let roots = self.read_items(code, false).items;
        let below = CodeValue::list(roots.into_iter().map(everything_below).collect()).element();
        let syntax = self.syntax();
        for name in syntax.topic.iter().chain(&syntax.tree_walker_variables) {
            self.set_variable(name, below.clone());
        }
        self.element = Some(below);
        code.end = at;
        code.at = start + 1;
        let args = self.read_items(code, false);
        (code.at, code.end) = ((close + 1).min(outer), outer);
        args
    }

    /// Reads `a[b]` and `a{b}`.
    pub(super) fn read_index(&mut self, code: &mut TokenCursor<'_>, value: CodeValue) -> CodeValue {
        let close = code.close();
        let inside = code.tokens.get(code.at + 1..close).unwrap_or_default();
        let signs: [&str; 4] = std::array::from_fn(|at| inside.get(at).map_or("", |token| token.text));
        if inside.len() <= 4 && matches!(signs, [":", ":", "-", "1"] | ["::", "-", "1", ""]) {
            code.at = (close + 1).min(code.end);
            return value.map(&|text| Some(text.chars().rev().collect()));
        }
        let bare = match inside {
            [word] if word.kind == TokenKind::Word && self.syntax().brace_indices && code.is_sign("{") => {
                Some(word.text.to_owned())
            }
            _ => None,
        };
        let slice = self.has_reader(ReaderKind::Python) && inside.iter().any(|token| token.text == ":");
        let args = self.read_bracket(code);
        let key = bare.map_or_else(|| args.get(0), CodeValue::text);
        if slice {
            return if value.kind == ValueKind::List {
                CodeValue::list(vec![value.element()])
            } else {
                CodeValue::from(value.from)
            };
        }
        if value.kind == ValueKind::Name
            && let Some(key) = key.known_text()
            && key.len() < 100
        {
            // `Dir["*.rb"]`
            let subscript = format!("{}[]", value.shape);
            if self.description.find_call(&subscript).is_some() {
                return self.call_value(
                    CodeValue::name(subscript),
                    CallArgs::positional(vec![CodeValue::text(key)]),
                );
            }
            let full = format!("{}.{key}", value.shape);
            if let Some(known) = self.variable(&full) {
                return known;
            }
            // `$list[0]` of `@list`
            if let Some(list) =
                value.shape.strip_prefix('$').and_then(|name| self.variable(&format!("@{name}")))
            {
                return element_at(&list, key);
            }
            return self.constant_value(&full).unwrap_or_else(|| CodeValue::name(full));
        }
        match (value.kind, key.known_text()) {
            (ValueKind::List, Some(key)) => element_at(&value, key),
            (ValueKind::Map, Some(key)) => value.key(key).cloned().unwrap_or_default(),
            (ValueKind::List | ValueKind::Either, None) => value.element(),
            _ => CodeValue { items: Vec::new(), ..CodeValue::from(value.from) },
        }
    }
}

/// Whether a method passes the elements of its receiver to a function.
pub(super) fn passes_elements(method: &str) -> bool {
    matches!(
        method,
        "each"
            | "forEach"
            | "map"
            | "filter"
            | "select"
            | "reject"
            | "then"
            | "each_child"
            | "flatMap"
            | "each_entry"
            | "flat_map"
            | "collect"
            | "for_each"
            | "reverse_each"
    )
}

fn element_at(list: &CodeValue, key: &str) -> CodeValue {
    let place = key.parse::<usize>().ok();
    place.and_then(|place| list.items.get(place)).cloned().unwrap_or_else(|| list.element())
}

/// Decodes bytes given as numbers: `bytes([114, 109])`, `String.fromCharCode(114, 109)`.
pub(super) fn text_from_codes(items: &[CodeValue]) -> Option<String> {
    let code = |item: &CodeValue| {
        let text = item.known_text()?;
        let digits = text.strip_prefix("0x");
        let code = digits.map_or_else(|| text.parse().ok(), |digits| u32::from_str_radix(digits, 16).ok())?;
        char::from_u32(code)
    };
    items.iter().map(code).collect()
}

pub(super) fn decode_value(value: CodeValue, with: fn(&str) -> String) -> CodeValue {
    if value.known_text().is_some() {
        value.map(&|text| Some(with(text))).with_kind(ValueKind::Text)
    } else {
        CodeValue::from(value.from)
    }
}

pub(super) fn from_base64(value: CodeValue) -> CodeValue {
    decode_value(value, decode_base64)
}

pub(super) fn from_hex(value: CodeValue) -> CodeValue {
    decode_value(value, decode_hex)
}
