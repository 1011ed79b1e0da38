// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Reads quoted text, in every syntax that a language can describe.

use super::interpolation::{end, parts};
use super::language::lexical::{Escapes, Interpolation, QuoteKind, QuoteRule, starts_with};
use super::lex::{Lexer, PendingHereDocument, TextPart, TokenKind};

/// How quoted text is read.
#[derive(Debug, Clone)]
pub(super) struct Quote {
    /// Length of the opening delimiter in bytes.
    skip: usize,
    pub(super) open: u8,
    /// The closing delimiter.
    pub(super) close: QuoteEnd,
    pub(super) escapes: Escapes,
    pub(super) inside: Interpolation,
    /// Whether the text must end on the same line.
    pub(super) one_line: bool,
    /// Number of further parts, such as the replacement in `s///`.
    halves: usize,
    /// Whether the text follows this line, up to a delimiter word.
    pub(super) body_below: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuoteEnd {
    Byte(u8),
    /// Three of these quotes.
    Three(u8),
    /// `]==]` with this many `=`.
    Long(usize),
}

impl Quote {
    fn plain(byte: u8) -> Self {
        Self {
            skip: 1,
            open: byte,
            close: QuoteEnd::Byte(closing(byte)),
            escapes: Escapes::All,
            inside: Interpolation::None,
            one_line: false,
            halves: 0,
            body_below: false,
        }
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

/// Whether quoted text begins here, and how it is read.
pub(super) fn opens(lexer: &Lexer<'_>) -> Option<(TokenKind, Quote)> {
    if lexer.python {
        return python(lexer);
    }
    let rules = lexer.rules;
    let rest = lexer.rest();
    if let Some(document) = &rules.here_documents
        && starts_with(rest, document.open)
        && !(document.before_values && lexer.after_value())
    {
        return here_document(lexer);
    }
    if rules.long_brackets
        && let Some(level) = long_bracket(rest)
    {
        let close = QuoteEnd::Long(level);
        let quote = Quote { skip: level + 2, close, escapes: Escapes::None, ..Quote::plain(b'[') };
        return Some((TokenKind::Text, quote));
    }
    if let Some(rule) = rules.quotes.iter().find(|rule| starts_with(rest, rule.open)) {
        return fixed(lexer, rule);
    }
    rules.delimited_quotes.iter().find(|rule| starts_with(rest, rule.open)).and_then(|rule| {
        let is_word = rule.open.starts_with(|c: char| c.is_ascii_alphabetic());
        if is_word { word_delimited(lexer, rule) } else { sign_delimited(lexer, rule) }
    })
}

/// Returns the kind of token that quoted text becomes.
fn kind_of(rule: &QuoteRule<&'static str>) -> TokenKind {
    match rule.kind {
        QuoteKind::Text => TokenKind::Text,
        QuoteKind::Shell => TokenKind::Run,
        QuoteKind::Template => TokenKind::Template,
        QuoteKind::Words => TokenKind::Words,
        QuoteKind::Pattern => TokenKind::Pattern,
        QuoteKind::FilePattern => TokenKind::Glob,
    }
}

/// Returns the quoted text between this delimiter and its counterpart.
fn between(lexer: &Lexer<'_>, rule: &QuoteRule<&'static str>, skip: usize, open: u8) -> Quote {
    Quote {
        skip,
        escapes: if rule.kind == QuoteKind::Pattern { Escapes::Few } else { rule.escapes },
        inside: if rule.expands { lexer.rules.expansion } else { Interpolation::None },
        halves: usize::from(rule.two_parts),
        ..Quote::plain(open)
    }
}

/// Reads `"…"`, `/…/` or `<…>`. A pattern is only possible where a value is expected, and ends on the same line.
fn fixed(lexer: &Lexer<'_>, rule: &QuoteRule<&'static str>) -> Option<(TokenKind, Quote)> {
    let one_line = matches!(rule.kind, QuoteKind::Pattern | QuoteKind::FilePattern);
    if one_line && !lexer.may_open_pattern() {
        return None;
    }
    let quote = between(lexer, rule, rule.open.len(), lexer.byte(0));
    Some((kind_of(rule), Quote { one_line, ..quote }))
}

/// Reads quotes that begin with punctuation, such as Ruby's `%w[…]` and `%(…)`.
fn sign_delimited(lexer: &Lexer<'_>, rule: &QuoteRule<&'static str>) -> Option<(TokenKind, Quote)> {
    let open = lexer.byte(rule.open.len());
    let is_delimiter = matches!(open, b'(' | b'[' | b'{' | b'<' | b'|' | b'!' | b'/' | b'"' | b'\'');
    if !is_delimiter || lexer.after_value() {
        return None;
    }
    Some((kind_of(rule), between(lexer, rule, rule.open.len() + 1, open)))
}

/// Reads quotes that begin with a word, such as Perl's `qq{…}` and `s/…/…/`.
fn word_delimited(lexer: &Lexer<'_>, rule: &QuoteRule<&'static str>) -> Option<(TokenKind, Quote)> {
    let rest = lexer.rest().as_bytes();
    let mut skip = rule.open.len();
    // `$h{s}`, `->s`, `s => 1` are names.
    if lexer.after_sign("->") || lexer.after_sign("{") && rest.get(skip) == Some(&b'}') {
        return None;
    }
    while rest.get(skip) == Some(&b' ') {
        skip += 1;
    }
    let open = *rest.get(skip)?;
    let spaced = skip > rule.open.len();
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
    let quote = between(lexer, rule, skip + 1, open);
    let inside = if open == b'\'' { Interpolation::None } else { quote.inside };
    Some((kind_of(rule), Quote { inside, ..quote }))
}

/// Reads `r"…"`, `f'''…'''` and `rb"…"`.
fn python(lexer: &Lexer<'_>) -> Option<(TokenKind, Quote)> {
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
        close: if three { QuoteEnd::Three(byte) } else { QuoteEnd::Byte(byte) },
        escapes: if raw { Escapes::None } else { Escapes::All },
        inside: if format { Interpolation::Braces } else { Interpolation::None },
        ..Quote::plain(byte)
    };
    Some((TokenKind::Text, quote))
}

/// Reads `<<EOT`, `<<~'EOT'` or `<<<EOT`, if a name follows.
fn here_document(lexer: &Lexer<'_>) -> Option<(TokenKind, Quote)> {
    let rule = lexer.rules.here_documents.as_ref()?;
    let skip = rule.open.len();
    let name = lexer.rest().get(skip..)?;
    if name.starts_with(' ') && !rule.spaced {
        return None;
    }
    let name = name.trim_start_matches(['~', '-', ' ']);
    let (first, quoted) = match name.as_bytes() {
        [quote @ (b'"' | b'\''), first, ..] => (*first, Some(*quote)),
        [first, ..] => (*first, None),
        [] => return None,
    };
    let is_name = first.is_ascii_uppercase()
        || first == b'_'
        || (quoted.is_some() || rule.any_case) && first.is_ascii_alphabetic();
    if !is_name {
        return None;
    }
    let raw = quoted == Some(b'\'');
    let inside = if raw { Interpolation::None } else { lexer.rules.expansion };
    let escapes = if raw { Escapes::None } else { Escapes::All };
    Some((TokenKind::Text, Quote { skip, escapes, inside, body_below: true, ..Quote::plain(0) }))
}

/// Consumes and returns the delimiter word of a here-document.
pub(super) fn here_document_word<'a>(lexer: &mut Lexer<'a>) -> &'a str {
    let rest = lexer.rest();
    let name = rest.trim_start_matches(['<', '~', '-', ' ', '"', '\'']);
    let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(name.len());
    let word = name.get(..end).unwrap_or_default();
    let quoted = name.as_bytes().get(end).is_some_and(|byte| matches!(byte, b'"' | b'\''));
    lexer.at += rest.len() - name.len() + end + usize::from(quoted && end < name.len());
    word
}

/// Reads the body of a here-document up to its delimiter word.
pub(super) fn body<'a>(lexer: &mut Lexer<'a>, waiting: &PendingHereDocument<'a>) -> Vec<TextPart<'a>> {
    let all = lexer.rest();
    let mut length = 0;
    for line in all.split_inclusive('\n') {
        let start = line.trim_start();
        if let Some(after) = start.strip_prefix(waiting.until)
            && !after.starts_with(|c: char| c.is_alphanumeric() || c == '_')
        {
            lexer.at += length + (line.len() - start.len()) + waiting.until.len();
            return parts(all.get(..length).unwrap_or_default(), &waiting.quote, lexer.rules);
        }
        length += line.len();
    }
    lexer.at = lexer.text.len();
    parts(all, &waiting.quote, lexer.rules)
}

/// Returns the number of `=` in a Lua bracket such as `[==[`.
pub(super) fn long_bracket(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('[')?;
    let level = rest.bytes().take_while(|byte| *byte == b'=').count();
    (rest.as_bytes().get(level) == Some(&b'[')).then_some(level)
}

/// Reads quoted text to its end. `None` if the text must end on the same line but does not.
pub(super) fn read<'a>(lexer: &mut Lexer<'a>, quote: &Quote) -> Option<Vec<TextPart<'a>>> {
    let from = lexer.at + quote.skip;
    let rest = lexer.text.get(from..).unwrap_or_default();
    let end = end(rest, quote)?;
    let text = rest.get(..end.0).unwrap_or_default();
    lexer.at = from + end.1;
    if quote.halves > 0 {
        second_half(lexer, quote);
    }
    Some(parts(text, quote, lexer.rules))
}

/// Skips the replacement and the flags of `s/a/b/` or `s{a}{b}`.
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
