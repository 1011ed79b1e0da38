// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads the content of quoted text: its end, escapes and interpolated expressions.

use super::language::lexical::{Escapes, Interpolation, Lexical};
use super::lex::TextPart;
use super::quote::{Quote, QuoteEnd};

/// The lexical rules of a language.
type StaticLexical = Lexical<&'static str>;

/// Returns the end of the quoted text, and the start of the text after it.
pub(super) fn end(rest: &str, quote: &Quote) -> Option<(usize, usize)> {
    let bytes = rest.as_bytes();
    let mut at = 0;
    let mut depth = 0usize;
    // Expressions inside may contain quotes of the same kind.
    let mut braces = 0usize;
    let mut set = false;
    while let Some(byte) = bytes.get(at).copied() {
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        match byte {
            b'\\' if quote.escapes != Escapes::None || !matches!(quote.close, QuoteEnd::Long(_)) => {
                at += 2;
                continue;
            }
            b'\n' if quote.one_line => return None,
            // `/[/]/`
            b'[' if quote.open == b'/' => set = true,
            b']' if quote.open == b'/' => set = false,
            b'$' if quote.inside == Interpolation::DollarBraces && next == b'{' => {
                braces += 1;
                at += 2;
                continue;
            }
            b'#' if quote.inside == Interpolation::HashBraces && next == b'{' => {
                braces += 1;
                at += 2;
                continue;
            }
            b'{' if braces > 0 => braces += 1,
            b'}' if braces > 0 => {
                braces -= 1;
                at += 1;
                continue;
            }
            _ => {}
        }
        let found = match quote.close {
            QuoteEnd::Byte(close) if byte == close && depth == 0 && braces == 0 && !set => Some(1),
            QuoteEnd::Byte(close) if byte == close && depth > 0 => {
                depth -= 1;
                None
            }
            QuoteEnd::Byte(close) => {
                depth += usize::from(byte == quote.open && close != quote.open);
                None
            }
            QuoteEnd::Three(close) => {
                (byte == close && next == close && bytes.get(at + 2) == Some(&close)).then_some(3)
            }
            QuoteEnd::Long(level) => (byte == b']'
                && bytes
                    .get(at + 1..at + 1 + level)
                    .is_some_and(|fill| fill.iter().all(|byte| *byte == b'='))
                && bytes.get(at + 1 + level) == Some(&b']'))
            .then_some(level + 2),
        };
        if let Some(length) = found {
            return Some((at, at + length));
        }
        at += 1;
    }
    // An unclosed quote extends to the end of the text. A `/` without a closing `/` does not begin a regular expression.
    (!quote.one_line).then_some((bytes.len(), bytes.len()))
}

/// Splits quoted text into literal parts and expressions.
pub(super) fn parts<'a>(text: &'a str, quote: &Quote, rules: &StaticLexical) -> Vec<TextPart<'a>> {
    let mut out = Vec::new();
    let mut held = String::new();
    let mut rest = text;
    let may_open = |first: char| {
        matches!(first, '{' | '$' | '#') || rules.expanded_sigils.iter().any(|sigil| sigil.starts_with(first))
    };
    // Number of unclosed expressions. After a few, further opening delimiters count as text.
    let mut unclosed = 0;
    while let Some(first) = rest.chars().next() {
        if first == '\\' && quote.escapes != Escapes::None {
            rest = escape(rest, quote, &mut held);
            continue;
        }
        if quote.inside != Interpolation::None && unclosed < 16 && may_open(first) {
            if let Some((code, length)) = inner(rest, quote.inside, rules) {
                if !held.is_empty() {
                    out.push(TextPart::Text(std::mem::take(&mut held)));
                }
                out.push(TextPart::Code(code));
                rest = rest.get(length..).unwrap_or_default();
                continue;
            }
            unclosed += u32::from(rest.get(1..).is_some_and(|after| after.starts_with('{')));
        }
        held.push(first);
        // `{{` in a format string is one brace.
        let doubled =
            quote.inside == Interpolation::Braces && (rest.starts_with("{{") || rest.starts_with("}}"));
        rest = rest.get(first.len_utf8() + usize::from(doubled)..).unwrap_or_default();
    }
    if !held.is_empty() || out.is_empty() {
        out.push(TextPart::Text(held));
    }
    out
}

/// Decodes an escape at the start of a text; returns the text after it.
fn escape<'a>(text: &'a str, quote: &Quote, out: &mut String) -> &'a str {
    let mut letters = text.chars();
    letters.next();
    let Some(letter) = letters.next() else {
        out.push('\\');
        return "";
    };
    let rest = letters.as_str();
    if quote.escapes == Escapes::Few {
        if letter != '\\' && letter != char::from(quote.open) && QuoteEnd::Byte(letter as u8) != quote.close {
            out.push('\\');
        }
        out.push(letter);
        return rest;
    }
    let simple = match letter {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'a' => '\x07',
        'e' => '\x1b',
        'f' => '\x0c',
        'v' => '\x0b',
        '\n' => return rest,
        'z' if quote.escapes == Escapes::Decimal => return rest.trim_start(),
        'x' | 'u' | 'U' => return coded(rest, letter, out),
        '0'..='9' => {
            let (radix, most) = if quote.escapes == Escapes::Decimal { (10, 3) } else { (8, 3) };
            let digits = text.get(1..).unwrap_or_default();
            return number(digits, radix, most, out).unwrap_or(rest);
        }
        other => other,
    };
    out.push(simple);
    rest
}

/// Decodes `\x41`, `\x{41}`, `\u0041` and `\u{41}`.
fn coded<'a>(rest: &'a str, letter: char, out: &mut String) -> &'a str {
    if let Some(inner) = rest.strip_prefix('{')
        && let Some((digits, after)) = inner.split_once('}')
        && digits.len() <= 8
    {
        number(digits, 16, 8, out);
        return after;
    }
    let most = match letter {
        'x' => 2,
        'u' => 4,
        _ => 8,
    };
    number(rest, 16, most, out).unwrap_or(rest)
}

fn number<'a>(text: &'a str, radix: u32, most: usize, out: &mut String) -> Option<&'a str> {
    let length = text.chars().take(most).take_while(|c| c.is_digit(radix)).count();
    let digits = text.get(..length)?;
    let code = u32::from_str_radix(digits, radix).ok()?;
    out.extend(char::from_u32(code));
    text.get(length..)
}

/// Returns the code of an expression at the start of a text, and its length including delimiters.
fn inner<'a>(rest: &'a str, inside: Interpolation, rules: &StaticLexical) -> Option<(&'a str, usize)> {
    match inside {
        Interpolation::Braces => {
            if !rest.starts_with('{') || rest.starts_with("{{") {
                return None;
            }
            braced(rest, 0).map(|(code, length)| {
                let code = code.trim_end_matches('=');
                let end = code
                    .rfind(['!', ':'])
                    .filter(|at| !code.get(*at..).is_some_and(|c| c.contains([']', ')', '"', '\''])));
                (end.and_then(|end| code.get(..end)).unwrap_or(code), length)
            })
        }
        Interpolation::DollarBraces if rest.starts_with("${") => braced(rest, 1),
        Interpolation::HashBraces if rest.starts_with("#{") => braced(rest, 1),
        Interpolation::Sigils if rules.expanded_members && rest.starts_with("{$") => braced(rest, 0),
        Interpolation::Sigils if rules.expanded_sigils.iter().any(|sign| rest.starts_with(sign)) => {
            sigil(rest, rules)
        }
        _ => None,
    }
}

/// Maximum distance at which the end of an interpolated expression is searched.
const MAX_INTERPOLATION_BYTES: usize = 2000;

fn braced(rest: &str, skip: usize) -> Option<(&str, usize)> {
    let mut depth = 0usize;
    for (at, byte) in rest.bytes().enumerate().take(MAX_INTERPOLATION_BYTES).skip(skip) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return Some((rest.get(skip + 1..at)?, at + 1)),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Reads `$x`, `${x}`, `$ENV{HOME}`, `$x->{y}` or `@list`.
fn sigil<'a>(rest: &'a str, rules: &StaticLexical) -> Option<(&'a str, usize)> {
    let bytes = rest.as_bytes();
    let name = |from: usize| {
        bytes.iter().skip(from).take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count()
    };
    if bytes.get(1) == Some(&b'{') {
        let (_, length) = braced(rest, 1)?;
        return Some((rest.get(..length)?, length));
    }
    let mut length = 1 + name(1);
    if length == 1 {
        return None;
    }
    for _ in 0..4 {
        let arrow = if rest.get(length..).is_some_and(|after| after.starts_with("->")) { 2 } else { 0 };
        let at = length + arrow;
        let after = rest.get(at..).unwrap_or_default();
        if arrow > 0 && rules.expanded_members && after.starts_with(|c: char| c.is_ascii_alphabetic()) {
            length = at + name(at);
            continue;
        }
        if !rules.expanded_indices.iter().any(|open| after.starts_with(open)) {
            break;
        }
        let close = if after.starts_with('[') { ']' } else { '}' };
        let Some(end) = rest.get(at..at + 80).or_else(|| rest.get(at..)).and_then(|text| text.find(close))
        else {
            break;
        };
        length = at + end + 1;
    }
    Some((rest.get(..length)?, length))
}
