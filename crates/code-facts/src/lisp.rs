// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads Lisp code: Emacs Lisp, Scheme, Racket, Clojure. A call is a list whose first element is the function.

use super::args::CallArgs;
use super::reader::{CodeReader, MAX_BRACKET_DEPTH};
use super::value::CodeValue;
use super::{CodeEffect, CodeLanguage};

/// Maximum number of arguments of one call.
const MAX_LISP_ARGUMENTS: usize = 256;

/// A list that is not closed yet.
#[derive(Default)]
struct OpenList<'a> {
    /// The first symbol of the list.
    name: Option<&'a str>,
    items: Vec<CodeValue>,
    /// Whether the list is data: it is quoted, or written with square brackets.
    is_data: bool,
}

pub(super) fn read(language: CodeLanguage, text: &str) -> Vec<CodeEffect> {
    let mut reader = CodeReader::new(language, text.len());
    let mut lists: Vec<OpenList<'_>> = vec![OpenList { is_data: true, ..OpenList::default() }];
    let mut rest = text;
    let mut quoted = false;
    while let Some(letter) = rest.chars().next() {
        let after = rest.get(letter.len_utf8()..).unwrap_or_default();
        match letter {
            ';' => rest = after.split_once('\n').map_or("", |(_, next)| next),
            '"' => {
                let (value, next) = read_string(after);
                push_item(&mut lists, CodeValue::text(value));
                rest = next;
            }
            '(' | '[' | '{' => {
                if lists.len() >= MAX_BRACKET_DEPTH {
                    reader.passed_over = true;
                    break;
                }
                let is_data = letter != '(' || quoted;
                lists.push(OpenList { is_data, ..OpenList::default() });
                rest = after;
            }
            ')' | ']' | '}' => {
                // A surplus closing bracket is ignored.
                if lists.len() > 1
                    && let Some(list) = lists.pop()
                {
                    let value = close_list(&mut reader, list);
                    push_item(&mut lists, value);
                }
                rest = after;
            }
            '\'' | '`' | ',' | '@' | '#' => rest = after,
            letter if letter.is_whitespace() => rest = after,
            _ => {
                let end =
                    rest.find(|c: char| c.is_whitespace() || "()[]{}\";".contains(c)).unwrap_or(rest.len());
                let (symbol, next) = rest.split_at_checked(end.max(letter.len_utf8())).unwrap_or((rest, ""));
                push_symbol(&mut reader, &mut lists, symbol);
                rest = next;
            }
        }
        quoted = letter == '\'';
    }
    // The end of the text closes all lists.
    while let Some(list) = lists.pop().filter(|_| !lists.is_empty()) {
        let value = close_list(&mut reader, list);
        push_item(&mut lists, value);
    }
    reader.finish()
}

fn push_item(lists: &mut [OpenList<'_>], value: CodeValue) {
    if let Some(list) = lists.last_mut().filter(|list| list.items.len() < MAX_LISP_ARGUMENTS) {
        list.items.push(value);
    }
}

/// Adds a symbol: the function of its list, a known variable, or an unknown value.
fn push_symbol<'a>(reader: &mut CodeReader, lists: &mut [OpenList<'a>], symbol: &'a str) {
    let Some(list) = lists.last_mut() else { return };
    if list.name.is_none() && list.items.is_empty() && !list.is_data {
        list.name = Some(symbol);
        return;
    }
    let value = match symbol.strip_prefix(':') {
        Some(keyword) => CodeValue::name(keyword),
        None => reader.variable(symbol).unwrap_or_else(|| CodeValue::name(symbol)),
    };
    push_item(lists, value);
}

/// Evaluates a list whose end was reached.
fn close_list(reader: &mut CodeReader, list: OpenList<'_>) -> CodeValue {
    let OpenList { name, items, is_data } = list;
    match (name, items.as_slice()) {
        _ if is_data => CodeValue::list(items),
        // `(setq x "…")`, `(define x "…")`, `(def x "…")`
        (Some("setq" | "define" | "def" | "set!" | "defvar" | "setf"), [target, value, ..]) => {
            reader.set_variable(&target.shape.clone(), value.clone());
            value.clone()
        }
        (Some(name), _) => reader.call_value(CodeValue::name(name), CallArgs::positional(items)),
        (None, _) => items.into_iter().next_back().unwrap_or_default(),
    }
}

/// Reads a string up to its closing quote; returns its text and the rest of the code.
fn read_string(text: &str) -> (String, &str) {
    let mut out = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return (out, text.get(at + 1..).unwrap_or_default()),
            '\\' => match letters.next() {
                Some((_, 'n')) => out.push('\n'),
                Some((_, 't')) => out.push('\t'),
                Some((_, letter)) => out.push(letter),
                None => {}
            },
            letter => out.push(letter),
        }
    }
    (out, "")
}
