// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Defines the parsed arguments of a command.

use crate::format::record::{FileRunner, Location, PackageVerb, SpecStyle, StandardInput};
use crate::format::role::{Language, Role};

/// A word of a command, as far as it is known.
pub trait CommandWord {
    /// Returns the text, with unknown parts left out or replaced by the caller.
    fn text(&self) -> &str;

    /// Returns the start of the text that is certain. Characters after it are not parsed as options.
    fn certain_text(&self) -> &str {
        self.text()
    }

    /// Whether the word may be an option or several words, because it starts with an unknown value.
    fn may_be_option(&self) -> bool {
        false
    }
}

impl CommandWord for &str {
    fn text(&self) -> &str {
        self
    }
}

impl CommandWord for String {
    fn text(&self) -> &str {
        self
    }
}

/// The implementation of a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Variant {
    /// GNU, as on Linux.
    #[default]
    Gnu,
    /// BSD, as on macOS.
    Bsd,
}

/// A part of a word and its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordSlice<'w> {
    /// Index of the word.
    pub word: usize,
    /// Offset of the text in the word.
    pub offset: usize,
    /// Text of the part.
    pub text: &'w str,
}

/// An option. An option with several values is listed once per value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedOption<'w, 'p> {
    /// The canonical name, with dashes; empty if the option is unknown.
    pub name: &'p str,
    /// Every name, separated by spaces; empty if the option is unknown.
    pub names: &'p str,
    /// The option as written.
    pub written: WordSlice<'w>,
    /// The role of the value, or of the option.
    pub role: Role,
    /// Value of the option.
    pub value: Option<WordSlice<'w>>,
    /// Whether the description names the option.
    pub known: bool,
    /// Whether the value turns the option off: `--dry-run=none`.
    pub off: bool,
    /// Whether the role comes from the start of the value: `-o ProxyCommand=…`.
    pub by_prefix: bool,
}

/// An operand of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedOperand<'w> {
    /// Role of the operand.
    pub role: Role,
    /// The word of the operand.
    pub part: WordSlice<'w>,
}

/// Words that form an inner command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InnerCommand {
    /// Index of the first word.
    pub start: usize,
    /// Index after the last word.
    pub end: usize,
    /// Whether the words are joined and read by a shell.
    pub joined: bool,
    /// Where the command runs.
    pub location: Location,
}

/// The words of a command, parsed with the description of its program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ParsedArgs<'w, 'p> {
    /// Canonical names of the sub-commands: `remote`, `add`.
    pub path: Vec<&'p str>,
    /// Options in the order of the words.
    pub options: Vec<ParsedOption<'w, 'p>>,
    /// Operands in the order of the words.
    pub operands: Vec<ParsedOperand<'w>>,
    /// Commands among the words.
    pub inner: Vec<InnerCommand>,
    /// Whether the program, with this sub-command, runs its operands or a shell on standard input.
    pub wraps: bool,
    /// Whether an unknown word may be an option or a sub-command.
    pub open: bool,
    /// Whether the first word is a cluster of letters without a dash: `tar xf`.
    pub bundled: bool,
    /// Whether the program has no options.
    pub optionless: bool,
    /// Where inner commands run, and where remote paths are.
    pub location: Location,
    /// What the program does with standard input, given these words.
    pub stdin: StandardInput,
    /// What the program does with standard input if its words contain no instructions.
    pub default_stdin: StandardInput,
    /// The language of the texts and files that the program runs.
    pub language: Option<Language>,
    /// Name of the package manager; empty for other programs.
    pub manager: &'p str,
    /// Syntax of package specifications.
    pub spec_style: SpecStyle,
    /// What the sub-command does with packages.
    pub package_verb: Option<PackageVerb>,
    /// Which files of the project the sub-command runs.
    pub runner: Option<FileRunner>,
    /// The Rust function that completes the description; empty if data is enough.
    pub escape: &'p str,
}

// === impl ParsedOption ===

impl ParsedOption<'_, '_> {
    /// Whether this is the named option; the name includes its dashes.
    pub fn is(&self, name: &str) -> bool {
        if !self.known {
            let letter = name.strip_prefix('-').filter(|_| self.written.offset > 0);
            return self.written.text == letter.unwrap_or(name);
        }
        self.name == name || self.names.split(' ').any(|known| known == name)
    }
}

// === impl ParsedArgs ===

impl<'w> ParsedArgs<'w, '_> {
    /// Whether one of these options is given and not turned off.
    pub fn has_any(&self, names: &[&str]) -> bool {
        self.options.iter().any(|option| !option.off && names.iter().any(|name| option.is(name)))
    }

    /// Whether an option with that role is given and not turned off.
    pub fn has_role(&self, role: Role) -> bool {
        self.options.iter().any(|option| !option.off && option.role == role)
    }

    /// Returns every value and operand with that role, in no particular order.
    pub fn parts_with_role(&self, role: Role) -> impl Iterator<Item = WordSlice<'w>> {
        let values = self.options.iter().filter(move |option| option.role == role);
        let operands = self.operands.iter().filter(move |operand| operand.role == role);
        values.filter_map(|option| option.value).chain(operands.map(|operand| operand.part))
    }
}
