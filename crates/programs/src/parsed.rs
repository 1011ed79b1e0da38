// SPDX-License-Identifier: Apache-2.0 OR MIT

//! What the words of a command are.

use crate::format::record::{Location, PackageVerb, SpecStyle, StandardInput};
use crate::format::role::{Language, Role};

/// One word of a command, as much as is known of it.
pub trait CommandWord {
    /// The text, with unknown parts left out or replaced by the caller.
    fn text(&self) -> &str;

    /// The start of the text that is certain. Letters behind it are not read as options.
    fn certain_text(&self) -> &str {
        self.text()
    }

    /// Whether the word may turn out to be an option, or several words: an unknown value at its start.
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

/// Which implementation of a program reads the words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Variant {
    /// GNU, as on Linux.
    #[default]
    Gnu,
    /// BSD, as on macOS.
    Bsd,
}

/// A text and its place among the words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WordPart<'w> {
    /// Position of the word.
    pub word: usize,
    /// Bytes of the word before the text.
    pub offset: usize,
    /// The text.
    pub text: &'w str,
}

/// An option, once for each of its values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedOption<'w, 'p> {
    /// The canonical name, with dashes; empty if the option is unknown.
    pub name: &'p str,
    /// Every name, separated by spaces; empty if the option is unknown.
    pub names: &'p str,
    /// The option as written.
    pub written: WordPart<'w>,
    /// The role of the value, or of the option.
    pub role: Role,
    /// The value.
    pub value: Option<WordPart<'w>>,
    /// Whether the description names the option.
    pub known: bool,
    /// Whether its value turns it off: `--dry-run=none`.
    pub off: bool,
    /// Whether the role comes from the start of the value: `-o ProxyCommand=…`.
    pub by_prefix: bool,
}

/// An operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedOperand<'w> {
    /// What it means to the program.
    pub role: Role,
    /// The word.
    pub part: WordPart<'w>,
}

/// Words that are a command of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InnerCommand {
    /// Position of the first word.
    pub start: usize,
    /// Position behind the last word.
    pub end: usize,
    /// Whether the words are joined and read by a shell.
    pub joined: bool,
    /// Where the command runs.
    pub location: Location,
}

/// The words of a command, read by the description of its program.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parsed<'w, 'p> {
    /// The sub-commands by their canonical names: `remote`, `add`.
    pub path: Vec<&'p str>,
    /// Options in the order of the words.
    pub options: Vec<ParsedOption<'w, 'p>>,
    /// Operands in the order of the words.
    pub operands: Vec<ParsedOperand<'w>>,
    /// Commands among the words.
    pub inner: Vec<InnerCommand>,
    /// Whether the program, with this sub-command, runs its operands or a shell on standard input.
    pub wraps: bool,
    /// Whether an unknown word may be an option or a sub-command, so that anything may have been meant.
    pub open: bool,
    /// Whether the first word is a cluster of letters without a dash: `tar xf`.
    pub bundled: bool,
    /// Whether the program reads no word as an option.
    pub optionless: bool,
    /// Where inner commands run, and where remote paths are.
    pub location: Location,
    /// What happens with standard input, if nothing among the words tells the program what to do.
    pub stdin: StandardInput,
    /// The same without regard to the words.
    pub default_stdin: StandardInput,
    /// The language of the texts and files that the program runs.
    pub language: Option<Language>,
    /// Name of the package manager; empty if it is none.
    pub manager: &'p str,
    /// How the package manager writes packages.
    pub spec_style: SpecStyle,
    /// What the sub-command does with packages.
    pub package_verb: Option<PackageVerb>,
    /// The Rust function that completes the description; empty if data is enough.
    pub escape: &'p str,
}

// === impl ParsedOption ===

impl ParsedOption<'_, '_> {
    /// Whether this is the option of that name, written with its dashes.
    pub fn is(&self, name: &str) -> bool {
        if !self.known {
            let letter = name.strip_prefix('-').filter(|_| self.written.offset > 0);
            return self.written.text == letter.unwrap_or(name);
        }
        self.name == name || self.names.split(' ').any(|known| known == name)
    }
}

// === impl Parsed ===

impl<'w> Parsed<'w, '_> {
    /// Whether one of these options is given and not turned off.
    pub fn has_any(&self, names: &[&str]) -> bool {
        self.options.iter().any(|option| !option.off && names.iter().any(|name| option.is(name)))
    }

    /// Whether an option with that role is given and not turned off.
    pub fn has_role(&self, role: Role) -> bool {
        self.options.iter().any(|option| !option.off && option.role == role)
    }

    /// Every value and operand with that role, in no particular order.
    pub fn parts_with_role(&self, role: Role) -> impl Iterator<Item = WordPart<'w>> {
        let values = self.options.iter().filter(move |option| option.role == role);
        let operands = self.operands.iter().filter(move |operand| operand.role == role);
        values.filter_map(|option| option.value).chain(operands.map(|operand| operand.part))
    }
}
