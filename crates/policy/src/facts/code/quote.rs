// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Texts between quotes, in every spelling.

use super::Language;
use super::lex::{Kind, Lexer, Part, Waiting};
use super::parts::{end, parts};

/// How a text between quotes is read.
#[derive(Debug, Clone)]
pub(super) struct Quote {
    /// What stands before the text, in bytes.
    skip: usize,
    pub(super) open: u8,
    /// What ends it.
    pub(super) close: Close,
    pub(super) escapes: Escapes,
    pub(super) inside: Inside,
    /// It must end on its line, or it is no quote at all.
    pub(super) one_line: bool,
    /// How many more texts follow it: the second half of `s///`.
    halves: usize,
    /// The text stands below this line, until a word of its own.
    pub(super) body_below: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Close {
    Byte(u8),
    /// Three of them.
    Three(u8),
    /// `]==]` of so many.
    Long(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Escapes {
    None,
    /// Only the quote and the backslash.
    Few,
    All,
    /// Lua: numbers are decimal.
    Decimal,
}

/// Which expressions stand inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inside {
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
