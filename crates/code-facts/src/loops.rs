// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads loops and the values of their variables.

use super::language::description::{ForEach, ReaderKind, contains};
use super::lex::TokenKind;
use super::reader::{CodeReader, TokenCursor};
use super::value::{CodeValue, ValueKind};

impl CodeReader {
    /// Reads `for x in …`, `for (const x of …)`, `foreach (… as $x)` and `foreach my $x (…)`.
    pub(super) fn read_for(&mut self, code: &mut TokenCursor<'_>) -> bool {
        let start = code.at;
        code.at += 1;
        if code.is_word("await") {
            code.at += 1;
        }
        let open = code.is_sign("(");
        let end = if open { code.close() } else { code.end };
        let from = code.at + usize::from(open);
        // Find the list: after `in` or `of`, before `as`, or in parentheses.
        let mut at = from;
        let mut found = None;
        while at < end && at < from + 24 {
            let Some(token) = code.tokens.get(at) else { break };
            if token.kind == TokenKind::Word && matches!(token.text, "in" | "of") {
                found = Some(at);
                break;
            }
            if matches!(token.text, ":" | ";" | "=") || token.kind == TokenKind::Newline {
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
                    token.kind == TokenKind::Word && !contains(&self.syntax().declaration_words, token.text)
                })
                .map(|token| token.text)
                .collect();
            code.at = found + 1;
            let list = self.read_expression(code);
            self.bind_loop_variables(&names, &list);
            return true;
        }
        match self.syntax().for_each {
            ForEach::VariableThenList => self.read_for_variable_then_list(code, start),
            ForEach::ListAsVariable if open => self.read_for_list_as_variable(code),
            _ => {
                code.at = start + 1;
                true
            }
        }
    }

    /// Reads `foreach my $x (list)` and `for (list)`.
    fn read_for_variable_then_list(&mut self, code: &mut TokenCursor<'_>, start: usize) -> bool {
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
        let args = self.read_bracket(code);
        let list = list_of(args.items);
        self.bind_loop_variables(&[name], &list);
        true
    }

    /// Reads `foreach (list as $key => $x)`.
    fn read_for_list_as_variable(&mut self, code: &mut TokenCursor<'_>) -> bool {
        let close = code.close();
        code.at += 1;
        let list = self.read_expression(code);
        if code.is_word("as") {
            let names = code.tokens.get(code.at..close).unwrap_or_default();
            if let Some(name) = names.iter().rfind(|token| token.kind == TokenKind::Word) {
                self.bind_loop_variables(&[name.text], &list);
            }
            code.at = (close + 1).min(code.end);
        }
        true
    }

    /// Sets loop variables to the elements of the list.
    pub(super) fn bind_loop_variables(&mut self, names: &[&str], list: &CodeValue) {
        let element = if list.kind == ValueKind::List || list.kind == ValueKind::Either {
            list.element()
        } else {
            CodeValue { items: Vec::new(), ..CodeValue::from(list.from) }
        };
        match names {
            [one] => self.set_variable(one, element),
            // `for root, dirs, files in os.walk(…)`
            [first, rest @ ..] if element.covers_tree => {
                self.set_variable(first, element);
                for name in rest {
                    self.set_variable(name, CodeValue::unknown());
                }
            }
            // `for i, x in enumerate(…)`, `for _, x in ipairs(…)`
            [rest @ .., last] => {
                for name in rest {
                    self.set_variable(name, CodeValue::unknown());
                }
                self.set_variable(last, element);
            }
            [] => {}
        }
    }

    /// Reads `unlink $_ for glob("*")`, where the list follows the body and is read first.
    pub(super) fn read_postfix_loop(&mut self, code: &mut TokenCursor<'_>) -> Option<CodeValue> {
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
                ";" | "}" if token.kind == TokenKind::Sign => break,
                "(" | "[" | "{" if token.kind == TokenKind::Sign => {
                    at = code.pairs.get(at).copied().unwrap_or(code.end);
                }
                "for" | "foreach" if at > start && token.kind == TokenKind::Word => found = Some(at),
                _ => {}
            }
            at += 1;
        }
        let (found, end) = (found?, at.min(code.end));
        let outer = std::mem::replace(&mut code.end, end);
        code.at = found + 1;
        let args = self.read_items(code, false);
        self.bind_loop_variables(&[self.syntax().topic.unwrap_or_default()], &list_of(args.items));
        let value = self.read_last_expression(code, start, found);
        (code.at, code.end) = (end, outer);
        Some(value)
    }

    /// Reads the expressions between two positions; returns the value of the last one.
    fn read_last_expression(&mut self, code: &mut TokenCursor<'_>, start: usize, end: usize) -> CodeValue {
        (code.at, code.end) = (start, end);
        let mut value = CodeValue::unknown();
        while code.at < end {
            let before = code.at;
            value = self.read_expression(code);
            code.at += usize::from(code.at == before);
        }
        value
    }

    /// Reads `[f(x) for x in y]`, where the list follows the element and is read first.
    pub(super) fn read_comprehension(&mut self, code: &mut TokenCursor<'_>) -> Option<CodeValue> {
        if !self.has_reader(ReaderKind::Python) || self.depth >= super::reader::MAX_BRACKET_DEPTH {
            return None;
        }
        let (start, close) = (code.at + 1, code.close());
        let mut at = start;
        let found = loop {
            let token = code.tokens.get(at).filter(|_| at < close)?;
            match token.text {
                "(" | "[" | "{" if token.kind == TokenKind::Sign => {
                    at = code.pairs.get(at).copied().unwrap_or(close);
                }
                "for" if token.kind == TokenKind::Word && at > start => break at,
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
                self.read_for(code);
            } else {
                self.read_expression(code);
            }
            code.at += usize::from(code.at == before);
        }
        let value = self.read_last_expression(code, start, found);
        self.depth -= 1;
        (code.at, code.end) = ((close + 1).min(outer), outer);
        Some(CodeValue::list(vec![value]))
    }
}

/// Returns the only item if it is a list, or a list of the items.
pub(super) fn list_of(mut items: Vec<CodeValue>) -> CodeValue {
    if items.len() == 1
        && let Some(one) = items.pop_if(|one| one.kind == ValueKind::List)
    {
        return one;
    }
    CodeValue::list(items)
}
