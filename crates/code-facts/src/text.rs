// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Implements functions that join, split and format strings.

use super::args::CallArgs;
use super::value::{CodeValue, ValueKind};

/// Joins strings with a separator.
pub(super) fn join_texts(items: &[CodeValue], between: &str) -> CodeValue {
    let mut out = CodeValue::text("");
    for (at, item) in items.iter().enumerate() {
        if at > 0 && !between.is_empty() {
            out.shape.push_str(between);
        }
        // Appended in place, because lists of single characters are common.
        if item.is_text() && out.shape.len() < 64 * 1024 {
            out.shape.push_str(&item.shape);
            out.known &= item.known;
        } else {
            out.shape.push('*');
            out.known = false;
        }
        out.from = out.from.max(item.from);
    }
    out
}

pub(super) fn split(text: &CodeValue, separator: Option<&str>) -> CodeValue {
    let Some(whole) = text.known_text() else {
        // Only the first word is known.
        return match text.shape.split_once(' ') {
            Some((first, _)) if text.is_text() && !first.contains('*') => {
                CodeValue::list(vec![CodeValue::text(first), CodeValue::from(text.from)])
            }
            _ => CodeValue::list(vec![CodeValue::from(text.from)]),
        };
    };
    let words: Vec<CodeValue> = match separator {
        Some("") => whole.chars().take(256).map(CodeValue::text).collect(),
        Some(separator) => whole.split(separator).take(256).map(CodeValue::text).collect(),
        None => whole
            .split_whitespace()
            .take(256)
            .map(|word| CodeValue::text(word.trim_matches(['"', '\''])))
            .collect(),
    };
    CodeValue::list(words)
}

/// Evaluates `"rm %s" % x` and `sprintf("%s/x", y)`.
pub(super) fn format_percent(template: &CodeValue, values: &CodeValue) -> CodeValue {
    if !template.is_text() {
        return CodeValue::from(template.from.max(values.from));
    }
    let list: &[CodeValue] =
        if values.kind == ValueKind::List { &values.items } else { std::slice::from_ref(values) };
    let mut list = list.iter();
    let mut out = CodeValue { shape: String::new(), ..template.clone() };
    let mut rest = template.shape.as_str();
    while let Some((before, after)) = rest.split_once('%') {
        out.shape.push_str(before);
        let end =
            after.find(|c: char| c.is_ascii_alphabetic() || c == '%').map_or(after.len(), |end| end + 1);
        let Some((spec, tail)) = after.split_at_checked(end) else { break };
        rest = tail;
        if spec.starts_with('%') {
            out.shape.push('%');
            continue;
        }
        insert_value(&mut out, list.next());
    }
    out.shape.push_str(rest);
    out
}

/// Inserts a value into a template. A value that is not known text makes the result unknown.
fn insert_value(out: &mut CodeValue, value: Option<&CodeValue>) {
    /// Maximum length of a text to which values are added.
    const MAX_FORMATTED_BYTES: usize = 16 * 1024;
    match value {
        Some(value) if value.is_text() && out.shape.len() < MAX_FORMATTED_BYTES => {
            out.shape.push_str(&value.shape);
            out.known &= value.known;
            out.from = out.from.max(value.from);
        }
        _ => {
            out.shape.push('*');
            out.known = false;
        }
    }
}

/// Evaluates `"rm {}".format(x)`.
pub(super) fn format_braces(template: &CodeValue, args: &CallArgs) -> CodeValue {
    if !template.is_text() {
        return CodeValue::from(template.from);
    }
    let mut out = CodeValue { shape: String::new(), ..template.clone() };
    let mut next = 0;
    let mut rest = template.shape.as_str();
    while let Some((before, after)) = rest.split_once('{') {
        out.shape.push_str(before);
        let Some((inside, tail)) = after.split_once('}') else {
            rest = after;
            break;
        };
        rest = tail;
        let key = inside.split([':', '!']).next().unwrap_or_default();
        let value = if key.is_empty() {
            next += 1;
            args.items.get(next - 1)
        } else {
            key.parse::<usize>().ok().and_then(|at| args.items.get(at)).or_else(|| args.option(key))
        };
        insert_value(&mut out, value);
    }
    out.shape.push_str(rest);
    out
}
