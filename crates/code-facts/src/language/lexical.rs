// SPDX-License-Identifier: Apache-2.0 OR MIT

//! How the text of a language is split into tokens: comments, names, quotes.

use serde::{Deserialize, Serialize};

/// How text is split into tokens.
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
    /// What begins like a line comment and is code: `#[` in PHP.
    pub(crate) not_comments: Vec<S>,
    /// Comments from one text to another.
    pub(crate) block_comments: Vec<BlockComment<S>>,
    /// Words behind which there is no code: `__END__`.
    pub(crate) end_of_code: Vec<S>,
    /// Tags around code that is embedded in other text: `<?php … ?>`.
    pub(crate) code_tags: Option<CodeTags<S>>,
    pub(crate) line_breaks: LineBreaks,
    /// Signs at the start of a name: `$`, `@`.
    pub(crate) sigils: Vec<S>,
    /// Signs at the start of a name where a value is expected, and operators behind a value: `%`, `&`.
    pub(crate) sigils_before_values: Vec<S>,
    /// Whether `$1`, `$!` and the like are names.
    pub(crate) special_variables: bool,
    /// Whether names may contain `$`.
    pub(crate) dollar_in_names: bool,
    /// Signs that may end a name: `?` and `!` in Ruby.
    pub(crate) name_suffixes: Vec<S>,
    /// Words behind which a value is expected, so that `/` begins a regular expression.
    pub(crate) words_before_values: Vec<S>,
    /// Quotes with a fixed sign: `"…"`.
    pub(crate) quotes: Vec<QuoteRule<S>>,
    /// Quotes that choose their own delimiter: `qq{…}`, `%w[…]`. Longest first.
    pub(crate) delimited_quotes: Vec<QuoteRule<S>>,
    pub(crate) here_documents: Option<HereDocuments<S>>,
    /// Whether `[==[ … ]==]` is a text and, behind the sign of a line comment, a comment.
    pub(crate) long_brackets: bool,
    /// How quoted text contains expressions.
    pub(crate) expansion: Interpolation,
    /// Which signs begin an expression in quoted text, for [`Interpolation::Sigils`].
    pub(crate) expanded_sigils: Vec<S>,
    /// Which brackets may follow a name in quoted text: `$x[0]`, `$x{key}`.
    pub(crate) expanded_indices: Vec<S>,
    /// Whether `{$x}` is an expression in quoted text, and `$x->name`.
    pub(crate) expanded_members: bool,
}

/// A comment with an end of its own.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct BlockComment<S> {
    pub(crate) open: S,
    pub(crate) close: S,
    /// Whether it must begin a line. If `open` is a sign, a letter must follow it there.
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
    /// Statements end with a sign.
    #[default]
    Never,
    Always,
    /// Unless a bracket is open.
    OutsideBrackets,
    /// Unless a bracket other than `{` is open, or the next line begins with a method call.
    OutsideBracketsAndChains,
}

/// A kind of quoted text.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct QuoteRule<S> {
    /// The quote, or what stands before the delimiter.
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

/// What quoted text is.
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

/// Text that stands below the line that names its last line.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct HereDocuments<S> {
    pub(crate) open: S,
    /// Whether blanks may stand between the sign and the word.
    #[serde(default)]
    pub(crate) spaced: bool,
    /// Whether the sign is an operator behind a value.
    #[serde(default)]
    pub(crate) before_values: bool,
    /// Whether the word may begin with a small letter.
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

/// Whether a text starts with a sign. Most texts differ in the first byte, which is cheap to see.
#[inline]
pub(crate) fn starts_with(text: &str, sign: &str) -> bool {
    text.as_bytes().first() == sign.as_bytes().first() && text.starts_with(sign)
}
