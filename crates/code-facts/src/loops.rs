// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Loops: what their variables stand for.

use super::language::description::{ForEach, ReaderKind, contains};
use super::lex::Kind as Token;
use super::reader::{Code, Reader};
use super::value::{Kind, Value};

impl Reader {
    /// `for x in …`, `for (const x of …)`, `foreach (… as $x)`, `foreach my $x (…)`
    pub(super) fn for_loop(&mut self, code: &mut Code<'_>) -> bool {
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
                    token.kind == Token::Word && !contains(&self.syntax().declaration_words, token.text)
                })
                .map(|token| token.text)
                .collect();
            code.at = found + 1;
            let list = self.expression(code);
            self.bind(&names, &list);
            return true;
        }
        match self.syntax().for_each {
            ForEach::VariableThenList => self.for_variable_then_list(code, start),
            ForEach::ListAsVariable if open => self.for_list_as_variable(code),
            _ => {
                code.at = start + 1;
                true
            }
        }
    }

    /// `foreach my $x (list)`, `for (list)`
    fn for_variable_then_list(&mut self, code: &mut Code<'_>, start: usize) -> bool {
        let syntax = self.syntax();
        if code.word_ahead(0).is_some_and(|word| contains(&syntax.declaration_words, word)) {
            code.at += 1;
        }
        let name = match code.word_ahead(0) {
            Some(name) if name.starts_with('$') => {
                code.at += 1;
                name
            }
            _ => syntax.topic.unwrap_or_default(),
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

    /// `foreach (list as $key => $x)`
    fn for_list_as_variable(&mut self, code: &mut Code<'_>) -> bool {
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
    pub(super) fn postfix_loop(&mut self, code: &mut Code<'_>) -> Option<Value> {
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
        self.bind(&[self.syntax().topic.unwrap_or_default()], &list_of(args.items));
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
        if !self.has_reader(ReaderKind::Python) || self.depth >= super::reader::DEPTH {
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
