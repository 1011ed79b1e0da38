// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Splits code into tokens: words, strings and operators. One lexer is used for all languages; their differences are
//! in their descriptions.

use super::CodeLanguage;
use super::language::description::{OperatorKind, ReaderKind, contains};
use super::language::lexical::{Lexical, LineBreaks, starts_with};
use super::quote::{self, Quote};

/// The kind of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    /// A name, with its sigil: `open`, `$file`, `@list`.
    Word,
    Number,
    /// A string between quotes.
    Text,
    /// Text that a shell runs: backticks, `%x()`, `qx()`.
    Run,
    /// A template in backticks: text, or a command if it has a tag.
    Template,
    /// A list of words: `qw(a b)`, `%w[a b]`.
    Words,
    /// Perl's `<~/*>`.
    Glob,
    /// A regular expression, or other text that is ignored.
    Pattern,
    Sign,
    Newline,
}

/// A part of quoted text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TextPart<'a> {
    Text(String),
    /// An interpolated expression.
    Code(&'a str),
}

#[derive(Debug)]
pub(super) struct Token<'a> {
    pub(super) kind: TokenKind,
    pub(super) text: &'a str,
    pub(super) parts: Vec<TextPart<'a>>,
    /// Whether whitespace precedes the token.
    pub(super) space: bool,
}

/// The state of the lexer.
pub(super) struct Lexer<'a> {
    /// Whether strings have Python prefixes.
    pub(super) python: bool,
    pub(super) rules: &'static Lexical<&'static str>,
    /// Operators of the language that differ from the default.
    operators: &'static [(&'static str, OperatorKind)],
    pub(super) text: &'a str,
    pub(super) at: usize,
    tokens: Vec<Token<'a>>,
    open: Vec<u8>,
    /// Here-documents whose body starts on the next line.
    pub(super) waiting: Vec<PendingHereDocument<'a>>,
    /// Number of unclosed regular expressions. Above a limit, the lexer stops searching for them, because each search
    /// reads to the end of the line.
    unclosed: u8,
}

pub(super) struct PendingHereDocument<'a> {
    pub(super) token: usize,
    pub(super) until: &'a str,
    pub(super) quote: Quote,
}

/// Operators with more than one character, longest first.
const MULTI_CHARACTER_SIGNS: &[&str] = &[
    "===", "!==", "**=", "...", "<=>", "||=", "&&=", "??=", "//=", "<<=", ">>=", "::", "->", "=>", "==",
    "!=", "<=", ">=", "+=", "-=", "*=", "/=", ".=", "%=", "|=", "&=", ":=", "..", "&&", "||", "??", "?.",
    "<<", ">>", "=~", "!~", "~=", "**", "&.", "//", "++", "--",
];

/// Splits code into tokens.
pub(super) fn tokens(language: CodeLanguage, text: &str) -> Vec<Token<'_>> {
    let description = language.description();
    let rules = &description.lexical;
    let mut lexer = Lexer {
        python: language.has_reader(ReaderKind::Python),
        rules,
        operators: &description.operators,
        text,
        at: 0,
        tokens: Vec::new(),
        open: Vec::new(),
        waiting: Vec::new(),
        unclosed: 0,
    };
    if rules.code_tags.as_ref().is_some_and(|tags| text.contains(tags.open)) {
        lexer.skip_to_code();
    }
    while lexer.step() {}
    lexer.tokens
}

// === impl Lexer ===

impl<'a> Lexer<'a> {
    pub(super) fn byte(&self, ahead: usize) -> u8 {
        self.text.as_bytes().get(self.at + ahead).copied().unwrap_or(0)
    }

    pub(super) fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn slice(&self, from: usize) -> &'a str {
        self.text.get(from..self.at).unwrap_or_default()
    }

    fn push(&mut self, kind: TokenKind, text: &'a str, parts: Vec<TextPart<'a>>, space: bool) {
        self.tokens.push(Token { kind, text, parts, space });
    }

    /// Reads one token; returns false at the end.
    fn step(&mut self) -> bool {
        let space = self.blank();
        if self.at >= self.text.len() {
            return false;
        }
        let from = self.at;
        let byte = self.byte(0);
        if byte == b'\n' {
            self.at += 1;
            self.read_bodies();
            if self.tokens.last().is_some_and(|last| last.kind != TokenKind::Newline) && self.breaks_lines() {
                self.push(TokenKind::Newline, "\n", Vec::new(), space);
            }
            return true;
        }
        if let Some((kind, quote)) = quote::opens(self) {
            return self.quoted(kind, quote, space);
        }
        if byte.is_ascii_digit() {
            while self.byte(0).is_ascii_alphanumeric() || self.byte(0) == b'_' {
                self.at += 1;
            }
            self.push(TokenKind::Number, self.slice(from), Vec::new(), space);
            return true;
        }
        if self.word() {
            let text = self.slice(from);
            if contains(&self.rules.end_of_code, text) {
                self.at = self.text.len();
                return false;
            }
            self.push(TokenKind::Word, text, Vec::new(), space);
            return true;
        }
        self.sign(space);
        true
    }

    /// Reads quoted text.
    fn quoted(&mut self, kind: TokenKind, quote: Quote, space: bool) -> bool {
        let from = self.at;
        if quote.body_below {
            let until = quote::here_document_word(self);
            let token = self.tokens.len();
            self.push(kind, self.slice(from), Vec::new(), space);
            self.waiting.push(PendingHereDocument { token, until, quote });
            return true;
        }
        let Some(parts) = quote::read(self, &quote) else {
            // There is no end on this line, so the character was a division operator.
            self.unclosed = self.unclosed.saturating_add(1);
            self.at = from;
            self.sign(space);
            return true;
        };
        self.push(kind, self.slice(from), parts, space);
        true
    }

    /// Reads the bodies of here-documents, which follow the line that names them.
    fn read_bodies(&mut self) {
        for waiting in std::mem::take(&mut self.waiting) {
            let parts = quote::body(self, &waiting);
            if let Some(token) = self.tokens.get_mut(waiting.token) {
                token.parts = parts;
            }
        }
    }

    /// Whether the end of a line ends a statement here.
    fn breaks_lines(&self) -> bool {
        match self.rules.line_breaks {
            LineBreaks::Never => false,
            LineBreaks::Always => true,
            LineBreaks::OutsideBrackets => self.open.is_empty(),
            LineBreaks::OutsideBracketsAndChains => {
                let next = self.rest().trim_start();
                let goes_on = (next.starts_with('.') && !next.starts_with("..")) || next.starts_with("&.");
                !goes_on && self.open.last().is_none_or(|open| *open == b'{')
            }
        }
    }

    /// Reads a name with its sigil.
    fn word(&mut self) -> bool {
        let sigils = self.sigils();
        let first = self.byte(sigils);
        let dollar = |byte: u8| byte == b'$' && self.rules.dollar_in_names;
        let is_name = first.is_ascii_alphabetic() || first == b'_' || first >= 0x80 || dollar(first);
        // `$1`, `$!`, `$$`
        let special = sigils == 1
            && self.byte(0) == b'$'
            && self.rules.special_variables
            && (first.is_ascii_digit()
                || matches!(first, b'!' | b'@' | b'$' | b'&' | b'0' | b'/' | b',' | b';' | b'~'));
        if special {
            self.at += 2;
            return true;
        }
        if !is_name {
            return false;
        }
        let in_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80 || dollar(byte);
        let from = self.at + sigils;
        let bytes = self.text.as_bytes().get(from..).unwrap_or_default();
        self.at = from + bytes.iter().take_while(|byte| in_name(**byte)).count();
        let rest = self.rest();
        if self.byte(1) != b'=' && self.rules.name_suffixes.iter().any(|suffix| starts_with(rest, suffix)) {
            self.at += 1;
        }
        true
    }

    /// Returns the number of sigil bytes before a name at this position.
    fn sigils(&self) -> usize {
        let rest = self.rest();
        let own = |signs: &[&'static str]| signs.iter().find(|sign| starts_with(rest, sign)).map(|s| s.len());
        own(&self.rules.sigils)
            .or_else(|| own(&self.rules.sigils_before_values).filter(|_| !self.after_value()))
            .unwrap_or(0)
    }

    /// Whether the last token is a value, so that `/` divides and `<` compares.
    pub(super) fn after_value(&self) -> bool {
        self.tokens.last().is_some_and(|last| match last.kind {
            TokenKind::Sign => matches!(last.text, ")" | "]" | "}"),
            TokenKind::Newline => false,
            TokenKind::Word => !contains(&self.rules.words_before_values, last.text),
            _ => true,
        })
    }

    /// Whether the last token is this operator.
    pub(super) fn after_sign(&self, sign: &str) -> bool {
        self.tokens.last().is_some_and(|last| last.kind == TokenKind::Sign && last.text == sign)
    }

    /// Whether a regular expression may begin here.
    pub(super) fn may_open_pattern(&self) -> bool {
        self.unclosed < 16 && !self.after_value()
    }

    fn sign(&mut self, space: bool) {
        let rest = self.rest();
        let own = self.operators.iter().map(|(sign, _)| *sign);
        let own = own.filter(|sign| sign.len() > 1 && starts_with(rest, sign)).map(str::len).max();
        let long = MULTI_CHARACTER_SIGNS.iter().find(|sign| starts_with(rest, sign)).map(|sign| sign.len());
        let long = own.max(long);
        let length = long.unwrap_or_else(|| rest.chars().next().map_or(1, char::len_utf8));
        match self.byte(0) {
            open @ (b'(' | b'[' | b'{') => self.open.push(open),
            b')' | b']' | b'}' => {
                self.open.pop();
            }
            _ => {}
        }
        let from = self.at;
        self.at += length;
        self.push(TokenKind::Sign, self.slice(from), Vec::new(), space);
    }
}

/// Returns for every token that opens a bracket the token that closes it.
pub(super) fn pairs(tokens: &[Token<'_>]) -> Vec<usize> {
    let mut pairs = vec![tokens.len(); tokens.len()];
    let mut open: Vec<(usize, &str)> = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::Sign) {
        let closes = match token.text {
            "(" => {
                open.push((at, ")"));
                continue;
            }
            "[" => {
                open.push((at, "]"));
                continue;
            }
            "{" => {
                open.push((at, "}"));
                continue;
            }
            ")" | "]" | "}" => token.text,
            _ => continue,
        };
        // An unmatched closing bracket is ignored.
        if open.last().is_some_and(|(_, wanted)| *wanted == closes)
            && let Some((opener, _)) = open.pop()
            && let Some(pair) = pairs.get_mut(opener)
        {
            *pair = at;
        }
    }
    pairs
}
