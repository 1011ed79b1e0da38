// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Fields: the arguments that words become.

use std::borrow::Cow;

use crate::Span;
use crate::limits::{MAX_EXPANSION_BYTES, MAX_FIELDS};

/// One argument, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field {
    /// Known and unknown pieces in order.
    pub segments: Vec<Segment>,
}

/// A piece of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    /// Text that is certainly there.
    Text(String),
    /// A pattern for names of files, such as `*`. The argument becomes each matching name, or stays as it is.
    Glob(String),
    /// Text that is only known when the command runs.
    Unknown {
        /// The expansion it comes from.
        span: Span,
        /// Whether it may become several arguments, or none.
        splits: bool,
    },
}

impl Field {
    /// The value, if it is certain.
    pub fn exact(&self) -> Option<Cow<'_, str>> {
        match self.segments.as_slice() {
            [] => Some(Cow::Borrowed("")),
            [Segment::Text(only)] => Some(Cow::Borrowed(only)),
            _ => None,
        }
    }

    /// The text with patterns as written and `unknown` in place of what is not known.
    pub fn render(&self, unknown: &str) -> String {
        self.segments
            .iter()
            .map(|segment| match segment {
                Segment::Text(text) | Segment::Glob(text) => text.as_str(),
                Segment::Unknown { .. } => unknown,
            })
            .collect()
    }

    /// Whether nothing in the field is unknown. Patterns count as known.
    pub fn is_known(&self) -> bool {
        !self.segments.iter().any(|segment| matches!(segment, Segment::Unknown { .. }))
    }

    /// Whether the field contains a pattern.
    pub fn has_glob(&self) -> bool {
        self.segments.iter().any(|segment| matches!(segment, Segment::Glob(_)))
    }

    fn push_text(&mut self, text: &str) {
        match self.segments.last_mut() {
            Some(Segment::Text(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.segments.push(Segment::Text(text.to_owned())),
        }
    }
}

/// What the words of a command become.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expansion {
    /// The arguments in order.
    pub fields: Vec<Field>,
    /// Whether a limit was reached, so that arguments are missing at the end.
    pub truncated: bool,
    /// Variables that the expansion itself assigns (`${x:=a}`, `$((x++))`); `None` for an unknown value.
    pub assigned: Vec<(String, Option<String>)>,
}

impl Expansion {
    /// The arguments, if all of them are certain.
    pub fn exact(&self) -> Option<Vec<Cow<'_, str>>> {
        if self.truncated { None } else { self.fields.iter().map(Field::exact).collect() }
    }

    /// Whether the number of arguments is certain.
    pub fn has_exact_count(&self) -> bool {
        let splits = |segment: &Segment| match segment {
            Segment::Text(_) => false,
            Segment::Glob(_) => true,
            Segment::Unknown { splits, .. } => *splits,
        };
        !self.truncated && !self.fields.iter().flat_map(|field| &field.segments).any(splits)
    }
}

/// Puts fields together.
pub(super) struct FieldBuilder {
    pub(super) done: Vec<Field>,
    current: Option<Field>,
    separator: Separator,
    pub(super) truncated: bool,
    bytes: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Separator {
    None,
    Blank,
    Other,
}

impl FieldBuilder {
    pub(super) fn new() -> Self {
        Self { done: Vec::new(), current: None, separator: Separator::None, truncated: false, bytes: 0 }
    }

    fn open(&mut self) -> &mut Field {
        self.separator = Separator::None;
        self.current.get_or_insert_with(Field::default)
    }

    fn spend(&mut self, bytes: usize) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        self.truncated |= self.bytes > MAX_EXPANSION_BYTES;
        !self.truncated
    }

    /// Text that is neither split nor a pattern; it makes a field even if it is empty.
    pub(super) fn push_quoted(&mut self, text: &str) {
        if self.spend(text.len()) {
            self.open().push_text(text);
        }
    }

    pub(super) fn push_glob(&mut self, pattern: &str) {
        if self.spend(pattern.len()) {
            match self.open().segments.last_mut() {
                Some(Segment::Glob(last)) => last.push_str(pattern),
                _ => self.open().segments.push(Segment::Glob(pattern.to_owned())),
            }
        }
    }

    pub(super) fn push_unknown(&mut self, span: Span, splits: bool) {
        if self.spend(1) {
            self.open().segments.push(Segment::Unknown { span, splits });
        }
    }

    /// Text from an unquoted expansion: split at `separators`, and its `*`, `?` and `[` are patterns.
    pub(super) fn push_split(&mut self, text: &str, separators: &str, globs: bool) {
        if !self.spend(text.len()) {
            return;
        }
        let mut from = 0;
        for (at, letter) in text.char_indices() {
            if !separators.contains(letter) {
                continue;
            }
            self.push_unquoted(text.get(from..at).unwrap_or_default(), globs);
            from = at + letter.len_utf8();
            let is_blank = matches!(letter, ' ' | '\t' | '\n');
            let ended = self.end_field();
            match (is_blank, self.separator) {
                (true, Separator::Other) => {}
                (true, _) => self.separator = Separator::Blank,
                (false, before) => {
                    if !ended && before != Separator::Blank {
                        self.push_field(Field::default());
                    }
                    self.separator = Separator::Other;
                }
            }
        }
        self.push_unquoted(text.get(from..).unwrap_or_default(), globs);
    }

    fn push_unquoted(&mut self, text: &str, globs: bool) {
        if text.is_empty() {
            return;
        }
        if !globs || !text.contains(['*', '?', '[']) {
            return self.open().push_text(text);
        }
        // A pattern from a variable: the whole piece may be one.
        match self.open().segments.last_mut() {
            Some(Segment::Glob(last)) => last.push_str(text),
            _ => self.open().segments.push(Segment::Glob(text.to_owned())),
        }
    }

    /// Ends the field that is being made; whether there was one.
    pub(super) fn end_field(&mut self) -> bool {
        match self.current.take() {
            Some(field) => {
                self.push_field(field);
                true
            }
            None => false,
        }
    }

    fn push_field(&mut self, field: Field) {
        if self.done.len() >= MAX_FIELDS {
            self.truncated = true;
        } else {
            self.done.push(field);
        }
    }

    /// All text of the only field, if it is certain.
    pub(super) fn into_text(mut self) -> Option<String> {
        self.end_field();
        if self.truncated || self.done.len() > 1 {
            return None;
        }
        let mut text = String::new();
        for segment in self.done.into_iter().flat_map(|field| field.segments) {
            match segment {
                Segment::Text(piece) | Segment::Glob(piece) => text.push_str(&piece),
                Segment::Unknown { .. } => return None,
            }
        }
        Some(text)
    }
}
