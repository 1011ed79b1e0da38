// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Shell text and words → the commands that would run, and what they do to files.
//!
//! The syntax tree comes from `tenterhook-shell`, what programs do with their words from `tenterhook-programs`, what
//! code in other languages does from `tenterhook-code-facts`. [`read_commands`] walks the tree in the order of execution and
//! puts these together.

mod described_command;
mod description;
mod effect;
mod evidence;
mod letter_pairs;
mod patch;
mod shell;

pub use description::{DescriptionSource, builtin_programs, describe_as, word_of};
pub use effect::{Effect, Side};
pub use evidence::TextSpan;
pub use letter_pairs::LetterPairs;
pub use patch::{PatchAlias, PatchFile, PatchText, read_patch};
pub use shell::{
    ShellCommand, ShellOption, ShellReading, SqlStatement, Unread, Word, expand_braces, read_commands,
    takes_all,
};
