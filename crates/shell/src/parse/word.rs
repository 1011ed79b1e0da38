// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses words outside quotes.

use super::scan::{ByteClass, class, is_name_byte, is_name_start};
use super::{ParseResult, ShellParser};
use crate::SmallList;
use crate::ast::{Literal, Tilde, Word, WordPart};

/// Which characters are special in a word, besides quotes and `$`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WordRules {
    /// Whether `*`, `?`, `[…]` and extended patterns become separate parts.
    pub(super) globs: bool,
    /// Whether `{a,b}` becomes a separate part.
    pub(super) braces: bool,
    /// Whether `~` is also special after `=` and `:`.
    pub(super) assigns: bool,
    /// Whether parentheses and `|` are part of the word, as in a regular expression after `=~`.
    pub(super) regex: bool,
}

impl WordRules {
    /// An argument of a command or an element of a list.
    pub(super) const ARGUMENT: Self = Self { globs: true, braces: true, assigns: false, regex: false };
    /// The value of an assignment.
    pub(super) const VALUE: Self = Self { globs: false, braces: false, assigns: true, regex: false };
    /// A word that is neither split nor a pattern: the subject of `case`, a here-string.
    pub(super) const SINGLE: Self = Self { globs: false, braces: false, assigns: false, regex: false };
    /// A pattern that is matched against text.
    pub(super) const PATTERN: Self = Self { globs: true, braces: false, assigns: false, regex: false };
    /// The right side of `=~`.
    pub(super) const REGEX: Self = Self { globs: false, braces: false, assigns: false, regex: true };
}

/// Whether a word starts with `name=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AssignmentSign {
    NotLookedFor,
    Missing,
    At(usize),
}

/// A word that is being parsed.
pub(super) struct WordBuilder {
    pub(super) parts: SmallList<WordPart>,
    /// Start of the literal that has not become a part yet.
    pub(super) literal_start: usize,
    /// Offset of the `=` if the word starts with `name=`; searched once.
    assignment_sign: AssignmentSign,
}

impl WordBuilder {
    pub(super) fn new(start: usize) -> Self {
        Self {
            parts: SmallList::default(),
            literal_start: start,
            assignment_sign: AssignmentSign::NotLookedFor,
        }
    }
}

impl ShellParser<'_> {
    /// Parses a word. It has no parts if no word starts here.
    pub(super) fn parse_word(&mut self, rules: WordRules) -> ParseResult<Word> {
        self.count_node()?;
        let start = self.at;
        let mut builder = WordBuilder::new(start);
        let mut has_brace = false;
        let mut regex_depth = 0_u32;
        if self.is_zsh() && rules.globs {
            self.parse_zsh_word_start(&mut builder)?;
        }
        loop {
            self.at += self.count_while(self.at, |byte| class(byte) == ByteClass::Plain);
            let Some(byte) = self.peek() else { break };
            match byte {
                b'*' | b'?' if rules.globs => self.parse_glob_character(byte, &mut builder)?,
                b'[' if rules.globs => self.parse_bracket(&mut builder)?,
                b'*' | b'?' | b'[' => self.at += 1,
                b'{' => {
                    has_brace = true;
                    self.at += 1;
                }
                b'~' => self.parse_tilde(start, rules, &mut builder),
                b'!' => self.parse_exclamation(&mut builder)?,
                b'(' if rules.globs && self.is_extended() && self.opens_group(&builder) => {
                    self.parse_extended_glob(&mut builder)?;
                }
                _ if rules.regex && self.in_regex(byte, &mut regex_depth) => self.at += 1,
                b'<' | b'>' if self.is_extended() && self.byte(self.at + 1) == Some(b'(') => {
                    self.flush_literal(&mut builder)?;
                    let part = self.parse_process_substitution(byte)?;
                    self.push_part(&mut builder, part)?;
                }
                b'<' if self.is_zsh() && rules.globs => {
                    if !self.parse_numeric_range(&mut builder)? {
                        break;
                    }
                }
                _ if class(byte) == ByteClass::Ends => break,
                _ => self.parse_quote_or_expansion(byte, &mut builder)?,
            }
        }
        self.flush_literal(&mut builder)?;
        self.token_end = self.at;
        let span = self.span(start, self.at);
        let mut word = Word { parts: builder.parts, span };
        if has_brace && rules.braces && self.is_extended() {
            self.expand_braces(&mut word)?;
        }
        Ok(word)
    }

    /// Parses a required word.
    pub(super) fn parse_required_word(&mut self, rules: WordRules) -> ParseResult<Word> {
        let start = self.at;
        let word = self.parse_word(rules)?;
        if self.at == start {
            return Err(if self.peek().is_none() {
                self.unclosed("command")
            } else {
                self.unexpected("token instead of a word")
            });
        }
        Ok(word)
    }

    /// Ends the current literal and adds it as a part.
    pub(super) fn flush_literal(&mut self, builder: &mut WordBuilder) -> ParseResult {
        if builder.literal_start < self.at {
            let literal = self.make_literal(builder.literal_start, self.at);
            self.push_part(builder, WordPart::Literal(literal))?;
        }
        builder.literal_start = self.at;
        Ok(())
    }

    /// Adds a part that ends here.
    pub(super) fn push_part(&mut self, builder: &mut WordBuilder, part: WordPart) -> ParseResult {
        if !builder.parts.is_empty() {
            self.count_node()?;
        }
        builder.parts.push(part);
        builder.literal_start = self.at;
        Ok(())
    }

    pub(super) fn make_literal(&self, start: usize, end: usize) -> Literal {
        Literal { text: self.slice(start, end).into(), span: self.span(start, end) }
    }

    /// Parses a quote, an escape, or an expansion that starts with `$` or a backtick, outside double quotes.
    pub(super) fn parse_quote_or_expansion(&mut self, byte: u8, builder: &mut WordBuilder) -> ParseResult {
        match byte {
            b'\\' if self.byte(self.at + 1) == Some(b'\n') => {
                self.flush_literal(builder)?;
                self.at += 2;
                builder.literal_start = self.at;
                Ok(())
            }
            b'\\' => {
                let Some(character) = self.character(self.at + 1) else {
                    self.at += 1;
                    return Ok(());
                };
                self.flush_literal(builder)?;
                let part = self.make_escaped(character);
                self.push_part(builder, part)
            }
            b'\'' => {
                self.flush_literal(builder)?;
                let part = WordPart::SingleQuoted(self.parse_single_quoted()?);
                self.push_part(builder, part)
            }
            b'"' => {
                self.flush_literal(builder)?;
                let part = self.parse_double_quoted(false)?;
                self.push_part(builder, part)
            }
            b'`' => {
                self.flush_literal(builder)?;
                let part = self.parse_backticks(false)?;
                self.push_part(builder, part)
            }
            _ => self.parse_dollar(builder, false),
        }
    }

    /// Parses `~` where a home directory is allowed.
    fn parse_tilde(&mut self, start: usize, rules: WordRules, builder: &mut WordBuilder) {
        let before = self.at.checked_sub(1).and_then(|at| self.byte(at));
        // A `~` after `\<newline>` or a quote is not at the start of the word.
        let at_start = self.at == start;
        let may_assign = rules.globs && matches!(before, Some(b':' | b'=')) && !at_start;
        let equals = if may_assign { self.find_assignment_sign(start, builder) } else { None };
        let assigns = rules.assigns || equals.is_some();
        // In a value, the `=` is not part of the word. In an argument, only the first `=` makes a following
        // `~` special.
        let after_sign = builder.literal_start < self.at
            && match before {
                Some(b':') => assigns,
                Some(b'=') => equals.is_some_and(|at| at + 1 == self.at),
                _ => false,
            };
        let from = self.at + 1;
        let length = self.count_while(from, |byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'.')
        });
        let end = from + length;
        let ends = match self.byte(end) {
            None | Some(b'/') => true,
            Some(b':') => assigns,
            Some(byte) => class(byte) == ByteClass::Ends,
        };
        if !(at_start || after_sign) || !ends {
            self.at += 1;
            return;
        }
        let tilde = Tilde { user: self.slice(from, end).into(), span: self.span(self.at, end) };
        if builder.literal_start < self.at {
            builder.parts.push(WordPart::Literal(self.make_literal(builder.literal_start, self.at)));
        }
        self.at = end;
        builder.parts.push(WordPart::Tilde(tilde));
        builder.literal_start = end;
    }

    /// Returns the offset of the `=` if the word starts with `name=`.
    fn find_assignment_sign(&self, start: usize, builder: &mut WordBuilder) -> Option<usize> {
        if builder.assignment_sign == AssignmentSign::NotLookedFor {
            let equals = start + self.count_while(start, is_name_byte);
            let is_assignment =
                self.byte(start).is_some_and(is_name_start) && self.byte(equals) == Some(b'=');
            builder.assignment_sign =
                if is_assignment { AssignmentSign::At(equals) } else { AssignmentSign::Missing };
        }
        match builder.assignment_sign {
            AssignmentSign::At(equals) => Some(equals),
            AssignmentSign::NotLookedFor | AssignmentSign::Missing => None,
        }
    }

    fn in_regex(&self, byte: u8, depth: &mut u32) -> bool {
        match byte {
            b'(' => *depth += 1,
            b')' if *depth > 0 => *depth -= 1,
            b'|' => {}
            b' ' | b'\t' | b'<' | b'>' | b'&' | b';' => return *depth > 0,
            _ => return false,
        }
        true
    }
}
