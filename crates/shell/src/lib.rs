// SPDX-License-Identifier: Apache-2.0 OR MIT
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod ast;
mod dialect;
pub mod expand;
pub mod limits;
mod one_or_many;
mod outline;
mod parse;
mod span;
mod visit;

pub use ast::*;
pub use dialect::{Dialect, ParseOptions, reads_alike};
pub use one_or_many::OneOrMany;
pub use outline::outline;
pub use span::Span;
pub use visit::{Visitor, walk_command, walk_script, walk_simple, walk_word};

/// Parses a text.
///
/// It takes time linear in the length of the text and never fails: what is not understood is an [`Unparsed`] node.
///
/// ```
/// use tenterhook_shell::{Dialect, parse};
///
/// let parsed = parse("make test 2>&1 | tail -n 5", Dialect::Bash);
/// assert!(parsed.is_complete());
/// assert_eq!(parsed.script.statements[0].first.stages.len(), 2);
/// ```
pub fn parse(text: &str, options: impl Into<ParseOptions>) -> Parsed {
    parse::parse(text, options.into())
}
