// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Expands braces in a word into several words.

use crate::limits::{MAX_BRACE_PARTS, MAX_FIELDS};
use crate::{BraceExpansion, BraceKind, Literal, Parameter, SmallList, Span, Word, WordPart};

/// Expands the braces of a word; `None` if there are too many results.
pub(super) fn expand_braces(word: &Word) -> Option<Vec<Word>> {
    let variants = variants_of(&word.parts)?;
    let join = |parts| Word { parts: SmallList::from(join_names(parts)), span: word.span };
    Some(variants.into_iter().map(join).collect())
}

fn variants_of(parts: &[WordPart]) -> Option<Vec<Vec<WordPart>>> {
    let mut all: Vec<Vec<WordPart>> = vec![Vec::new()];
    for (count, part) in parts.iter().enumerate() {
        if all.len().saturating_mul(count) > MAX_BRACE_PARTS {
            return None;
        }
        let WordPart::Brace(brace) = part else {
            for parts in &mut all {
                parts.push(part.clone());
            }
            continue;
        };
        let options = options_of(brace)?;
        let copied = options.iter().map(Vec::len).sum::<usize>().saturating_mul(all.len());
        if all.len().saturating_mul(options.len()) > MAX_FIELDS || copied > MAX_BRACE_PARTS {
            return None;
        }
        let combine = |start: &Vec<WordPart>| {
            let start = start.clone();
            options.iter().map(move |end| start.iter().chain(end).cloned().collect()).collect::<Vec<_>>()
        };
        all = all.iter().flat_map(combine).collect();
    }
    Some(all)
}

fn options_of(brace: &BraceExpansion) -> Option<Vec<Vec<WordPart>>> {
    match &brace.kind {
        BraceKind::Alternatives(words) => {
            let mut all = Vec::new();
            for word in words {
                all.extend(variants_of(&word.parts)?);
                if all.len() > MAX_FIELDS || all.iter().map(Vec::len).sum::<usize>() > MAX_BRACE_PARTS {
                    return None;
                }
            }
            Some(all)
        }
        BraceKind::Sequence { first, last, step } => {
            let texts = sequence(first, last, step.as_deref())?;
            // The text of an element starts after the brace.
            let span = Span { start: brace.span.start.saturating_add(1), ..brace.span };
            let literal = |text: String| vec![WordPart::Literal(Literal { text: text.into(), span })];
            Some(texts.into_iter().map(literal).collect())
        }
    }
}

/// Returns the elements of `{first..last..step}`; `None` if there are too many, or if the shell does not expand the
/// text.
pub fn sequence(first: &str, last: &str, step: Option<&str>) -> Option<Vec<String>> {
    let step = step.map_or(Some(1), |step| step.parse::<i64>().ok())?.checked_abs()?.max(1);
    let (start, end, is_number) = match (first.parse::<i64>(), last.parse::<i64>()) {
        (Ok(start), Ok(end)) => (start, end, true),
        _ => (i64::from(*first.as_bytes().first()?), i64::from(*last.as_bytes().first()?), false),
    };
    let count = start.abs_diff(end) / step.unsigned_abs();
    if count >= u64::try_from(MAX_FIELDS).ok()? {
        return None;
    }
    // `{01..3}` pads to the width of the longer end.
    let is_padded = |text: &str| {
        let digits = text.trim_start_matches(['-', '+']);
        digits.len() > 1 && digits.starts_with('0')
    };
    let width = if is_padded(first) || is_padded(last) { first.len().max(last.len()) } else { 0 };
    let direction = if start <= end { step } else { -step };
    let mut value = start;
    let mut all = Vec::new();
    for _ in 0..=count {
        all.push(if is_number {
            format!("{value:0width$}")
        } else {
            char::from(u8::try_from(value).ok()?).to_string()
        });
        value = value.checked_add(direction)?;
    }
    Some(all)
}

/// Braces are expanded before names are read: `$x{y,z}` is `$xy $xz`.
fn join_names(parts: Vec<WordPart>) -> Vec<WordPart> {
    let mut joined: Vec<WordPart> = Vec::with_capacity(parts.len());
    for part in parts {
        if let WordPart::Literal(literal) = &part
            && let Some(WordPart::Parameter(before)) = joined.last_mut()
            && is_open_name(before)
            && !adjacent(before.span, literal.span)
        {
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let rest = literal.text.trim_start_matches(is_name);
            let (more, rest) = literal.text.split_at(literal.text.len() - rest.len());
            before.parameter.name = format!("{}{more}", before.parameter.name).into();
            if !rest.is_empty() {
                joined.push(WordPart::Literal(Literal { text: rest.into(), span: literal.span }));
            }
            continue;
        }
        joined.push(part);
    }
    joined
}

/// Whether following text could extend the name of this parameter.
fn is_open_name(parameter: &Parameter) -> bool {
    let name = &parameter.parameter.name;
    !parameter.braced && name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_')
}

/// Whether the text directly follows the parameter in the source, so that the name ends there.
fn adjacent(parameter: Span, literal: Span) -> bool {
    parameter.end == literal.start
}
