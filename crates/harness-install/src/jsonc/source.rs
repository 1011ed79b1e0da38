// SPDX-License-Identifier: Apache-2.0 OR MIT
//! A parsed text that keeps the position of every token.

use std::{collections::HashSet, ops::Range, path::Path};

use jsonc_parser::{
    CollectOptions, CommentCollectionStrategy, ParseOptions,
    ast::{Array, Object, Value},
    common::Ranged,
    parse_to_ast,
    tokens::Token,
};

use crate::InstallError;

/// Reason why a text cannot be edited, with its position.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {what}")]
pub struct SettingsError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// Description of the problem.
    pub what: String,
}

impl SettingsError {
    /// The error with the path of the file that the text is from.
    pub(crate) fn at(self, path: &Path) -> InstallError {
        let Self { line, column, what } = self;
        InstallError::Settings { path: path.to_owned(), line, column, what }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsoncTokenKind {
    Comma,
    Colon,
    LineComment,
    BlockComment,
    Other,
}

impl JsoncTokenKind {
    pub(super) fn is_comment(self) -> bool {
        matches!(self, Self::LineComment | Self::BlockComment)
    }
}

pub(super) struct TokenSpan {
    pub(super) range: Range<usize>,
    pub(super) mark: JsoncTokenKind,
}

/// A JSON-with-comments text, its tree and its tokens.
pub struct JsoncSource<'t> {
    pub(super) text: &'t str,
    tokens: Vec<TokenSpan>,
    root: Option<Value<'t>>,
}

/// Accepts comments and trailing commas. Other deviations from JSON (single quotes, unquoted keys, missing commas)
/// are errors: no harness accepts them, and an edit would only hide them.
const STRICT_BUT_FOR_COMMENTS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

impl<'t> JsoncSource<'t> {
    /// Parses `text`, which must not start with a byte order mark. A duplicate key is an error: programs differ in
    /// which of the two they use, and an edit to the wrong one would install no hook.
    pub fn parse(text: &'t str) -> Result<Self, SettingsError> {
        let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
        let parsed =
            parse_to_ast(text, &collect, &STRICT_BUT_FOR_COMMENTS).map_err(|error| SettingsError {
                line: error.line_display(),
                column: error.column_display(),
                what: lower_first(&error.kind().to_string()),
            })?;
        let tokens = parsed.tokens.unwrap_or_default();
        let tokens = tokens
            .into_iter()
            .map(|token| TokenSpan {
                range: token.range.start..token.range.end,
                mark: match token.token {
                    Token::Comma => JsoncTokenKind::Comma,
                    Token::Colon => JsoncTokenKind::Colon,
                    Token::CommentLine(_) => JsoncTokenKind::LineComment,
                    Token::CommentBlock(_) => JsoncTokenKind::BlockComment,
                    _ => JsoncTokenKind::Other,
                },
            })
            .collect();
        let source = Self { text, tokens, root: parsed.value };
        if let Some(root) = &source.root {
            source.refuse_duplicate_keys(root)?;
        }
        Ok(source)
    }

    /// The root object; `None` if the text contains no value.
    pub fn root(&self) -> Result<Option<&Object<'t>>, SettingsError> {
        match &self.root {
            None => Ok(None),
            Some(Value::Object(object)) => Ok(Some(object)),
            Some(other) => Err(self
                .flaw(other.range().start, format!("the settings must be an object, found {}", kind(other)))),
        }
    }

    /// The object `hooks`, if there is one.
    pub fn hooks(&self) -> Result<Option<&Object<'t>>, SettingsError> {
        let Some(property) = self.root()?.and_then(|root| root.get("hooks")) else { return Ok(None) };
        match &property.value {
            Value::Object(object) => Ok(Some(object)),
            other => {
                Err(self
                    .flaw(other.range().start, format!("`hooks` must be an object, found {}", kind(other))))
            }
        }
    }

    /// An error at a byte offset.
    pub fn flaw(&self, offset: usize, what: String) -> SettingsError {
        let (line, column) = self.position(offset);
        SettingsError { line, column, what }
    }

    /// Line and column of a byte offset, both from 1.
    pub fn position(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line_start = before.rfind(['\n', '\r']).map_or(0, |at| at + 1);
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        // Every line end is counted once, and `\r\n` is one line end.
        let line = 1 + before.matches(['\n', '\r']).count() - before.matches("\r\n").count();
        (line, column)
    }

    pub(super) fn tokens(&self) -> &[TokenSpan] {
        &self.tokens
    }

    pub(super) fn tokens_in(&self, range: Range<usize>) -> &[TokenSpan] {
        let from = self.tokens.partition_point(|token| token.range.start < range.start);
        let to = self.tokens.partition_point(|token| token.range.end <= range.end);
        self.tokens.get(from..to.max(from)).unwrap_or_default()
    }

    /// The text of a range.
    pub fn raw(&self, range: Range<usize>) -> &'t str {
        self.slice(range)
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &'t str {
        self.text.get(range).unwrap_or_default()
    }

    fn refuse_duplicate_keys(&self, value: &Value<'t>) -> Result<(), SettingsError> {
        match value {
            Value::Object(object) => {
                let mut seen = HashSet::with_capacity(object.properties.len());
                for property in &object.properties {
                    let name = property.name.as_str();
                    if !seen.insert(name) {
                        return Err(self.flaw(property.range.start, format!("duplicate key `{name}`")));
                    }
                    self.refuse_duplicate_keys(&property.value)?;
                }
                Ok(())
            }
            Value::Array(array) => {
                array.elements.iter().try_for_each(|item| self.refuse_duplicate_keys(item))
            }
            _ => Ok(()),
        }
    }
}

/// Type of a value, for messages.
pub fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::StringLit(_) => "a string",
        Value::NumberLit(_) => "a number",
        Value::BooleanLit(_) => "a boolean",
        Value::Object(_) => "an object",
        Value::Array(_) => "an array",
        Value::NullKeyword(_) => "null",
    }
}

/// An object or array, as items between two brackets.
pub(super) struct ItemList {
    /// Offset after the opening bracket.
    pub(super) open: usize,
    /// Offset of the closing bracket.
    pub(super) close: usize,
    pub(super) items: Vec<Range<usize>>,
}

impl ItemList {
    pub(super) fn of_object(object: &Object<'_>) -> Self {
        let items =
            object.properties.iter().map(|property| property.range.start..property.range.end).collect();
        Self { open: object.range.start + 1, close: object.range.end.saturating_sub(1), items }
    }

    pub(super) fn of_array(array: &Array<'_>) -> Self {
        let items = array.elements.iter().map(Ranged::range).map(|range| range.start..range.end).collect();
        Self { open: array.range.start + 1, close: array.range.end.saturating_sub(1), items }
    }

    /// Range from the end of item `index` to the next item, or to the closing bracket.
    pub(super) fn gap_after(&self, index: usize) -> Range<usize> {
        let from = self.items.get(index).map_or(self.open, |item| item.end);
        let to = self.items.get(index + 1).map_or(self.close, |item| item.start);
        from..to
    }

    /// All ranges between the brackets that belong to no item.
    pub(super) fn gaps(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let first = self.open..self.items.first().map_or(self.close, |item| item.start);
        std::iter::once(first).chain((0..self.items.len()).map(|index| self.gap_after(index)))
    }
}

fn lower_first(message: &str) -> String {
    let mut chars = message.chars();
    chars.next().map(|first| first.to_lowercase().chain(chars).collect()).unwrap_or_default()
}
