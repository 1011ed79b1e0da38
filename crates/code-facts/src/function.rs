// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Functions without a name, their parameters, and what calls hand to them.

use super::alphabet::{decode_base64, decode_hex};
use super::args::Args;
use super::language::description::{ReaderKind, contains};
use super::lex::Kind as Token;
use super::reader::{Code, Reader};
use super::value::{Kind, Value};
use super::value_functions::below;

impl Reader {
    /// Words that start something of their own: a function, a class, a block.
    pub(super) fn special(&mut self, code: &mut Code<'_>, word: &str) -> Option<Value> {
        let next = code.ahead(1)?;
        let syntax = self.syntax();
        match (word, self.description.reader) {
            // `x => …`
            (_, ReaderKind::JavaScript) if next.text == "=>" => {
                let element = self.element.take().unwrap_or_default();
                self.set(word, element);
                code.at += 2;
                Some(self.body(code))
            }
            ("lambda", ReaderKind::Python) => {
                code.at += 1;
                let element = self.element.take().unwrap_or_default();
                if let Some(name) = code.word_ahead(0) {
                    self.set(name, element);
                }
                while code.peek().is_some_and(|token| !matches!(token.text, ":" | ")" | "]")) {
                    code.at += 1;
                }
                code.eat(":");
                Some(self.expression(code))
            }
            (word, _) if contains(&syntax.function_words, word) => {
                code.at += 1;
                code.eat("*");
                while code.word_ahead(0).is_some() || code.is_sign(".") || code.is_sign(":") {
                    code.at += 1;
                }
                if let Some(topic) = syntax.topic {
                    let element = self.element.clone().unwrap_or_default();
                    self.set(topic, element);
                }
                if code.is_sign("(") {
                    self.parameters(code);
                }
                // Variables of the surrounding function that the body uses: `function () use ($x) { … }`
                if code.is_word("use") && code.sign_ahead(1, "(") {
                    code.at += 1;
                    code.at = (code.close() + 1).min(code.end);
                }
                if code.eat("=>") {
                    return Some(self.expression(code));
                }
                Some(if code.is_sign("{") { self.body(code) } else { Value::unknown() })
            }
            // `map { … } LIST`, `grep { … } LIST`
            (word, _) if next.text == "{" && contains(&syntax.block_functions, word) => {
                code.at += 1;
                let close = code.close();
                let start = code.at;
                code.at = (close + 1).min(code.end);
                let list = self.expression(code);
                let after = code.at;
                self.bind(&[syntax.topic.unwrap_or_default()], &list);
                code.at = start;
                let body = self.bracket(code).items.into_iter().next_back();
                code.at = after;
                Some(if word == "map" { Value::list(body.into_iter().collect()) } else { list })
            }
            ("class" | "module" | "interface" | "enum", _) if next.kind == Token::Word => {
                code.at += 2;
                Some(Value::unknown())
            }
            _ => None,
        }
    }

    /// The parameters between the brackets that open here; the first stands for what the function is given.
    pub(super) fn parameters(&mut self, code: &mut Code<'_>) {
        let close = code.close();
        let mut element = self.element.take().unwrap_or_default();
        let mut depth = 0usize;
        for token in code.tokens.get(code.at + 1..close).unwrap_or_default() {
            match (token.kind, token.text) {
                (Token::Sign, "(" | "[" | "{") => depth += 1,
                (Token::Sign, ")" | "]" | "}") => depth = depth.saturating_sub(1),
                (Token::Word, name) if depth == 0 && name != "self" => {
                    self.set(name, std::mem::take(&mut element));
                }
                _ => {}
            }
        }
        code.at = (close + 1).min(code.end);
    }

    /// The arguments of a call: functions among them are given what the callee hands on.
    pub(super) fn arguments(&mut self, code: &mut Code<'_>, callee: &Value) -> Args {
        let outer = self.element.take();
        if callee.kind == Kind::Member
            && hands_on(&callee.shape)
            && let Some(receiver) = callee.items.first()
        {
            let held = matches!(receiver.kind, Kind::List | Kind::Either);
            let element = if held { receiver.element() } else { receiver.clone() };
            self.element = self.spend(element.weight()).then_some(element);
        }
        if callee.kind == Kind::Name && self.walks_tree(&callee.shape) {
            return self.tree_walker_arguments(code);
        }
        let args = if let Some(value) = self.comprehension(code) {
            Args::of(vec![value])
        } else {
            self.bracket(code)
        };
        self.element = outer;
        args
    }

    /// Whether a function calls its first argument for everything below the others.
    fn walks_tree(&self, name: &str) -> bool {
        let walkers = &self.syntax().tree_walkers;
        !walkers.is_empty() && contains(walkers, &self.description.simplify_name(name))
    }

    /// `find(sub { unlink $_ }, "/")`: the list stands behind, and is read first.
    fn tree_walker_arguments(&mut self, code: &mut Code<'_>) -> Args {
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
            return self.bracket(code);
        }
        let outer = std::mem::replace(&mut code.end, close);
        code.at = at + 1;
        let roots = self.items(code, false).items;
        let below = Value::list(roots.into_iter().map(below).collect()).element();
        let syntax = self.syntax();
        for name in syntax.topic.iter().chain(&syntax.tree_walker_variables) {
            self.set(name, below.clone());
        }
        self.element = Some(below);
        code.end = at;
        code.at = start + 1;
        let args = self.items(code, false);
        (code.at, code.end) = ((close + 1).min(outer), outer);
        args
    }

    /// `a[b]`, `a{b}`
    pub(super) fn index(&mut self, code: &mut Code<'_>, value: Value) -> Value {
        let close = code.close();
        let inside = code.tokens.get(code.at + 1..close).unwrap_or_default();
        let signs: [&str; 4] = std::array::from_fn(|at| inside.get(at).map_or("", |token| token.text));
        if inside.len() <= 4 && matches!(signs, [":", ":", "-", "1"] | ["::", "-", "1", ""]) {
            code.at = (close + 1).min(code.end);
            return value.map(&|text| Some(text.chars().rev().collect()));
        }
        let bare = match inside {
            [word] if word.kind == Token::Word && self.syntax().brace_indices && code.is_sign("{") => {
                Some(word.text.to_owned())
            }
            _ => None,
        };
        let slice = self.has_reader(ReaderKind::Python) && inside.iter().any(|token| token.text == ":");
        let args = self.bracket(code);
        let key = bare.map_or_else(|| args.get(0), Value::text);
        if slice {
            return if value.kind == Kind::List {
                Value::list(vec![value.element()])
            } else {
                Value::from(value.from)
            };
        }
        if value.kind == Kind::Name
            && let Some(key) = key.whole()
            && key.len() < 100
        {
            // `Dir["*.rb"]`
            let subscript = format!("{}[]", value.shape);
            if self.description.find_call(&subscript).is_some() {
                return self.call(Value::name(subscript), Args::of(vec![Value::text(key)]));
            }
            let full = format!("{}.{key}", value.shape);
            if let Some(known) = self.variable(&full) {
                return known;
            }
            // `$list[0]` of `@list`
            if let Some(list) =
                value.shape.strip_prefix('$').and_then(|name| self.variable(&format!("@{name}")))
            {
                return at(&list, key);
            }
            return self.constant(&full).unwrap_or_else(|| Value::name(full));
        }
        match (value.kind, key.whole()) {
            (Kind::List, Some(key)) => at(&value, key),
            (Kind::Map, Some(key)) => value.key(key).cloned().unwrap_or_default(),
            (Kind::List | Kind::Either, None) => value.element(),
            _ => Value { items: Vec::new(), ..Value::from(value.from) },
        }
    }
}

/// Methods that hand what the receiver holds to a function.
pub(super) fn hands_on(method: &str) -> bool {
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

fn at(list: &Value, key: &str) -> Value {
    let place = key.parse::<usize>().ok();
    place.and_then(|place| list.items.get(place)).cloned().unwrap_or_else(|| list.element())
}

/// Bytes written as numbers: `bytes([114, 109])`, `String.fromCharCode(114, 109)`.
pub(super) fn letters(items: &[Value]) -> Option<String> {
    let code = |item: &Value| {
        let text = item.whole()?;
        let digits = text.strip_prefix("0x");
        let code = digits.map_or_else(|| text.parse().ok(), |digits| u32::from_str_radix(digits, 16).ok())?;
        char::from_u32(code)
    };
    items.iter().map(code).collect()
}

pub(super) fn decoded(value: Value, with: fn(&str) -> String) -> Value {
    if value.whole().is_some() {
        value.map(&|text| Some(with(text))).with_kind(Kind::Text)
    } else {
        Value::from(value.from)
    }
}

pub(super) fn from_base64(value: Value) -> Value {
    decoded(value, decode_base64)
}

pub(super) fn from_hex(value: Value) -> Value {
    decoded(value, decode_hex)
}
