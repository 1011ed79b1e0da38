// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Turns shell text and argument lists into the commands that would run and their effects on files.
//!
//! `tenterhook-shell` provides the syntax tree, `tenterhook-programs` the meaning of arguments, and
//! `tenterhook-code-facts` the effects of code in other languages. [`read_commands`] walks the tree in execution
//! order and combines all three.

mod described_command;
mod description;
mod effect;
mod evidence;
mod letter_pairs;
mod run_file;
mod shell;

pub use description::{DescriptionSource, builtin_programs, extract_word, find_description};
pub use effect::{ExecLocation, FileEffect};
pub use evidence::TextSpan;
pub use letter_pairs::LetterPairs;
pub use run_file::{RunFile, RunPiece, RunText, RunTexts};
pub use shell::{
    DECLARING_BUILTINS, SCRATCH_ACT, ShellCommand, ShellOption, ShellReading, ShellWord, UnreadText,
    expand_braces, interpreter_of_file, is_ambient_variable, is_redirecting_variable, is_redirecting_word,
    names_whole_directory, read_commands,
};
pub use tenterhook_programs::{FileRunner, find_project_files};
