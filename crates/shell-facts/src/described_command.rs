// SPDX-License-Identifier: Apache-2.0 OR MIT

//! Parses the words of a command by the description of its program, once for all facts that depend on them.

use tenterhook_programs::{Location, ParsedArgs, Program, Role, WordSlice};

use super::ShellWord;
use super::description::extract_word;
use super::effect::resolve_in;

/// The words of a command, parsed by the description of its program.
pub(super) struct DescribedCommand<'a> {
    pub(super) program: Program<'a>,
    /// The words after the program.
    pub(super) words: &'a [ShellWord],
    pub(super) parsed: ParsedArgs<'a, 'a>,
}

impl<'a> DescribedCommand<'a> {
    /// Parses the words after a program.
    pub(super) fn new(program: Program<'a>, words: &'a [ShellWord]) -> Self {
        let parsed = program.parse(words);
        Self { program, words, parsed }
    }

    /// Whether an option with this role is given, or is always in effect for the program.
    pub(super) fn has(&self, role: Role) -> bool {
        self.parsed.has_role(role)
    }

    /// Whether an option with this role is given without a value.
    pub(super) fn has_flag(&self, role: Role) -> bool {
        let mut options = self.parsed.options.iter();
        options.any(|option| option.role == role && option.value.is_none() && !option.off)
    }

    /// Returns the word of an option or operand, or the part of a word.
    pub(super) fn word(&self, part: WordSlice<'_>) -> ShellWord {
        extract_word(self.words, part)
    }

    /// Returns the values of options with this role; the flag is true for a value that is part of the option's word.
    pub(super) fn values(&self, role: Role) -> impl DoubleEndedIterator<Item = (ShellWord, bool)> {
        let options = self.parsed.options.iter().filter(move |option| option.role == role && !option.off);
        options.filter_map(|option| option.value).map(|part| (self.word(part), part.offset > 0))
    }

    /// Returns the operands with this role.
    pub(super) fn operands(&self, role: Role) -> impl DoubleEndedIterator<Item = ShellWord> {
        let operands = self.parsed.operands.iter().filter(move |operand| operand.role == role);
        operands.map(|operand| self.word(operand.part))
    }

    /// Returns the directory that options before this word tell the program to change to.
    pub(super) fn directory_at(&self, word: usize) -> Option<ShellWord> {
        let options = self.parsed.options.iter().take_while(|option| option.written.word < word);
        let values =
            options.filter(|option| option.role == Role::Directory).filter_map(|option| option.value);
        let changes = values.map(|part| self.word(part)).filter(|word| word.dynamic || !word.text.is_empty());
        changes.fold(None, |at, to| Some(resolve_in(at.as_ref(), &to)))
    }

    /// Whether the remote side of a transfer is a machine, and not a store or a container.
    pub(super) fn reaches_machines(&self) -> bool {
        self.parsed.location != Location::Container && !self.has(Role::Store)
    }
}
