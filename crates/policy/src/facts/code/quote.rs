// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Texts between quotes, in every spelling.

use super::Language;
use super::lex::{Kind, Lexer, Part, Waiting};

/// How a text between quotes is read.
#[derive(Debug, Clone)]
pub(super) struct Quote {
    /// What stands before the text, in bytes.
    skip: usize,
    open: u8,
    /// What ends it.
    close: Close,
    escapes: Escapes,
    inside: Inside,
    /// It must end on its line, or it is no quote at all.
    one_line: bool,
    /// How many more texts follow it: the second half of `s///`.
    halves: usize,
    /// The text stands below this line, until a word of its own.
    pub(super) body_below: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Close {
    Byte(u8),
    /// Three of them.
    Three(u8),
    /// `]==]` of so many.
    Long(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escapes {
    None,
    /// Only the quote and the backslash.
    Few,
    All,
    /// Lua: numbers are decimal.
    Decimal,
}

/// Which expressions stand inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Inside {
    None,
    /// `{x}`
    Braces,
    /// `${x}`
    Dollar,
    /// `#{x}`
    Hash,
    /// `$x`, `@x`, `${x}`, `{$x}`
    Sigils,
}

impl Quote {
    fn plain(byte: u8) -> Self {
        Self {
            skip: 1,
            open: byte,
            close: Close::Byte(closing(byte)),
            escapes: Escapes::All,
            inside: Inside::None,
            one_line: false,
            halves: 0,
            body_below: false,
        }
    }

    fn few(byte: u8) -> Self {
        Self { escapes: Escapes::Few, ..Self::plain(byte) }
    }

    fn pattern(byte: u8) -> Self {
        Self { escapes: Escapes::Few, one_line: true, ..Self::plain(byte) }
    }
}

fn closing(open: u8) -> u8 {
    match open {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        other => other,
    }
}

/// Whether a text between quotes begins here, and how it is read.
pub(super) fn opens(lexer: &Lexer<'_>) -> Option<(Kind, Quote)> {
    let (first, next) = (lexer.byte(0), lexer.byte(1));
    match lexer.language {
        Language::Python => python(lexer),
        Language::JavaScript => match first {
            b'"' | b'\'' => Some((Kind::Text, Quote::plain(first))),
            b'`' => Some((Kind::Template, Quote { inside: Inside::Dollar, ..Quote::plain(first) })),
            b'/' if lexer.may_open_pattern() => Some((Kind::Pattern, Quote::pattern(first))),
            _ => None,
        },
        Language::Lua => match first {
            b'"' | b'\'' => Some((Kind::Text, Quote { escapes: Escapes::Decimal, ..Quote::plain(first) })),
            b'[' => long_bracket(lexer.rest()).map(|level| {
                let close = Close::Long(level);
                let quote = Quote { skip: level + 2, close, escapes: Escapes::None, ..Quote::plain(b'[') };
                (Kind::Text, quote)
            }),
            _ => None,
        },
        Language::Awk => match first {
            b'"' => Some((Kind::Text, Quote::plain(first))),
            b'/' if lexer.may_open_pattern() => Some((Kind::Pattern, Quote::pattern(first))),
            _ => None,
        },
        Language::Php => match first {
            b'"' => Some((Kind::Text, Quote { inside: Inside::Sigils, ..Quote::plain(first) })),
            b'`' => Some((Kind::Run, Quote { inside: Inside::Sigils, ..Quote::plain(first) })),
            b'\'' => Some((Kind::Text, Quote::few(first))),
            b'<' if lexer.rest().starts_with("<<<") => heredoc(lexer, 3),
            _ => None,
        },
        Language::Ruby => match first {
            b'"' => Some((Kind::Text, Quote { inside: Inside::Hash, ..Quote::plain(first) })),
            b'`' => Some((Kind::Run, Quote { inside: Inside::Hash, ..Quote::plain(first) })),
            b'\'' => Some((Kind::Text, Quote::few(first))),
            b'%' if !lexer.after_value() => percent(next, lexer.byte(2)),
            b'/' if lexer.may_open_pattern() => Some((Kind::Pattern, Quote::pattern(first))),
            b'<' if next == b'<' && !matches!(lexer.byte(2), b' ' | b'<') => heredoc(lexer, 2),
            _ => None,
        },
        Language::Perl => match first {
            b'"' => Some((Kind::Text, Quote { inside: Inside::Sigils, ..Quote::plain(first) })),
            b'`' => Some((Kind::Run, Quote { inside: Inside::Sigils, ..Quote::plain(first) })),
            b'\'' => Some((Kind::Text, Quote::few(first))),
            b'/' if lexer.may_open_pattern() => Some((Kind::Pattern, Quote::pattern(first))),
            b'<' if next == b'<' && !lexer.after_value() => heredoc(lexer, 2),
            b'<' if lexer.may_open_pattern() => {
                Some((Kind::Glob, Quote { inside: Inside::Sigils, one_line: true, ..Quote::plain(b'<') }))
            }
            b'q' | b'm' | b's' | b't' | b'y' => perl_word(lexer),
            _ => None,
        },
    }
}

/// `r"…"`, `f'''…'''`, `rb"…"`
fn python(lexer: &Lexer<'_>) -> Option<(Kind, Quote)> {
    let mut prefix = 0;
    let (mut raw, mut format) = (false, false);
    while prefix < 2 {
        match lexer.byte(prefix).to_ascii_lowercase() {
            b'r' => raw = true,
            b'f' => format = true,
            b'b' | b'u' => {}
            _ => break,
        }
        prefix += 1;
    }
    let byte = lexer.byte(prefix);
    if byte != b'"' && byte != b'\'' {
        return None;
    }
    let three = lexer.byte(prefix + 1) == byte && lexer.byte(prefix + 2) == byte;
    let quote = Quote {
        skip: prefix + if three { 3 } else { 1 },
        close: if three { Close::Three(byte) } else { Close::Byte(byte) },
        escapes: if raw { Escapes::None } else { Escapes::All },
        inside: if format { Inside::Braces } else { Inside::None },
        ..Quote::plain(byte)
    };
    Some((Kind::Text, quote))
}

/// Ruby's `%q(…)`, `%w[…]`, `%x{…}`, `%(…)`
fn percent(kind: u8, open: u8) -> Option<(Kind, Quote)> {
    let (skip, open) = if kind.is_ascii_alphabetic() { (3, open) } else { (2, kind) };
    if !matches!(open, b'(' | b'[' | b'{' | b'<' | b'|' | b'!' | b'/' | b'"' | b'\'') {
        return None;
    }
    let hash = Quote { skip, inside: Inside::Hash, ..Quote::plain(open) };
    match kind {
        b'q' => Some((Kind::Text, Quote { skip, ..Quote::few(open) })),
        b'w' | b'i' => Some((Kind::Words, Quote { skip, ..Quote::few(open) })),
        b'W' | b'I' => Some((Kind::Words, hash)),
        b'x' => Some((Kind::Run, hash)),
        b'r' => Some((Kind::Pattern, Quote { skip, ..Quote::few(open) })),
        b'Q' => Some((Kind::Text, hash)),
        _ if skip == 2 => Some((Kind::Text, hash)),
        _ => None,
    }
}

/// `q(…)`, `qq{…}`, `qw/…/`, `qx!…!`, `m{…}`, `s/…/…/`, `tr/…/…/`
fn perl_word(lexer: &Lexer<'_>) -> Option<(Kind, Quote)> {
    let rest = lexer.rest().as_bytes();
    let word = ["qq", "qw", "qx", "qr", "tr", "q", "m", "s", "y"]
        .into_iter()
        .find(|word| rest.starts_with(word.as_bytes()))?;
    let mut skip = word.len();
    // `$h{s}`, `->s`, `s => 1` are names.
    if lexer.after_sign("->") || lexer.after_sign("{") && rest.get(skip) == Some(&b'}') {
        return None;
    }
    while rest.get(skip) == Some(&b' ') {
        skip += 1;
    }
    let open = *rest.get(skip)?;
    let spaced = skip > word.len();
    if open.is_ascii_alphanumeric()
        || open <= b' '
        || open >= 0x80
        || matches!(open, b'_' | b',' | b';' | b')')
    {
        return None;
    }
    if open == b'=' && (spaced || rest.get(skip + 1) == Some(&b'>')) || spaced && open == b'#' {
        return None;
    }
    let quote = Quote { skip: skip + 1, ..Quote::plain(open) };
    let inside = if open == b'\'' { Inside::None } else { Inside::Sigils };
    match word {
        "q" => Some((Kind::Text, Quote { skip: skip + 1, ..Quote::few(open) })),
        "qq" => Some((Kind::Text, Quote { inside, ..quote })),
        "qx" => Some((Kind::Run, Quote { inside, ..quote })),
        "qw" => Some((Kind::Words, Quote { skip: skip + 1, ..Quote::few(open) })),
        "m" | "qr" => Some((Kind::Pattern, Quote { skip: skip + 1, ..Quote::few(open) })),
        _ => Some((Kind::Pattern, Quote { skip: skip + 1, halves: 1, ..Quote::few(open) })),
    }
}

/// `<<EOT`, `<<~'EOT'`, `<<<EOT`: only where a name follows.
fn heredoc(lexer: &Lexer<'_>, skip: usize) -> Option<(Kind, Quote)> {
    let name = lexer.rest().get(skip..)?.trim_start_matches(['~', '-', ' ']);
    let (first, quoted) = match name.as_bytes() {
        [quote @ (b'"' | b'\''), first, ..] => (*first, Some(*quote)),
        [first, ..] => (*first, None),
        [] => return None,
    };
    let is_name =
        first.is_ascii_uppercase() || first == b'_' || quoted.is_some() && first.is_ascii_alphabetic();
    if !(is_name || lexer.language == Language::Php && first.is_ascii_alphabetic()) {
        return None;
    }
    let inside = match (quoted, lexer.language) {
        (Some(b'\''), _) => Inside::None,
        (_, Language::Ruby) => Inside::Hash,
        _ => Inside::Sigils,
    };
    let escapes = if quoted == Some(b'\'') { Escapes::None } else { Escapes::All };
    Some((Kind::Text, Quote { skip, escapes, inside, body_below: true, ..Quote::plain(0) }))
}

/// The word of a heredoc; the lexer goes past it.
pub(super) fn heredoc_word<'a>(lexer: &mut Lexer<'a>) -> &'a str {
    let rest = lexer.rest();
    let name = rest.trim_start_matches(['<', '~', '-', ' ', '"', '\'']);
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    let word = name.get(..end).unwrap_or_default();
    let quoted = name.as_bytes().get(end).is_some_and(|byte| matches!(byte, b'"' | b'\''));
    lexer.at += rest.len() - name.len() + end + usize::from(quoted && end < name.len());
    word
}

/// The body of a heredoc: the lines until its word.
pub(super) fn body<'a>(lexer: &mut Lexer<'a>, waiting: &Waiting<'a>) -> Vec<Part<'a>> {
    let all = lexer.rest();
    let mut length = 0;
    for line in all.split_inclusive('\n') {
        let start = line.trim_start();
        if let Some(after) = start.strip_prefix(waiting.until)
            && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        {
            lexer.at += length + (line.len() - start.len()) + waiting.until.len();
            return parts(all.get(..length).unwrap_or_default(), &waiting.quote, lexer.language);
        }
        length += line.len();
    }
    lexer.at = lexer.text.len();
    parts(all, &waiting.quote, lexer.language)
}

/// How many `=` a Lua bracket such as `[==[` has.
pub(super) fn long_bracket(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('[')?;
    let level = rest.bytes().take_while(|byte| *byte == b'=').count();
    (rest.as_bytes().get(level) == Some(&b'[')).then_some(level)
}

/// Reads to the end of a text between quotes. `None` when it should have ended on its line.
pub(super) fn read<'a>(lexer: &mut Lexer<'a>, quote: &Quote) -> Option<Vec<Part<'a>>> {
    let from = lexer.at + quote.skip;
    let rest = lexer.text.get(from..).unwrap_or_default();
    let end = end(rest, quote)?;
    let text = rest.get(..end.0).unwrap_or_default();
    lexer.at = from + end.1;
    if quote.halves > 0 {
        second_half(lexer, quote);
    }
    Some(parts(text, quote, lexer.language))
}

/// The second half of `s/a/b/` or `s{a}{b}`, and its letters.
fn second_half(lexer: &mut Lexer<'_>, quote: &Quote) {
    if closing(quote.open) != quote.open {
        while lexer.byte(0).is_ascii_whitespace() {
            lexer.at += 1;
        }
        lexer.at += 1;
    }
    let rest = lexer.rest();
    lexer.at += end(rest, &Quote { one_line: false, ..quote.clone() }).map_or(rest.len(), |end| end.1);
    while lexer.byte(0).is_ascii_alphabetic() {
        lexer.at += 1;
    }
}

/// Where a text ends, and where what follows begins.
fn end(rest: &str, quote: &Quote) -> Option<(usize, usize)> {
    let bytes = rest.as_bytes();
    let mut at = 0;
    let mut depth = 0usize;
    // Expressions inside may hold quotes of the same kind.
    let mut braces = 0usize;
    let mut set = false;
    while let Some(byte) = bytes.get(at).copied() {
        let next = bytes.get(at + 1).copied().unwrap_or(0);
        match byte {
            b'\\' if quote.escapes != Escapes::None || !matches!(quote.close, Close::Long(_)) => {
                at += 2;
                continue;
            }
            b'\n' if quote.one_line => return None,
            // `/[/]/`
            b'[' if quote.open == b'/' => set = true,
            b']' if quote.open == b'/' => set = false,
            b'$' if quote.inside == Inside::Dollar && next == b'{' => {
                braces += 1;
                at += 2;
                continue;
            }
            b'#' if quote.inside == Inside::Hash && next == b'{' => {
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
            Close::Byte(close) if byte == close && depth == 0 && braces == 0 && !set => Some(1),
            Close::Byte(close) if byte == close && depth > 0 => {
                depth -= 1;
                None
            }
            Close::Byte(close) => {
                depth += usize::from(byte == quote.open && close != quote.open);
                None
            }
            Close::Three(close) => {
                (byte == close && next == close && bytes.get(at + 2) == Some(&close)).then_some(3)
            }
            Close::Long(level) => (byte == b']'
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
    // A quote that never ends takes the rest; a pattern that never ends is none.
    (!quote.one_line).then_some((bytes.len(), bytes.len()))
}

/// The pieces of a text.
fn parts<'a>(text: &'a str, quote: &Quote, language: Language) -> Vec<Part<'a>> {
    let mut out = Vec::new();
    let mut held = String::new();
    let mut rest = text;
    // Signs that open an expression without an end: after some they are letters.
    let mut unclosed = 0;
    while let Some(first) = rest.chars().next() {
        if first == '\\' && quote.escapes != Escapes::None {
            rest = escape(rest, quote, &mut held);
            continue;
        }
        if quote.inside != Inside::None && unclosed < 16 && matches!(first, '{' | '$' | '#' | '@') {
            if let Some((code, length)) = inner(rest, quote.inside, language) {
                if !held.is_empty() {
                    out.push(Part::Text(std::mem::take(&mut held)));
                }
                out.push(Part::Code(code));
                rest = rest.get(length..).unwrap_or_default();
                continue;
            }
            unclosed += u32::from(rest.get(1..).is_some_and(|after| after.starts_with('{')));
        }
        held.push(first);
        // `{{` of a format is one brace.
        let doubled = quote.inside == Inside::Braces && (rest.starts_with("{{") || rest.starts_with("}}"));
        rest = rest.get(first.len_utf8() + usize::from(doubled)..).unwrap_or_default();
    }
    if !held.is_empty() || out.is_empty() {
        out.push(Part::Text(held));
    }
    out
}

/// One escape at the start of a text; gives what follows it.
fn escape<'a>(text: &'a str, quote: &Quote, out: &mut String) -> &'a str {
    let mut letters = text.chars();
    letters.next();
    let Some(letter) = letters.next() else {
        out.push('\\');
        return "";
    };
    let rest = letters.as_str();
    if quote.escapes == Escapes::Few {
        if letter != '\\' && letter != char::from(quote.open) && Close::Byte(letter as u8) != quote.close {
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

/// `\x41`, `\x{41}`, `\u0041`, `\u{41}`
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

/// An expression inside a text: its code, and how long it is with its signs.
fn inner(rest: &str, inside: Inside, language: Language) -> Option<(&str, usize)> {
    match inside {
        Inside::Braces => {
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
        Inside::Dollar if rest.starts_with("${") => braced(rest, 1),
        Inside::Hash if rest.starts_with("#{") => braced(rest, 1),
        Inside::Sigils if rest.starts_with("{$") && language == Language::Php => braced(rest, 0),
        Inside::Sigils if rest.starts_with(['$', '@']) => sigil(rest, language),
        _ => None,
    }
}

/// How far the end of an expression inside a text is looked for.
const LONGEST_INNER: usize = 2000;

fn braced(rest: &str, skip: usize) -> Option<(&str, usize)> {
    let mut depth = 0usize;
    for (at, byte) in rest.bytes().enumerate().take(LONGEST_INNER).skip(skip) {
        match byte {
            b'{' => depth += 1,
            b'}' if depth <= 1 => return Some((rest.get(skip + 1..at)?, at + 1)),
            b'}' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// `$x`, `${x}`, `$ENV{HOME}`, `$x->{y}`, `@list`
fn sigil(rest: &str, language: Language) -> Option<(&str, usize)> {
    let bytes = rest.as_bytes();
    if language == Language::Php && bytes.first() == Some(&b'@') {
        return None;
    }
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
        let close = match bytes.get(at) {
            Some(b'[') => ']',
            Some(b'{') if language == Language::Perl => '}',
            Some(byte) if arrow > 0 && language == Language::Php && byte.is_ascii_alphabetic() => {
                length = at + name(at);
                continue;
            }
            _ => break,
        };
        let Some(end) = rest.get(at..at + 80).or_else(|| rest.get(at..)).and_then(|text| text.find(close))
        else {
            break;
        };
        length = at + end + 1;
    }
    Some((rest.get(..length)?, length))
}
