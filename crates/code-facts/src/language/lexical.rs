// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines the lexical rules of a language: comments, names and quotes.

use serde::{Deserialize, Serialize};

/// Rules for splitting text into tokens.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    rename_all = "kebab-case",
    bound(deserialize = "S: Deserialize<'de> + Default")
)]
pub(crate) struct Lexical<S> {
    /// Comments until the end of the line.
    pub(crate) line_comments: Vec<S>,
    /// Code that looks like the start of a line comment: `#[` in PHP.
    pub(crate) not_comments: Vec<S>,
    /// Comments between an opening and a closing delimiter.
    pub(crate) block_comments: Vec<BlockComment<S>>,
    /// Words that end the code: `__END__`.
    pub(crate) end_of_code: Vec<S>,
    /// Tags around code that is embedded in other text: `<?php … ?>`.
    pub(crate) code_tags: Option<CodeTags<S>>,
    pub(crate) line_breaks: LineBreaks,
    /// Characters at the start of a name: `$`, `@`.
    pub(crate) sigils: Vec<S>,
    /// Characters that start a name where a value is expected, but are operators after a value: `%`, `&`.
    pub(crate) sigils_before_values: Vec<S>,
    /// Whether `$1`, `$!` and the like are names.
    pub(crate) special_variables: bool,
    /// Whether names may contain `$`.
    pub(crate) dollar_in_names: bool,
    /// Characters that may end a name: `?` and `!` in Ruby.
    pub(crate) name_suffixes: Vec<S>,
    /// Words after which a value is expected, so that `/` begins a regular expression.
    pub(crate) words_before_values: Vec<S>,
    /// Quotes with a fixed delimiter: `"…"`.
    pub(crate) quotes: Vec<QuoteRule<S>>,
    /// Quotes that choose their own delimiter: `qq{…}`, `%w[…]`. Longest first.
    pub(crate) delimited_quotes: Vec<QuoteRule<S>>,
    pub(crate) here_documents: Option<HereDocuments<S>>,
    /// Whether `[==[ … ]==]` is a string, or a comment if it follows the start of a line comment.
    pub(crate) long_brackets: bool,
    /// How quoted text contains expressions.
    pub(crate) expansion: Interpolation,
    /// Which characters begin an expression in quoted text, for [`Interpolation::Sigils`].
    pub(crate) expanded_sigils: Vec<S>,
    /// Which brackets may follow a name in quoted text: `$x[0]`, `$x{key}`.
    pub(crate) expanded_indices: Vec<S>,
    /// Whether `{$x}` is an expression in quoted text, and `$x->name`.
    pub(crate) expanded_members: bool,
}

/// A comment with a closing delimiter.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct BlockComment<S> {
    pub(crate) open: S,
    pub(crate) close: S,
    /// Whether the comment must begin a line. If `open` is punctuation, a letter must follow it.
    #[serde(default)]
    pub(crate) at_line_start: bool,
}

/// Tags around embedded code.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct CodeTags<S> {
    pub(crate) open: S,
    /// Words that may follow the opening tag and belong to it.
    pub(crate) names: Vec<S>,
    pub(crate) close: S,
}

/// Where the end of a line ends a statement.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LineBreaks {
    /// Never: statements end with a character such as `;`.
    #[default]
    Never,
    Always,
    /// Always, except inside brackets.
    OutsideBrackets,
    /// Always, except inside brackets other than `{` and before a line that begins with a method call.
    OutsideBracketsAndChains,
}

/// A kind of quoted text.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct QuoteRule<S> {
    /// The quote, or the text before the delimiter.
    pub(crate) open: S,
    #[serde(default)]
    pub(crate) kind: QuoteKind,
    /// Whether expressions inside are replaced by their value.
    #[serde(default)]
    pub(crate) expands: bool,
    #[serde(default)]
    pub(crate) escapes: Escapes,
    /// Whether a second part follows: `s/a/b/`.
    #[serde(default)]
    pub(crate) two_parts: bool,
}

/// The meaning of quoted text.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum QuoteKind {
    #[default]
    Text,
    /// Runs in a shell.
    Shell,
    /// Text, or the argument of the name before it.
    Template,
    /// A list of words.
    Words,
    /// A regular expression.
    Pattern,
    /// The names of files that match, or lines read from a handle.
    FilePattern,
}

/// Which escapes quoted text has.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Escapes {
    #[default]
    All,
    /// Only the quote and the backslash.
    Few,
    /// All, with decimal instead of octal codes.
    Decimal,
    None,
}

/// Text that follows the line with its delimiter word.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HereDocuments<S> {
    pub(crate) open: S,
    /// Whether spaces are allowed between the operator and the word.
    #[serde(default)]
    pub(crate) spaced: bool,
    /// Whether the same characters are an operator after a value.
    #[serde(default)]
    pub(crate) before_values: bool,
    /// Whether the word may begin with a lower-case letter.
    #[serde(default)]
    pub(crate) any_case: bool,
}

/// How quoted text contains expressions.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Interpolation {
    #[default]
    None,
    /// `{x}`
    Braces,
    /// `${x}`
    DollarBraces,
    /// `#{x}`
    HashBraces,
    /// `$x`, `@x`, `${x}`
    Sigils,
}

/// Whether a string starts with a token. The first byte is compared separately, because most strings differ there.
#[inline]
pub(crate) fn starts_with(text: &str, sign: &str) -> bool {
    text.as_bytes().first() == sign.as_bytes().first() && text.starts_with(sign)
}
