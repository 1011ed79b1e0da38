// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Words outside quotes.

use super::scan::{Class, class, is_name_byte, is_name_start};
use super::{Outcome, Parser};
use crate::OneOrMany;
use crate::ast::{Literal, Tilde, Word, WordPart};

/// What is special in a word besides quotes and `$`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WordRules {
    /// `*`, `?`, `[…]` and extended patterns are parts of their own.
    pub(super) globs: bool,
    /// `{a,b}` is a part of its own.
    pub(super) braces: bool,
    /// `~` after `=` and `:`, too.
    pub(super) assigns: bool,
    /// Parentheses and `|` are part of the word: a regular expression after `=~`.
    pub(super) regex: bool,
}

impl WordRules {
    /// An argument of a command, an element of a list.
    pub(super) const ARGUMENT: Self = Self { globs: true, braces: true, assigns: false, regex: false };
    /// The value of an assignment.
    pub(super) const VALUE: Self = Self { globs: false, braces: false, assigns: true, regex: false };
    /// A word that is neither split nor a pattern: the subject of `case`, a here-string.
    pub(super) const SINGLE: Self = Self { globs: false, braces: false, assigns: false, regex: false };
    /// A pattern that is compared with a text.
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

/// A word in the making.
pub(super) struct WordBuilder {
    pub(super) parts: OneOrMany<WordPart>,
    /// Where the literal begins that has not become a part yet.
    pub(super) literal_start: usize,
    /// Where the `=` is, if the word starts with `name=`; looked for once.
    assignment_sign: AssignmentSign,
}

impl WordBuilder {
    pub(super) fn new(start: usize) -> Self {
        Self {
            parts: OneOrMany::default(),
            literal_start: start,
            assignment_sign: AssignmentSign::NotLookedFor,
        }
    }
}

impl Parser<'_> {
    /// A word; it may have no parts if no word starts here.
    pub(super) fn word(&mut self, rules: WordRules) -> Outcome<Word> {
        self.node()?;
        let start = self.at;
        let mut builder = WordBuilder::new(start);
        let mut has_brace = false;
        let mut regex_depth = 0_u32;
        if self.is_zsh() && rules.globs {
            self.zsh_word_start(&mut builder)?;
        }
        loop {
            self.at += self.count_while(self.at, |byte| class(byte) == Class::Plain);
            let Some(byte) = self.peek() else { break };
            match byte {
                b'*' | b'?' if rules.globs => self.glob_character(byte, &mut builder)?,
                b'[' if rules.globs => self.bracket(&mut builder)?,
                b'*' | b'?' | b'[' => self.at += 1,
                b'{' => {
                    has_brace = true;
                    self.at += 1;
                }
                b'~' => self.tilde(start, rules, &mut builder),
                b'!' => self.exclamation(&mut builder)?,
                b'(' if rules.globs && self.is_extended() && self.opens_group(&builder) => {
                    self.extended_glob(&mut builder)?;
                }
                _ if rules.regex && self.in_regex(byte, &mut regex_depth) => self.at += 1,
                b'<' | b'>' if self.is_extended() && self.byte(self.at + 1) == Some(b'(') => {
                    self.flush(&mut builder)?;
                    let part = self.process_substitution(byte)?;
                    self.push_part(&mut builder, part)?;
                }
                b'<' if self.is_zsh() && rules.globs => {
                    if !self.numeric_range(&mut builder)? {
                        break;
                    }
                }
                _ if class(byte) == Class::Ends => break,
                _ => self.quote_or_expansion(byte, &mut builder)?,
            }
        }
        self.flush(&mut builder)?;
        self.token_end = self.at;
        let span = self.span(start, self.at);
        let mut word = Word { parts: builder.parts, span };
        if has_brace && rules.braces && self.is_extended() {
            self.expand_braces(&mut word)?;
        }
        Ok(word)
    }

    /// A word that must be here.
    pub(super) fn required_word(&mut self, rules: WordRules) -> Outcome<Word> {
        let start = self.at;
        let word = self.word(rules)?;
        if self.at == start {
            return Err(if self.peek().is_none() {
                self.unclosed("command")
            } else {
                self.unexpected("token instead of a word")
            });
        }
        Ok(word)
    }

    /// Makes a part of the literal up to here.
    pub(super) fn flush(&mut self, builder: &mut WordBuilder) -> Outcome {
        if builder.literal_start < self.at {
            let literal = self.literal(builder.literal_start, self.at);
            self.push_part(builder, WordPart::Literal(literal))?;
        }
        builder.literal_start = self.at;
        Ok(())
    }

    /// Adds a part that ends here.
    pub(super) fn push_part(&mut self, builder: &mut WordBuilder, part: WordPart) -> Outcome {
        if !builder.parts.is_empty() {
            self.node()?;
        }
        builder.parts.push(part);
        builder.literal_start = self.at;
        Ok(())
    }

    pub(super) fn literal(&self, start: usize, end: usize) -> Literal {
        Literal { text: self.slice(start, end).into(), span: self.span(start, end) }
    }

    /// A quote, an escape or something that starts with `$` or a backtick, outside double quotes.
    pub(super) fn quote_or_expansion(&mut self, byte: u8, builder: &mut WordBuilder) -> Outcome {
        match byte {
            b'\\' if self.byte(self.at + 1) == Some(b'\n') => {
                self.flush(builder)?;
                self.at += 2;
                builder.literal_start = self.at;
                Ok(())
            }
            b'\\' => {
                let Some(character) = self.character(self.at + 1) else {
                    self.at += 1;
                    return Ok(());
                };
                self.flush(builder)?;
                let part = self.escaped(character);
                self.push_part(builder, part)
            }
            b'\'' => {
                self.flush(builder)?;
                let part = WordPart::SingleQuoted(self.single_quoted()?);
                self.push_part(builder, part)
            }
            b'"' => {
                self.flush(builder)?;
                let part = self.double_quoted(false)?;
                self.push_part(builder, part)
            }
            b'`' => {
                self.flush(builder)?;
                let part = self.backticks(false)?;
                self.push_part(builder, part)
            }
            _ => self.dollar(builder, false),
        }
    }

    /// `~` where a home directory may stand.
    fn tilde(&mut self, start: usize, rules: WordRules, builder: &mut WordBuilder) {
        let before = self.at.checked_sub(1).and_then(|at| self.byte(at));
        // `\<newline>~` and quotes before are no start.
        let at_start = self.at == start;
        let may_assign = rules.globs && matches!(before, Some(b':' | b'=')) && !at_start;
        let equals = if may_assign { self.assignment_sign(start, builder) } else { None };
        let assigns = rules.assigns || equals.is_some();
        // In a value the `=` is not part of the word; in an argument, the first one counts.
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
            Some(byte) => class(byte) == Class::Ends,
        };
        if !(at_start || after_sign) || !ends {
            self.at += 1;
            return;
        }
        let tilde = Tilde { user: self.slice(from, end).into(), span: self.span(self.at, end) };
        if builder.literal_start < self.at {
            builder.parts.push(WordPart::Literal(self.literal(builder.literal_start, self.at)));
        }
        self.at = end;
        builder.parts.push(WordPart::Tilde(tilde));
        builder.literal_start = end;
    }

    /// Where the `=` is, if the word starts with `name=`.
    fn assignment_sign(&self, start: usize, builder: &mut WordBuilder) -> Option<usize> {
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
