// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines the description of a language: tokens, syntax and calls.
//!
//! The types are shared by the build script, which reads them from `languages/*.yaml` with `S = String`, and by
//! the reader, which decodes them from the compiled form with `S = &'static str`. Lists of words are sorted by
//! the build script, so that [`contains`] can search them.

use serde::{Deserialize, Serialize};

use super::call::CallRule;
use super::lexical::Lexical;

/// Everything that is described about a language.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(bound(deserialize = "S: Deserialize<'de> + Default"))]
pub(crate) struct LanguageDescription<S> {
    pub(crate) reader: ReaderKind,
    pub(crate) lexical: Lexical<S>,
    pub(crate) syntax: LanguageSyntax<S>,
    pub(crate) names: NameRules<S>,
    /// Operators whose meaning differs from the default.
    pub(crate) operators: Vec<(S, OperatorKind)>,
    /// Names that have a value without being called.
    pub(crate) constants: Vec<(S, NamedConstant)>,
    /// Described calls, sorted by name.
    pub(crate) calls: Vec<(S, CallRule<S>)>,
}

/// Which Rust code reads syntax that a description cannot express.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ReaderKind {
    #[default]
    Generic,
    /// Imports, `with`, `lambda`, comprehensions, slices, prefixed strings.
    Python,
    /// Imports and arrow functions.
    #[serde(rename = "javascript")]
    JavaScript,
    /// Not read as expressions at all.
    Awk,
    /// Calls are lists whose first element is the function.
    Lisp,
}

/// Syntax of statements and expressions.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    rename_all = "kebab-case",
    bound(deserialize = "S: Deserialize<'de> + Default")
)]
pub(crate) struct LanguageSyntax<S> {
    /// Words before a value that do not change it: `return`, `new`.
    pub(crate) prefix_words: Vec<S>,
    /// Words that declare variables.
    pub(crate) declaration_words: Vec<S>,
    /// Words that begin a function.
    pub(crate) function_words: Vec<S>,
    /// Words that begin a block with parameters between bars: `do |x|`.
    pub(crate) block_words: Vec<S>,
    /// Words that begin a statement without effects, up to `;`.
    pub(crate) skipped_statements: Vec<S>,
    /// Operators between a value and its member.
    pub(crate) member_signs: Vec<S>,
    /// How named arguments and keys are written.
    pub(crate) keys: Vec<KeyStyle>,
    /// Whether a named argument also has a position: `removeItem(atPath: x)`.
    pub(crate) labels_are_positional: bool,
    pub(crate) for_each: ForEach,
    /// Whether a loop may follow its body: `unlink $_ for glob("*")`.
    pub(crate) postfix_for: bool,
    /// The variable for the current element if the code does not name one.
    pub(crate) topic: Option<S>,
    /// Functions that use the topic variable if they are written without arguments.
    pub(crate) topic_calls: Vec<S>,
    /// Functions whose first argument may be a block that is run for each element: `map { … } LIST`.
    pub(crate) block_functions: Vec<S>,
    /// Functions that call their first argument for everything below their other arguments.
    pub(crate) tree_walkers: Vec<S>,
    /// Variables that a tree walker sets in addition to the topic.
    pub(crate) tree_walker_variables: Vec<S>,
    /// Whether known functions take arguments without parentheses.
    pub(crate) bare_arguments: bool,
    /// Characters that may begin such arguments, after a space.
    pub(crate) bare_argument_signs: Vec<S>,
    /// Functions whose first argument without parentheses may be a block: `exec {"/bin/sh"} "sh"`.
    pub(crate) bare_block_calls: Vec<S>,
    /// Whether methods without arguments are called without parentheses.
    pub(crate) bare_methods: bool,
    /// Whether a single string or table may be an argument without parentheses: `f "x"`, `f {x}`.
    pub(crate) literal_arguments: bool,
    /// Whether block parameters are written between bars: `{ |x| … }`.
    pub(crate) bar_parameters: bool,
    /// Whether `:name` is a string.
    pub(crate) symbols: bool,
    /// Whether adjacent strings are concatenated.
    pub(crate) adjacent_texts_join: bool,
    /// Whether braces without keys are a list.
    pub(crate) braces_are_lists: bool,
    /// Whether `$x{key}` is an element.
    pub(crate) brace_indices: bool,
    /// Whether `[` after a space begins an argument, not an index.
    pub(crate) spaced_bracket_is_argument: bool,
    /// Whether `a, b = x, y` assigns to several names.
    pub(crate) unpacks_names: bool,
    /// Whether a string can be called as the function that it names.
    pub(crate) texts_are_callable: bool,
    /// What the `format` method of a string does.
    pub(crate) format_method: FormatMethod,
}

/// Syntax of the key of a named argument or entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum KeyStyle {
    /// `f(key=1)`
    EqualsInCalls,
    /// `{key = 1}`
    EqualsInBraces,
    /// `{key: 1}`
    ColonInBraces,
    /// `key: 1`, without a space before the colon.
    TightColon,
    /// `key => 1`
    Arrow,
}

/// Syntax of a loop over a list.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ForEach {
    /// `for x in list`, `for (x of list)`; supported in every language.
    #[default]
    InOrOf,
    /// `foreach my $x (list)`
    VariableThenList,
    /// `foreach (list as $x)`
    ListAsVariable,
}

/// What the `format` method of a string does.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FormatMethod {
    #[default]
    None,
    /// Fills in `{}`.
    Braces,
    /// Fills in `%s`.
    Percent,
}

/// How the name of a call is simplified before it is looked up.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(
    default,
    deny_unknown_fields,
    rename_all = "kebab-case",
    bound(deserialize = "S: Deserialize<'de> + Default")
)]
pub(crate) struct NameRules<S> {
    /// Prefixes and their replacements, applied in this order.
    pub(crate) prefixes: Vec<(S, S)>,
    /// Suffixes that are dropped.
    pub(crate) suffixes: Vec<S>,
    /// Parts that are dropped wherever they are: `.promises`.
    pub(crate) dropped_parts: Vec<S>,
    pub(crate) ignore_case: bool,
    /// Whether only the last part is looked up: `File::Path::rmtree` is `rmtree`.
    pub(crate) last_part_only: bool,
    /// Methods that are looked up with their class even if `last_part_only` is set.
    pub(crate) class_methods: Vec<S>,
}

/// How an operator combines its operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum OperatorKind {
    /// Joins two strings or lists.
    Concatenate,
    /// The value is one of the operands: `a || b`.
    Either,
    /// The value is the second operand: `a && b`.
    Second,
    /// `a ? b : c`
    Ternary,
    /// `a if b else c`
    Conditional,
    Assign,
    /// Appends to a string.
    Append,
    /// Joins two paths; divides numbers.
    Divide,
    /// Fills in `%s`.
    Format,
    /// The value is not a string.
    Other,
    /// Not an operator.
    None,
}

/// The value of a named constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NamedConstant {
    Home,
    WorkingDirectory,
    PathSeparator,
    StandardInput,
}

/// Whether a sorted list contains a word.
pub(crate) fn contains<S: AsRef<str>>(sorted: &[S], word: &str) -> bool {
    sorted.binary_search_by(|item| item.as_ref().cmp(word)).is_ok()
}
