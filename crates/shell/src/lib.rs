// SPDX-License-Identifier: Apache-2.0 OR MIT
#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod ast;
mod dialect;
pub mod expand;
pub mod limits;
mod outline;
mod parse;
mod small_list;
mod span;
mod visit;

pub use ast::*;
pub use dialect::{Dialect, ParseOptions, reads_alike};
pub use outline::outline;
pub use small_list::SmallList;
pub use span::Span;
pub use visit::{TreeVisitor, walk_command, walk_script, walk_simple, walk_word};

/// Parses a script.
///
/// Parsing takes time linear in the length of the text and never fails: text that is not understood becomes an
/// [`UnparsedText`] node.
///
/// ```
/// use tenterhook_shell::{Dialect, parse};
///
/// let parsed = parse("make test 2>&1 | tail -n 5", Dialect::Bash);
/// assert!(parsed.is_complete());
/// assert_eq!(parsed.script.statements[0].first.stages.len(), 2);
/// ```
pub fn parse(text: &str, options: impl Into<ParseOptions>) -> ParsedScript {
    parse::parse(text, options.into())
}

/// The trees of bash and zsh for the same text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialectReadings {
    /// The tree of bash.
    pub bash: ParsedScript,
    /// The tree of zsh, if it differs.
    pub zsh: Option<ParsedScript>,
}

/// Parses a script for a machine whose shell may be bash or zsh. Most scripts are parsed only once.
///
/// ```
/// use tenterhook_shell::parse_readings;
///
/// assert!(parse_readings("make test | tail -n 5", false).zsh.is_none());
/// let readings = parse_readings("{ rm -rf build }", false);
/// assert!(!readings.bash.is_complete());
/// assert!(readings.zsh.is_some_and(|zsh| zsh.is_complete()));
/// ```
pub fn parse_readings(text: &str, interactive: bool) -> DialectReadings {
    let bash = parse(text, ParseOptions { dialect: Dialect::Bash, interactive });
    if bash.is_complete() && !interactive && reads_alike(text) {
        return DialectReadings { bash, zsh: None };
    }
    let zsh = parse(text, ParseOptions { dialect: Dialect::Zsh, interactive });
    let zsh = Some(zsh).filter(|zsh| *zsh != bash);
    DialectReadings { bash, zsh }
}
