// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines fields: the arguments that words expand to.

use std::borrow::Cow;

use crate::Span;
use crate::limits::{MAX_EXPANSION_BYTES, MAX_FIELDS};

/// An argument, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Field {
    /// Known and unknown segments in order.
    pub segments: Vec<FieldSegment>,
}

/// A segment of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldSegment {
    /// Text that is known.
    Text(String),
    /// A file name pattern such as `*`. The argument becomes each matching name, or stays as it is.
    Glob(String),
    /// Text that is only known at run time.
    Unknown {
        /// Position of the expansion.
        span: Span,
        /// Whether the text may become several arguments or none.
        splits: bool,
    },
}

impl Field {
    /// Returns the value, if it is certain.
    pub fn exact(&self) -> Option<Cow<'_, str>> {
        match self.segments.as_slice() {
            [] => Some(Cow::Borrowed("")),
            [FieldSegment::Text(only)] => Some(Cow::Borrowed(only)),
            _ => None,
        }
    }

    /// Returns the text with patterns as written and `unknown` in place of unknown segments.
    pub fn render(&self, unknown: &str) -> String {
        self.segments
            .iter()
            .map(|segment| match segment {
                FieldSegment::Text(text) | FieldSegment::Glob(text) => text.as_str(),
                FieldSegment::Unknown { .. } => unknown,
            })
            .collect()
    }

    /// Whether nothing in the field is unknown. Patterns count as known.
    pub fn is_known(&self) -> bool {
        !self.segments.iter().any(|segment| matches!(segment, FieldSegment::Unknown { .. }))
    }

    /// Whether the field contains a pattern.
    pub fn has_glob(&self) -> bool {
        self.segments.iter().any(|segment| matches!(segment, FieldSegment::Glob(_)))
    }

    fn push_text(&mut self, text: &str) {
        match self.segments.last_mut() {
            Some(FieldSegment::Text(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.segments.push(FieldSegment::Text(text.to_owned())),
        }
    }
}

/// The expansion of the words of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expansion {
    /// The arguments in order.
    pub fields: Vec<Field>,
    /// Whether arguments are missing at the end because of a limit.
    pub truncated: bool,
    /// Variables that the expansion itself assigns (`${x:=a}`, `$((x++))`); `None` for an unknown value.
    pub assigned: Vec<(String, Option<String>)>,
}

impl Expansion {
    /// Returns the arguments, if all of them are certain.
    pub fn exact(&self) -> Option<Vec<Cow<'_, str>>> {
        if self.truncated { None } else { self.fields.iter().map(Field::exact).collect() }
    }

    /// Whether the number of arguments is certain.
    pub fn has_exact_count(&self) -> bool {
        let splits = |segment: &FieldSegment| match segment {
            FieldSegment::Text(_) => false,
            FieldSegment::Glob(_) => true,
            FieldSegment::Unknown { splits, .. } => *splits,
        };
        !self.truncated && !self.fields.iter().flat_map(|field| &field.segments).any(splits)
    }
}

/// Builds fields from segments.
pub(super) struct FieldBuilder {
    pub(super) done: Vec<Field>,
    current: Option<Field>,
    separator: FieldSeparator,
    pub(super) truncated: bool,
    bytes: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldSeparator {
    None,
    Blank,
    Other,
}

impl FieldBuilder {
    pub(super) fn new() -> Self {
        Self { done: Vec::new(), current: None, separator: FieldSeparator::None, truncated: false, bytes: 0 }
    }

    fn open(&mut self) -> &mut Field {
        self.separator = FieldSeparator::None;
        self.current.get_or_insert_with(Field::default)
    }

    fn spend(&mut self, bytes: usize) -> bool {
        self.bytes = self.bytes.saturating_add(bytes);
        self.truncated |= self.bytes > MAX_EXPANSION_BYTES;
        !self.truncated
    }

    /// Adds text that is neither split nor a pattern. It forms a field even if it is empty.
    pub(super) fn push_quoted(&mut self, text: &str) {
        if self.spend(text.len()) {
            self.open().push_text(text);
        }
    }

    pub(super) fn push_glob(&mut self, pattern: &str) {
        if self.spend(pattern.len()) {
            match self.open().segments.last_mut() {
                Some(FieldSegment::Glob(last)) => last.push_str(pattern),
                _ => self.open().segments.push(FieldSegment::Glob(pattern.to_owned())),
            }
        }
    }

    pub(super) fn push_unknown(&mut self, span: Span, splits: bool) {
        if self.spend(1) {
            self.open().segments.push(FieldSegment::Unknown { span, splits });
        }
    }

    /// Adds text from an unquoted expansion: it is split at `separators`, and `*`, `?` and `[` are patterns.
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
                (true, FieldSeparator::Other) => {}
                (true, _) => self.separator = FieldSeparator::Blank,
                (false, before) => {
                    if !ended && before != FieldSeparator::Blank {
                        self.push_field(Field::default());
                    }
                    self.separator = FieldSeparator::Other;
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
        // A pattern from a variable may extend over the whole segment.
        match self.open().segments.last_mut() {
            Some(FieldSegment::Glob(last)) => last.push_str(text),
            _ => self.open().segments.push(FieldSegment::Glob(text.to_owned())),
        }
    }

    /// Ends the current field; false if there was none.
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

    /// Returns the text of the only field, if it is known.
    pub(super) fn into_text(mut self) -> Option<String> {
        self.end_field();
        if self.truncated || self.done.len() > 1 {
            return None;
        }
        let mut text = String::new();
        for segment in self.done.into_iter().flat_map(|field| field.segments) {
            match segment {
                FieldSegment::Text(piece) | FieldSegment::Glob(piece) => text.push_str(&piece),
                FieldSegment::Unknown { .. } => return None,
            }
        }
        Some(text)
    }
}
